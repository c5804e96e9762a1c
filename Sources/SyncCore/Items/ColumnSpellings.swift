import TablesProtocol

/// The spelling of a table's column names: the first one that the store has seen, in a write or in a row of
/// the backend. SQL backends ignore case, so `Text` and `text` are one column.
struct ColumnSpellings: Sendable, Hashable {
    private var byKey: [String: String] = [:]
    private var exact: Set<String> = []
    /// The names that every row of the backend has, null where nothing was written.
    private var shared: Set<String> = []
    /// The columns that every row has, in the order of their names.
    private(set) var columns = TableColumns([])

    /// Reads the text of ``text``.
    init(text: String) {
        for column in Columns(stored: text).all {
            var sharedName: String?
            if case .array(let names) = column.value.value { sharedName = names.first?.string }
            guard let name = column.value.string ?? sharedName else { continue }
            byKey[column.name] = name
            exact.insert(name)
            if sharedName != nil { shared.insert(name) }
        }
        columns = TableColumns(shared.sorted())
    }

    /// A JSON object from lower-case name to spelling. The spelling is in an array if every row has the
    /// column.
    var text: String {
        let members = byKey.sorted { $0.key < $1.key }.map { key, name in
            JSONValue.Member(key, shared.contains(name) ? .array([.string(name)]) : .string(name))
        }
        return JSONValue.object(members).text
    }

    /// The table's spelling of a name; the name itself if it is new.
    func spelling(of name: String) -> String {
        exact.contains(name) ? name : byKey[name.lowercased()] ?? name
    }

    /// Whether every name is known in exactly this spelling.
    /// - Parameter shared: whether every row has the columns, which must be known then too.
    func knows(_ columns: [Columns.Column], shared isShared: Bool) -> Bool {
        columns.allSatisfy {
            exact.contains($0.name) && (!isShared || shared.contains($0.name))
        }
    }

    /// Renames columns to the table's spelling and adds new names. If two columns have the same name, the
    /// later value stays.
    mutating func respell(_ columns: Columns, shared isShared: Bool) -> Columns {
        let all = columns.all
        if knows(all, shared: isShared) { return columns }
        var kept = Columns()
        for column in all {
            let key = column.name.lowercased()
            let name = byKey[key] ?? column.name
            if byKey[key] == nil {
                byKey[key] = name
                exact.insert(name)
            }
            if isShared { shared.insert(name) }
            kept[name] = column.value
        }
        self.columns = TableColumns(shared.sorted())
        return kept
    }

    /// Forgets which columns every row has, because another backend may have others.
    mutating func forgetShared() {
        shared = []
        columns = TableColumns([])
    }
}
