/// The columns of a `$select`, in order and without duplicates. Names that differ only in case are one.
struct Selection {
    /// One column of the selection.
    struct Entry {
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

    /// Whether the version is among the columns.
    var showsVersion: Bool { entries.contains { $0.column == .system(.version) } }
}

/// The columns that every row of a backend's table has. A row that was written before a column was added
/// has null in it.
public struct TableColumns: Sendable, Hashable {
    private let names: [String]
    /// `,"name":null` for each column.
    private let nulls: [[UInt8]]
    /// The generations with a system property that has the name of a column.
    private let hiding: Set<Generation>

    /// Makes a list of columns.
    /// - Parameters:
    ///   - names: unique names in the spelling of the table's rows.
    ///   - known: the names of all columns that some row has.
    public init(_ names: [String], known: [String] = []) {
        self.names = names
        hiding = Set(
            Generation.allCases.filter { generation in
                (names + known).contains { SystemProperty(named: $0, in: generation) != nil }
            })
        nulls = names.map { name in
            var bytes = Array(",".utf8)
            bytes.appendJSONString(name)
            bytes += ":null".utf8
            return bytes
        }
    }

    /// Whether some column has the name of a system property of a generation.
    func hides(in generation: Generation) -> Bool { hiding.contains(generation) }

    /// Appends null for each column that is missing among the members from `start` on, each of which is
    /// `,"name":value`. One with the name of a system property of the generation is left out.
    func appendAbsent(after start: Int, to bytes: inout [UInt8], in generation: Generation) {
        if names.isEmpty { return }
        var text = Array("{".utf8)
        text += bytes[start...].dropFirst()
        text.append(UInt8(ascii: "}"))
        let present = Set(
            Columns(stored: String(decoding: text, as: UTF8.self)).names.map { ExactName($0) })
        for (name, null) in zip(names, nulls) where !present.contains(ExactName(name)) {
            if hides(in: generation), SystemProperty(named: name, in: generation) != nil {
                continue
            }
            bytes += null
        }
    }
}
