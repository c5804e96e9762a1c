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

/// How many rows one answer to a client has at most.
struct PageSize {
    let generation: Generation
    /// What the caller takes instead, such as an operator's page.
    let rows: Int?

    init(_ generation: Generation, rows: Int? = nil) {
        (self.generation, self.rows) = (generation, rows)
    }

    /// The most rows for a query.
    ///
    /// 1. A client that names a number gets so many, up to a thousand, where the backend's pages are that
    ///    large too: the first generation's servers always gave them.
    /// 2. One that names none gets its generation's page, and a larger one where the backend was seen to
    ///    give larger ones; the first generation's servers never did.
    func most(_ query: TableQuery, of table: TableRecord?) -> Int {
        if let rows { return rows }
        let cut = generation == .mobileServices ? nil : table?.pageRows
        let most = min(
            cut.map { max($0, generation.pageRows) } ?? StoreLimits.pageRows, StoreLimits.pageRows)
        if let top = query.top { return min(top, most) }
        let isLarge = table?.largestPageRows ?? 0 > generation.pageRows
        return generation != .mobileServices && isLarge ? most : generation.pageRows
    }
}
