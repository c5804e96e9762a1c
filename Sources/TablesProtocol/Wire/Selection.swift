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
