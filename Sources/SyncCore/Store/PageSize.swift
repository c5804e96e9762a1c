import TablesProtocol

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
