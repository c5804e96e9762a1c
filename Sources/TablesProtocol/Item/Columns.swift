/// The columns of an item: the members of one JSON object in their order, each value kept as the
/// text it came in.
///
/// Columns that come from a store keep the object's text and are only sliced when someone asks for
/// a column, so that a list passes rows on without looking inside.
public struct Columns: Sendable {
    /// One column.
    public struct Column: Sendable, Hashable {
        /// The name with escapes resolved.
        public var name: String
        /// The value.
        public var value: JSONText

        /// Makes a column.
        public init(_ name: String, _ value: JSONText) {
            self.name = name
            self.value = value
        }
    }

    private enum Storage: Sendable {
        case text(String)
        case columns([Column])
    }
    private var storage: Storage

    /// No columns.
    public init() { storage = .columns([]) }

    /// Takes columns in their order; of those with one name the last value counts.
    public init(_ columns: [Column]) {
        self.init()
        for column in columns { self[column.name] = column.value }
    }

    /// Takes columns whose names are known to be unique.
    init(unique columns: [Column]) { storage = .columns(columns) }

    /// Takes the text of one JSON object.
    /// - Throws: ``JSONError`` also when the value is no object or a name appears twice in it.
    public init(parsing text: String) throws(JSONError) {
        self = try Columns(parsing: Array(text.utf8))
    }

    /// Takes the bytes of one JSON object.
    /// - Throws: ``JSONError`` also when the value is no object or a name appears twice in it.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        storage = .columns(try Self.slice(bytes))
    }

    /// Takes an object's text that was once valid, as ``text`` gave it, without looking inside.
    public init(stored text: String) { storage = .text(text) }

    /// The object's text; the text it was stored as when no column was set since.
    public var text: String {
        if case .text(let text) = storage { return text }
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        appendMembers(to: &bytes)
        bytes.append(UInt8(ascii: "}"))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The columns in their order.
    public var all: [Column] {
        switch storage {
        case .columns(let columns): columns
        // Stored text was valid once; were the store damaged, the item shows no columns.
        case .text(let text): (try? Self.slice(Array(text.utf8))) ?? []
        }
    }

    /// The names in their order.
    public var names: [String] { all.map(\.name) }

    /// Whether there is no column.
    public var isEmpty: Bool { all.isEmpty }

    /// The value of a column, nil when absent. Setting keeps the column's place, or appends;
    /// setting nil removes the column.
    public subscript(name: String) -> JSONText? {
        get { all.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
        set {
            var columns = all
            let index = columns.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
            switch (index, newValue) {
            case (let index?, let value?): columns[index].value = value
            case (let index?, nil): columns.remove(at: index)
            case (nil, let value?): columns.append(Column(name, value))
            case (nil, nil): break
            }
            storage = .columns(columns)
        }
    }

    /// Whether there is a column, as far as the text tells at a glance.
    var hasMembers: Bool {
        switch storage {
        case .text(let text): text.utf8.count > 2
        case .columns(let columns): !columns.isEmpty
        }
    }

    /// Appends `"name":value,"name":value` without braces.
    func appendMembers(to bytes: inout [UInt8]) {
        switch storage {
        case .text(let text):
            bytes.append(contentsOf: text.utf8.dropFirst().dropLast())
        case .columns(let columns):
            for (index, column) in columns.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.appendJSONString(column.name)
                bytes.append(UInt8(ascii: ":"))
                bytes.append(contentsOf: column.value.text.utf8)
            }
        }
    }
}

extension Columns: Hashable {
    /// Equal when the same names have the same texts in the same order.
    public static func == (left: Columns, right: Columns) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
