/// The columns of an item: the members of one JSON object in order. Each value keeps the text it was
/// received in.
///
/// Columns from a store keep the object's text. It is parsed only when a column is read, so that a list
/// passes rows on unparsed.
public struct Columns: Sendable {
    public struct Column: Sendable, Hashable {
        public var name: String
        public var value: JSONText

        public init(_ name: String, _ value: JSONText) {
            self.name = name
            self.value = value
        }

        /// Whether the column has this name, byte for byte.
        func isNamed(_ other: String) -> Bool { name.hasSameBytes(as: other) }
    }

    private enum Storage: Sendable {
        case text(String)
        case columns([Column])
    }
    private var storage: Storage

    public init() { storage = .columns([]) }

    /// Makes columns in this order. If a name appears twice, its last value counts.
    public init(_ columns: [Column]) {
        var kept: [Column] = []
        var places = NameTable()
        for column in columns {
            if let place = places.insert(column.name) {
                kept[place].value = column.value
            } else {
                kept.append(column)
            }
        }
        storage = .columns(kept)
    }

    /// Makes columns whose names are unique.
    public init(unique columns: [Column]) { storage = .columns(columns) }

    /// Parses the text of one JSON object.
    /// - Throws: ``JSONError``, also if the value is not an object or a name appears twice in it.
    public init(parsing text: String) throws(JSONError) {
        self = try Columns(parsing: Array(text.utf8))
    }

    /// Parses the bytes of one JSON object.
    /// - Parameter maxDepth: the deepest nesting, in levels.
    /// - Throws: ``JSONError``, also if the value is not an object or a name appears twice in it.
    public init(parsing bytes: [UInt8], maxDepth: Int = Limits.jsonDepth) throws(JSONError) {
        storage = .columns(try Self.slice(bytes, maxDepth: maxDepth))
    }

    /// Keeps an object's text, as ``text`` gave it once, without parsing it.
    public init(stored text: String) { storage = .text(text) }

    /// The object's JSON text: the stored text if no column was set since.
    public var text: String {
        switch storage {
        case .text(let text): return text
        case .columns(let columns) where columns.isEmpty: return "{}"
        case .columns(let columns):
            let size = columns.reduce(2) { $0 + $1.name.utf8.count + $1.value.text.utf8.count + 4 }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(size)
            appendMembers(to: &bytes)
            bytes[0] = UInt8(ascii: "{")
            bytes.append(UInt8(ascii: "}"))
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    public var all: [Column] {
        switch storage {
        case .columns(let columns): columns
        // Stored text was valid. If the store is damaged, the item has no columns.
        case .text(let text): (try? Self.slice(Array(text.utf8))) ?? []
        }
    }

    public var names: [String] { all.map(\.name) }

    public var isEmpty: Bool {
        switch storage {
        case .columns(let columns): columns.isEmpty
        case .text(let text): text.utf8.count == 2 || all.isEmpty
        }
    }

    /// Whether the columns are in memory one by one, not as the text of a store.
    var isParsed: Bool { if case .columns = storage { true } else { false } }

    /// The columns without those that a client of a generation cannot tell from its system properties of
    /// the same names.
    func shown(in generation: Generation) -> Columns {
        let columns = all
        let isHidden = { (column: Column) in
            SystemProperty(named: column.name, in: generation) != nil
        }
        guard columns.contains(where: isHidden) else { return self }
        return Columns(unique: columns.filter { !isHidden($0) })
    }

    /// The value of a column; nil if it is absent. Setting a value keeps the column's position, or appends
    /// the column. Setting nil removes the column.
    public subscript(name: String) -> JSONText? {
        get { all.first { $0.isNamed(name) }?.value }
        set {
            var columns = all
            // Leaves one reference to the array, so that it is changed in place.
            storage = .columns([])
            switch (columns.firstIndex { $0.isNamed(name) }, newValue) {
            case (let index?, let value?): columns[index].value = value
            case (let index?, nil): columns.remove(at: index)
            case (nil, let value?): columns.append(Column(name, value))
            case (nil, nil): break
            }
            storage = .columns(columns)
        }
    }

    /// The columns with these names, in their order; null for a name that is absent here.
    public func picking(_ names: [String]) -> Columns {
        let values = ColumnValues(self)
        return Columns(names.map { Column($0, values[$0] ?? .null) })
    }

    /// Sets the columns of `changes`: values are replaced in place, new columns are appended.
    public mutating func merge(_ changes: Columns) {
        self = Columns(all + changes.all)
    }

    /// Appends `,"name":value` for each column.
    func appendMembers(to bytes: inout [UInt8]) {
        switch storage {
        case .text(let text) where text.utf8.count == 2: break
        case .text(let text) where text.utf8.starts(with: "{\"".utf8):
            let start = bytes.count
            bytes += text.utf8
            bytes[start] = UInt8(ascii: ",")
            bytes.removeLast()
        case .text, .columns:
            for column in all {
                bytes.append(UInt8(ascii: ","))
                bytes.appendJSONString(column.name)
                bytes.append(UInt8(ascii: ":"))
                bytes += column.value.text.utf8
            }
        }
    }
}

extension Columns: Hashable {
    /// Equal when the same names have the same texts in the same order.
    public static func == (left: Columns, right: Columns) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension Columns {
    /// Parses the bytes of one object into its columns.
    static func slice(
        _ bytes: [UInt8], maxDepth: Int = Limits.jsonDepth
    ) throws(JSONError) -> [Column] {
        var scanner = JSONScanner(maxDepth: maxDepth)
        try scanner.start(bytes.span)
        let columns = try scanner.columns(bytes.span)
        try scanner.expectEnd(bytes.span)
        return columns
    }

    /// The names whose values differ from those in `base`, in order, followed by the names that only `base`
    /// has. An absent column equals null.
    public func changedNames(from base: Columns) -> [String] {
        names(differingFrom: base, dates: .instant)
    }

    /// The names whose values a write changes: those of ``changedNames(from:)``, and those of dates with
    /// another offset or other digits below 100 ns. A client that sends a whole row may write the same date
    /// with another number of zeros, which changes nothing.
    public func writtenNames(from base: Columns) -> [String] {
        names(differingFrom: base, dates: .digitsAndOffset)
    }

    private func names(differingFrom base: Columns, dates: DateSameness) -> [String] {
        let mine = all
        let theirs = base.all
        let (myPlaces, theirPlaces) = (Self.places(mine), Self.places(theirs))
        let changed = mine.filter { column in
            let value = theirPlaces.place(of: column.name).map { theirs[$0].value }
            return !(value ?? .null).isSame(as: column.value, dates: dates)
        }
        let removed = theirs.filter {
            !$0.value.isNull && myPlaces.place(of: $0.name) == nil
        }
        return (changed + removed).map(\.name)
    }

    fileprivate static func places(_ columns: [Column]) -> NameTable {
        var places = NameTable()
        for column in columns { _ = places.insert(column.name) }
        return places
    }
}

/// The values of one object by name, for many look-ups. One look-up in ``Columns`` reads all columns.
public struct ColumnValues {
    private let columns: [Columns.Column]
    private let places: NameTable
    /// The columns by their names in lower case; nil until a name is not found exactly.
    private var alike: [ExactName: [JSONText]]?

    public init(_ columns: Columns) {
        self.columns = columns.all
        places = Columns.places(self.columns)
    }

    /// The value of a column; nil if it is absent.
    public subscript(name: String) -> JSONText? {
        places.place(of: name).map { columns[$0].value }
    }

    /// A column's value for comparison: null if the column is absent. A name that differs only in case
    /// matches if exactly one column has such a name.
    public mutating func comparable(_ name: String) -> JSONText {
        if let value = self[name] { return value }
        let known =
            alike
            ?? Dictionary(grouping: columns) { ExactName(lowercasing: $0.name) }
            .mapValues { $0.map(\.value) }
        alike = known
        let found = known[ExactName(lowercasing: name)] ?? []
        return found.count == 1 ? found[0] : .null
    }
}
