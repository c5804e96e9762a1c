import Storage
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
    /// The page with the rows of a query on it, how many these are, and the steps that SQLite's machine
    /// took for them. The query gives one row more than there is room for.
    func filled(
        from connection: Connection, _ query: ItemQuery, _ idKind: IDKind
    ) throws -> (page: Self, rows: Int, steps: Int) {
        var page = self
        page.reserve(rows: min(query.rows, StoreLimits.operatorPage))
        var room = query.rows
        let steps = try connection.query(query.page.text, query.page.arguments) { row in
            guard room > 0 else {
                page.hasMore = true
                return false
            }
            room -= 1
            page.add(row, idKind)
            return true
        }
        return (page, query.rows - room, steps)
    }
}

extension ItemPage: PageOfRows {
    mutating func reserve(rows: Int) { items.reserveCapacity(rows) }
    mutating func add(_ row: StatementRow, _ idKind: IDKind) { items.append(row.item(idKind)) }
}

extension PageText: PageOfRows {
    mutating func add(_ row: StatementRow, _ idKind: IDKind) { add(row, idKind: idKind) }
}
