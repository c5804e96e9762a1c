/// Writes items as JSON for a generation. The text of the columns' values is copied unchanged.
package struct ItemWriter: Sendable {
    /// How times are written.
    package enum TimeForm: Sendable {
        case milliseconds
        /// Without zeros at the end of the second, as .NET writes them.
        case shortest
        /// With seven digits of the second.
        case exact
    }

    private let generation: Generation
    private let names: Names
    private let selection: Selection?
    /// The columns that every whole item has, null where the item has none; nil to write only the item's
    /// own.
    package var columns: TableColumns?
    /// Whether stored items may have columns of the user's with the names of system properties. They may
    /// until the table's columns are known.
    package var hidesColumns = true
    package var times = TimeForm.milliseconds

    /// - Parameters:
    ///   - properties: the system properties that are shown. With `select`, they are added only in the first
    ///     generation.
    ///   - select: the columns that are shown, in order; nil for all.
    package init(
        generation: Generation, properties: Set<SystemProperty>, select: [Expression.Column]? = nil
    ) {
        self.generation = generation
        names = Names(generation: generation, shown: properties)
        let asked = SystemProperty.allCases.filter(properties.contains)
        let besides = generation == .mobileServices ? asked.map(Expression.Column.system) : []
        selection = select.map { Selection($0 + besides, in: generation) }
    }

    /// The JSON text `,"name":` of each system property that is shown.
    private struct Names: Sendable {
        let createdAt, updatedAt, version, deleted: [UInt8]?

        /// Those of each generation, made once.
        private static let all = Dictionary(
            uniqueKeysWithValues: Generation.allCases.map { ($0, Names(of: $0)) })

        private init(of generation: Generation) {
            func text(_ property: SystemProperty) -> [UInt8]? {
                property.name(in: generation).map { Array(",\"\($0)\":".utf8) }
            }
            createdAt = text(.createdAt)
            updatedAt = text(.updatedAt)
            version = text(.version)
            deleted = text(.deleted)
        }

        init(generation: Generation, shown: Set<SystemProperty>) {
            let all = Self.all[generation]
            createdAt = shown.contains(.createdAt) ? all?.createdAt : nil
            updatedAt = shown.contains(.updatedAt) ? all?.updatedAt : nil
            version = shown.contains(.version) ? all?.version : nil
            deleted = shown.contains(.deleted) ? all?.deleted : nil
        }
    }

    /// Whether the written items contain their version.
    var showsVersion: Bool { selection?.showsVersion ?? (names.version != nil) }

    /// Appends an item as a JSON object.
    package func write(_ item: Item, to bytes: inout [UInt8]) {
        if let selection {
            write(item, selection, to: &bytes)
            return
        }
        // No name is written twice: a user's column with the name of a system property of this generation
        // is left out. Items from elsewhere than the store are few, so each is looked at.
        bytes += "{\"id\":".utf8
        write(item.id, to: &bytes)
        let start = bytes.count
        let shown =
            hidesColumns || item.columns.isParsed
            ? item.columns.shown(in: generation) : item.columns
        shown.appendMembers(to: &bytes)
        columns?.appendAbsent(after: start, to: &bytes, in: generation)
        if let name = names.createdAt {
            bytes += name
            write(.createdAt, of: item, to: &bytes)
        }
        if let name = names.updatedAt {
            bytes += name
            write(.updatedAt, of: item, to: &bytes)
        }
        if let name = names.version {
            bytes += name
            write(.version, of: item, to: &bytes)
        }
        if let name = names.deleted {
            bytes += name
            write(.deleted, of: item, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private func write(_ item: Item, _ selection: Selection, to bytes: inout [UInt8]) {
        let columns = item.columns.all
        bytes.append(UInt8(ascii: "{"))
        for (index, entry) in selection.entries.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += entry.prefix
            switch entry.column {
            case .id: write(item.id, to: &bytes)
            case .system(let property): write(property, of: item, to: &bytes)
            case .user: bytes += entry.value(in: columns).text.utf8
            }
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private func write(_ property: SystemProperty, of item: Item, to bytes: inout [UInt8]) {
        switch property {
        case .createdAt: write(item.createdAt ?? item.updatedAt, to: &bytes)
        case .updatedAt: write(item.updatedAt, to: &bytes)
        case .version: bytes.appendJSONString(item.version)
        case .deleted: bytes += (item.deleted ? "true" : "false").utf8
        }
    }

    private func write(_ id: ItemID, to bytes: inout [UInt8]) {
        switch id.kind {
        case .integer: bytes += id.text.utf8
        case .string: bytes.appendJSONString(id.text)
        }
    }

    private func write(_ instant: Instant, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        switch times {
        case .milliseconds: instant.appendText(to: &bytes)
        case .shortest: bytes += Self.withoutZeros(instant.text).utf8
        case .exact: bytes += InstantLiteral(instant).text.utf8
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension ItemWriter {
    private static func withoutZeros(_ time: String) -> String {
        var text = time.dropLast()
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text + "Z"
    }
}

/// The columns of a `$select`, in order and without duplicates. Names that differ only in case are one.
struct Selection: Sendable {
    /// One column of the selection.
    struct Entry: Sendable {
        let column: Expression.Column
        /// The member's name; for a path, its first name.
        private let name: String
        /// `"name":` as JSON text.
        let prefix: [UInt8]
        private let key: ExactName

        init(_ column: Expression.Column, _ name: String) {
            self.column = column
            self.name = name
            key = ExactName(lowercasing: name)
            var prefix: [UInt8] = []
            prefix.appendJSONString(name)
            prefix.append(UInt8(ascii: ":"))
            self.prefix = prefix
        }

        /// The value of a user's column; if there is none, of the first column whose name differs only in
        /// case, as in the real servers' databases; else null.
        func value(in columns: [Columns.Column]) -> JSONText {
            let exact = columns.first { $0.isNamed(name) }
            let found = exact ?? columns.first { ExactName(lowercasing: $0.name) == key }
            return found?.value ?? .null
        }
    }
    let entries: [Entry]

    init(_ columns: [Expression.Column], in generation: Generation) {
        var entries: [Entry] = []
        var seen = NameTable()
        for column in columns {
            let name: String?
            switch column {
            case .id, .system: name = column.name(in: generation)
            case .user(let path): name = path.first
            }
            guard let name, seen.insert(name.lowercased()) == nil else { continue }
            entries.append(Entry(column, name))
        }
        self.entries = entries
    }

    var showsVersion: Bool { entries.contains { $0.column == .system(.version) } }
}

/// The columns that every row of a backend's table has. A row that was written before a column was added
/// has null in it.
public struct TableColumns: Sendable, Hashable {
    private struct Column: Sendable, Hashable {
        /// Where `,"name":null` stands in ``nulls``.
        let null: Range<Int>
        /// Where the name stands there, between its quotes.
        let name: Range<Int>
        /// The generations with a system property of this name.
        let hiding: Set<Generation>
    }
    /// `,"name":null` for each column, one after another.
    private let nulls: [UInt8]
    private let columns: [Column]
    /// The places of the columns in the order of the bytes of their names.
    private let sorted: [Int]
    /// The generations with a system property that has the name of a column, also of one that not every row has.
    private let hiding: Set<Generation>

    /// Makes a list of columns.
    /// - Parameters:
    ///   - names: unique names in the spelling of the table's rows.
    ///   - known: the names of all columns that some row has.
    public init(_ names: [String], known: [String] = []) {
        var nulls: [UInt8] = []
        let columns = names.map { name in
            let start = nulls.count
            nulls.append(UInt8(ascii: ","))
            nulls.appendJSONString(name)
            let end = nulls.count
            nulls += ":null".utf8
            return Column(
                null: start..<nulls.count, name: start + 2..<end - 1, hiding: Self.hiding([name]))
        }
        self.nulls = nulls
        self.columns = columns
        sorted = columns.indices.sorted {
            nulls[columns[$0].name].lexicographicallyPrecedes(nulls[columns[$1].name])
        }
        hiding = Self.hiding(names + known)
    }

    private static func hiding(_ names: [String]) -> Set<Generation> {
        Set(
            Generation.allCases.filter { generation in
                names.contains { SystemProperty(named: $0, in: generation) != nil }
            })
    }

    /// Whether some column has the name of a system property of a generation.
    func hides(in generation: Generation) -> Bool { hiding.contains(generation) }

    /// Appends null for each column that is missing among the members from `start` on, each of which is
    /// `,"name":value`. One with the name of a system property of the generation is left out.
    func appendAbsent(after start: Int, to bytes: inout [UInt8], in generation: Generation) {
        if columns.isEmpty { return }
        var isPresent = [Bool](repeating: false, count: columns.count)
        var absent = columns.count
        var scanner = MemberScanner(at: start)
        while absent > 0, let member = scanner.next(bytes.span) {
            guard let place = place(of: member, in: bytes.span), !isPresent[place] else { continue }
            isPresent[place] = true
            absent -= 1
        }
        if absent == 0 { return }
        for (place, column) in columns.enumerated()
        where !isPresent[place] && !column.hiding.contains(generation) {
            bytes += nulls[column.null]
        }
    }

    /// The place of the column with a member's name; nil if there is none.
    private func place(of member: MemberScanner.Member, in bytes: Span<UInt8>) -> Int? {
        guard member.hasEscape, var name = member.decodedName(in: bytes).map(Self.inQuotes) else {
            return place(of: bytes, member.name)
        }
        name.removeLast()
        return place(of: name.span, 1..<name.count)
    }

    private static func inQuotes(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendJSONString(name)
        return bytes
    }

    private func place(of bytes: Span<UInt8>, _ name: Range<Int>) -> Int? {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            let place = sorted[middle]
            let order = order(of: bytes, name, against: columns[place].name)
            if order == 0 { return place }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return nil
    }

    /// Below zero if the name comes before that of a column in ``nulls``, zero if both are the same.
    private func order(
        of bytes: Span<UInt8>, _ name: Range<Int>, against known: Range<Int>
    ) -> Int {
        for offset in 0..<min(name.count, known.count) {
            let (left, right) = (bytes[name.lowerBound + offset], nulls[known.lowerBound + offset])
            if left != right { return left < right ? -1 : 1 }
        }
        return name.count - known.count
    }
}
