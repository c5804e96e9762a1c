import TablesProtocol

/// The names of a table's columns as they were first spelled. Names that differ in case only are
/// one column, as in the SQL databases behind the real servers.
struct ColumnSpellings: Sendable, Hashable {
    private var byKey: [String: String] = [:]
    private var exact: Set<String> = []
    /// The names that only writes made here have used: the backend may refuse such a column.
    private var unconfirmed: Set<String> = []
    /// The columns that rows of the backend have or had, in the order of their names.
    private(set) var columns = TableColumns([])

    /// Reads what ``text`` gave.
    init(text: String) {
        for column in Columns(stored: text).all {
            var unconfirmedName: String?
            if case .array(let names) = column.value.value { unconfirmedName = names.first?.string }
            guard let name = column.value.string ?? unconfirmedName else { continue }
            byKey[column.name] = name
            exact.insert(name)
            if unconfirmedName != nil { unconfirmed.insert(name) }
        }
        columns = TableColumns(exact.subtracting(unconfirmed).sorted())
    }

    /// A JSON object of lower-case name to spelling, which stands in an array where no row of the backend
    /// has had the column.
    var text: String {
        let members = byKey.sorted { $0.key < $1.key }.map { key, name in
            let isUnconfirmed = unconfirmed.contains(name)
            return JSONValue.Member(key, isUnconfirmed ? .array([.string(name)]) : .string(name))
        }
        return JSONValue.object(members).text
    }

    /// The spelling under which a column is kept; the name itself when it is new.
    func spelling(of name: String) -> String {
        exact.contains(name) ? name : byKey[name.lowercased()] ?? name
    }

    /// Whether every name is kept exactly as it is spelled here.
    /// - Parameter source: whose columns they are; those of the backend's rows are known once they are
    ///   kept as such.
    func knows(_ columns: [Columns.Column], of source: Source) -> Bool {
        columns.allSatisfy { column in
            exact.contains(column.name)
                && (source == .client || !unconfirmed.contains(column.name))
        }
    }

    /// Whose columns they are.
    enum Source { case client, backend }

    /// Gives columns their kept names and learns the new ones; of two columns that are one, the
    /// later value stays.
    mutating func respell(_ columns: Columns, of source: Source) -> Columns {
        let all = columns.all
        if knows(all, of: source) { return columns }
        var kept = Columns()
        for column in all {
            let key = column.name.lowercased()
            let name = byKey[key] ?? column.name
            if byKey[key] == nil {
                byKey[key] = name
                exact.insert(name)
                if source == .client { unconfirmed.insert(name) }
            }
            if source == .backend { unconfirmed.remove(name) }
            kept[name] = column.value
        }
        self.columns = TableColumns(exact.subtracting(unconfirmed).sorted())
        return kept
    }
}
