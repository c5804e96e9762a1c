import TablesProtocol

/// The three-way merge of a change with what happened to its row meanwhile, column by column: the one
/// merge of the push, of what follows an operation, and of the conflicts that a person sees.
///
/// Values are compared as JSON values; an absent column and null are the same.
struct ThreeWayMerge: Sendable, Hashable {
    /// My changes that the server's row does not show yet.
    let rest: Columns
    /// The columns among them that the other side changed as well, to something else.
    let overlaps: [String]
    /// The server's row.
    let theirs: Columns

    /// Merges.
    ///
    /// 1. What both sides want alike needs no sending.
    /// 2. A column that they left as it was takes my value.
    /// 3. A column that they changed to something else overlaps.
    ///
    /// - Parameters:
    ///   - base: the row that my change started from; nil when it is not known, so that every
    ///     difference counts as theirs.
    ///   - changes: the columns that I changed, with my values.
    ///   - theirs: the server's row.
    init(base: Columns?, changes: Columns, theirs: Columns) {
        var rest: [Columns.Column] = []
        var overlaps: [String] = []
        for column in changes.all {
            let their = theirs.value(column.name)
            if their.isSame(as: column.value) { continue }
            rest.append(column)
            if let base, base.value(column.name).isSame(as: their) { continue }
            overlaps.append(column.name)
        }
        self.rest = Columns(rest)
        self.overlaps = overlaps
        self.theirs = theirs
    }

    /// Merges two rows that started from one.
    init(base: Columns, mine: Columns, theirs: Columns) {
        let names = mine.changedNames(from: base)
        let changes = Columns(names.map { Columns.Column($0, mine[$0] ?? .null) })
        self.init(base: base, changes: changes, theirs: theirs)
    }

    /// The server's row with all my changes: what only the other side changed stays.
    var mineOverTheirs: Columns {
        var columns = theirs
        columns.merge(rest)
        return columns
    }

    /// The server's row with my changes where only I changed a column.
    var proposed: Columns {
        var columns = theirs
        columns.merge(Columns(rest.all.filter { !overlaps.contains($0.name) }))
        return columns
    }
}

extension Columns {
    /// The value of a column as sync compares it: an absent one is null, and a name that only
    /// differs in case is the same column when it is the only such one.
    func value(_ name: String) -> JSONText {
        if let value = self[name] { return value }
        let lowered = name.lowercased()
        let alike = all.filter { $0.name.lowercased() == lowered }
        return alike.count == 1 ? alike[0].value : .null
    }

    /// Whether every column of `sent` has the same value here.
    func holds(_ sent: Columns) -> Bool {
        sent.all.allSatisfy { value($0.name).isSame(as: $0.value) }
    }

    /// These columns, and those of `others` that have no place here.
    func filled(from others: Columns) -> Columns {
        Columns(all + others.all.filter { self[$0.name] == nil })
    }
}

extension Columns {
    /// The object as one JSON value.
    var json: JSONText { (try? JSONText(validating: text)) ?? .null }
}
