import TablesProtocol

/// A three-way merge, column by column: base, local change and the server's newer row. Push, rebase and the
/// list of conflicts all use it.
///
/// Values are compared as JSON values, dates as instants. A change that only gives the base's date another
/// text is still a change: it stays to be sent unless the server has that text. An absent column equals null.
struct ThreeWayMerge: Sendable, Hashable {
    /// My changes that differ from the server's row.
    let rest: Columns
    /// The columns of ``rest`` that the server changed as well, to other values.
    let overlaps: [String]
    /// The server's row.
    let theirs: Columns

    /// Merges local changes with the server's row.
    ///
    /// 1. A column that already has my value on the server is not sent.
    /// 2. A column that the server left as in the base takes my value.
    /// 3. A column that the server changed to another value overlaps.
    ///
    /// - Parameters:
    ///   - base: the row that my change started from; nil if it is not known. Every difference then counts as
    ///     the server's change.
    ///   - changes: the columns that I changed, with my values.
    ///   - theirs: the server's row.
    init(base: Columns?, changes: Columns, theirs: Columns) {
        var rest: [Columns.Column] = []
        var overlaps: [String] = []
        var theirValues = ColumnValues(theirs)
        var baseValues = base.map { ColumnValues($0) }
        for column in changes.all {
            let their = theirValues.comparable(column.name)
            let before = baseValues?.comparable(column.name)
            let isRespelled = before?.isSame(as: column.value) ?? false
            let dates: DateSameness = isRespelled ? .digitsAndOffset : .instant
            if their.isSame(as: column.value, dates: dates) { continue }
            rest.append(column)
            if let before, before.isSame(as: their) { continue }
            overlaps.append(column.name)
        }
        self.rest = Columns(rest)
        self.overlaps = overlaps
        self.theirs = theirs
    }

    /// Merges two rows that started from the same base.
    init(base: Columns, mine: Columns, theirs: Columns) {
        let names = mine.writtenNames(from: base)
        self.init(base: base, changes: mine.picking(names), theirs: theirs)
    }

    /// The server's row with all my changes. Columns that only the server changed keep the server's value.
    var mineOverTheirs: Columns {
        var columns = theirs
        columns.merge(rest)
        return columns
    }

    /// The server's row with my value in each column that only I changed.
    var proposed: Columns {
        let overlapping = Set(overlaps.map { ExactName($0) })
        var columns = theirs
        columns.merge(Columns(rest.all.filter { !overlapping.contains(ExactName($0.name)) }))
        return columns
    }
}

extension Columns {
    /// A column's value for comparison: null if the column is absent. A name that differs only in case
    /// matches if exactly one column has such a name.
    func value(_ name: String) -> JSONText {
        var values = ColumnValues(self)
        return values.comparable(name)
    }

    /// Whether every column of `sent` has the same value in this row.
    func holds(_ sent: Columns) -> Bool {
        var values = ColumnValues(self)
        return sent.all.allSatisfy { values.comparable($0.name).isSame(as: $0.value) }
    }

    /// The base of a change, for a row that has moved to a backend where the user has another id.
    ///
    /// The move has put the new id into the column of the row's owner. That is no writer's change, so the column
    /// takes the new id in the base too. A column that the change itself sets keeps its base value, because
    /// there another writer may have named this user.
    /// - Parameter owner: the user's id at the present backend; nil if the row has not moved.
    func following(_ owner: String?, of server: Columns, changing changes: Columns) -> Columns {
        guard let owner, !isEmpty else { return self }
        var values = ColumnValues(self)
        let changed = Set(
            changes.all.filter { !values.comparable($0.name).isSame(as: $0.value) }
                .map { $0.name.lowercased() })
        let owned = server.all.filter { column in
            (column.value.string?.utf8.elementsEqual(owner.utf8) ?? false)
                && !changed.contains(column.name.lowercased())
        }
        let names = Set(owned.map { $0.name.lowercased() })
        return Columns(all.filter { !names.contains($0.name.lowercased()) } + owned)
    }

    /// These columns in their order, each with its value's text in `others` where they have it.
    func written(as others: Columns) -> Columns {
        guard self != others else { return self }
        let texts = ColumnValues(others)
        return Columns(all.map { Columns.Column($0.name, texts[$0.name] ?? $0.value) })
    }

    /// These columns, plus the columns of `others` whose names are missing here.
    func filled(from others: Columns) -> Columns {
        let values = ColumnValues(self)
        return Columns(all + others.all.filter { values[$0.name] == nil })
    }
}
