/// The columns that a `$select` shows, in its order, each once.
struct Selection {
    /// One column of the selection.
    struct Entry {
        let column: Expression.Column
        /// The member's name: of a path, its first name.
        let name: String
        /// `"name":` as JSON text.
        let prefix: [UInt8]
        private let lowercased: String

        init(_ column: Expression.Column, _ name: String) {
            self.column = column
            self.name = name
            lowercased = name.lowercased()
            var prefix: [UInt8] = []
            prefix.appendJSONString(name)
            prefix.append(UInt8(ascii: ":"))
            self.prefix = prefix
        }

        /// The value of a user's column, else of the first whose name differs in case only, as the
        /// databases behind real servers compare; null where the row has no such column.
        func value(in columns: [Columns.Column]) -> JSONText {
            let exact = columns.first { $0.isNamed(name) }
            let found = exact ?? columns.first { $0.name.lowercased() == lowercased }
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
            guard let name, seen.insert(name) == nil else { continue }
            entries.append(Entry(column, name))
        }
        self.entries = entries
    }

    /// Whether the version is among them.
    var showsVersion: Bool { entries.contains { $0.column == .system(.version) } }
}

/// The columns that every row of a table has at its backend. There a row that was written before a column
/// came shows null in it.
public struct TableColumns: Sendable, Hashable {
    private let names: [String]
    /// `,"name":null` for each.
    private let nulls: [[UInt8]]

    /// Takes the names as the table's rows spell them, each once.
    public init(_ names: [String]) {
        self.names = names
        nulls = names.map { name in
            var bytes = Array(",".utf8)
            bytes.appendJSONString(name)
            bytes += ":null".utf8
            return bytes
        }
    }

    /// Appends null for each column that is not among the members from `start` on, each of which is
    /// `,"name":value`.
    func appendAbsent(after start: Int, to bytes: inout [UInt8]) {
        if names.isEmpty { return }
        var text = Array("{".utf8)
        text += bytes[start...].dropFirst()
        text.append(UInt8(ascii: "}"))
        let present = Set(Columns(stored: String(decoding: text, as: UTF8.self)).names)
        for (name, null) in zip(names, nulls) where !present.contains(name) { bytes += null }
    }
}
