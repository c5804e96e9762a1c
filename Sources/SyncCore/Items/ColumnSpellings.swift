import TablesProtocol

/// The spelling of a table's column names: the first one that the store has seen, in a write or in a row of
/// the backend. SQL backends ignore case, so `Text` and `text` are one column. Names are compared byte for
/// byte, so `é` as one character and as `e` with an accent are two.
struct ColumnSpellings: Sendable, Hashable {
    /// The spellings by the names in lower case.
    private var byKey: [ExactName: ExactName] = [:]
    private var exact: Set<ExactName> = []
    /// The names that every row of the backend has, null where nothing was written.
    private var shared: Set<ExactName> = []
    /// The columns that every row has, in the order of their names.
    private(set) var columns = TableColumns([])

    /// All names, in order.
    var names: [String] { exact.map(\.text).sorted() }

    /// Reads the text of ``text``.
    init(text: String) {
        for column in Columns(stored: text).all {
            var sharedName: String?
            if case .array(let names) = column.value.value { sharedName = names.first?.string }
            guard let spelling = column.value.string ?? sharedName else { continue }
            let name = ExactName(spelling)
            byKey[ExactName(column.name)] = name
            exact.insert(name)
            if sharedName != nil { shared.insert(name) }
        }
        columns = TableColumns(shared.sorted().map(\.text), known: exact.map(\.text))
    }

    /// A JSON object from lower-case name to spelling. The spelling is in an array if every row has the
    /// column.
    var text: String {
        let members = byKey.sorted { $0.key < $1.key }.map { key, name in
            JSONValue.Member(
                key.text,
                shared.contains(name) ? .array([.string(name.text)]) : .string(name.text))
        }
        return JSONValue.object(members).text
    }

    /// The table's spelling of a name; the name itself if it is new.
    func spelling(of name: String) -> String {
        exact.contains(ExactName(name))
            ? name : byKey[ExactName(lowercasing: name)]?.text ?? name
    }

    /// Whether every name is known in exactly this spelling.
    /// - Parameter shared: whether every row has the columns, which must be known then too.
    func knows(_ columns: [Columns.Column], shared isShared: Bool) -> Bool {
        columns.allSatisfy { column in
            let name = ExactName(column.name)
            return exact.contains(name) && (!isShared || shared.contains(name))
        }
    }

    /// Whether the table may have the names that are new with these columns
    /// (``StoreLimits/columnNames``). Known names always have room.
    func hasRoom(for columns: [Columns.Column]) -> Bool {
        let keys = Set(columns.lazy.map { ExactName(lowercasing: $0.name) })
        let new = keys.count { byKey[$0] == nil }
        return new == 0 || byKey.count + new <= StoreLimits.columnNames
    }

    /// Renames columns to the table's spelling and adds new names. If a row of the backend has two
    /// spellings of one column, the later value stays; a client's body with two is refused before
    /// (``ItemBody``).
    mutating func respell(_ columns: Columns, shared isShared: Bool) -> Columns {
        let all = columns.all
        if knows(all, shared: isShared) { return columns }
        var kept: [Columns.Column] = []
        for column in all {
            let key = ExactName(lowercasing: column.name)
            let name = byKey[key] ?? ExactName(column.name)
            if byKey[key] == nil {
                byKey[key] = name
                exact.insert(name)
            }
            if isShared { shared.insert(name) }
            kept.append(Columns.Column(name.text, column.value))
        }
        self.columns = TableColumns(shared.sorted().map(\.text), known: exact.map(\.text))
        return Columns(kept)
    }

    /// Forgets which columns every row has, because another backend may have others.
    mutating func forgetShared() {
        shared = []
        columns = TableColumns([], known: exact.map(\.text))
    }
}
