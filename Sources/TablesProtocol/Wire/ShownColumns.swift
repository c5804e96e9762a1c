/// The columns of a `$select`, in order and without duplicates.
struct Selection {
    /// One column of the selection.
    struct Entry {
        let column: Expression.Column
        /// The member's name; for a path, its first name.
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

        /// The value of a user's column; if there is none, of the first column whose name differs only in
        /// case, as in the real servers' databases; else null.
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

    /// Whether the version is among the columns.
    var showsVersion: Bool { entries.contains { $0.column == .system(.version) } }
}

/// The columns that every row of a backend's table has. A row that was written before a column was added
/// has null in it.
public struct TableColumns: Sendable, Hashable {
    private let names: [String]
    /// `,"name":null` for each column.
    private let nulls: [[UInt8]]

    /// Makes a list of unique names in the spelling of the table's rows.
    public init(_ names: [String]) {
        self.names = names
        nulls = names.map { name in
            var bytes = Array(",".utf8)
            bytes.appendJSONString(name)
            bytes += ":null".utf8
            return bytes
        }
    }

    /// Appends null for each column that is missing among the members from `start` on, each of which is
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
