import TablesProtocol

/// The names of a table's columns as they were first spelled. Names that differ in case only are
/// one column, as in the SQL databases behind the real servers.
struct ColumnSpellings: Sendable, Hashable {
    private var byKey: [String: String] = [:]
    private var exact: Set<String> = []

    /// Reads what ``text`` gave.
    init(text: String) {
        for column in Columns(stored: text).all {
            guard let name = column.value.string else { continue }
            byKey[column.name] = name
            exact.insert(name)
        }
    }

    /// A JSON object of lower-case name to spelling.
    var text: String {
        Columns(byKey.sorted { $0.key < $1.key }.map { Columns.Column($0.key, .string($0.value)) })
            .text
    }

    /// The spelling under which a column is kept; the name itself when it is new.
    func spelling(of name: String) -> String {
        exact.contains(name) ? name : byKey[name.lowercased()] ?? name
    }

    /// Whether every name is kept exactly as it is spelled here.
    func knows(_ columns: [Columns.Column]) -> Bool {
        columns.allSatisfy { exact.contains($0.name) }
    }

    /// Gives columns their kept names and learns the new ones; of two columns that are one, the
    /// later value stays.
    mutating func respell(_ columns: Columns) -> Columns {
        let all = columns.all
        if knows(all) { return columns }
        var kept = Columns()
        for column in all {
            let key = column.name.lowercased()
            let name = byKey[key] ?? column.name
            if byKey[key] == nil {
                byKey[key] = name
                exact.insert(name)
            }
            kept[name] = column.value
        }
        return kept
    }
}
