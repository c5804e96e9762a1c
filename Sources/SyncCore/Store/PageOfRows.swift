import TablesProtocol

/// A page that is filled with the rows of a query: as items, or as the text of an answer.
protocol PageOfRows: Sendable {
    /// The number that match; nil when not asked for.
    var count: Int? { get set }
    /// Whether more match.
    var hasMore: Bool { get set }

    mutating func reserve(rows: Int)
    mutating func add(_ row: StatementRow, _ idKind: IDKind)
}

extension PageOfRows {
    /// The page with the rows of a query on it, and how many these are. The query gives one row more
    /// than there is room for.
    func filled(
        from rows: StatementRows, _ query: ItemQuery, _ idKind: IDKind
    ) throws -> (page: Self, rows: Int) {
        var page = self
        page.reserve(rows: min(query.rows, StoreLimits.operatorPage))
        var room = query.rows
        try rows.forEach(query.page.arguments) { row in
            guard room > 0 else {
                page.hasMore = true
                return false
            }
            room -= 1
            page.add(row, idKind)
            return true
        }
        return (page, query.rows - room)
    }
}

extension ItemPage: PageOfRows {
    mutating func reserve(rows: Int) { items.reserveCapacity(rows) }
    mutating func add(_ row: StatementRow, _ idKind: IDKind) { items.append(row.item(idKind)) }
}

extension PageText: PageOfRows {
    mutating func add(_ row: StatementRow, _ idKind: IDKind) { add(row, idKind: idKind) }
}
