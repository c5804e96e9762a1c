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
    /// 1. A client that names no number gets its generation's page.
    /// 2. One that does gets so many, up to a thousand, where the backend's pages are that large too: the
    ///    first generation's servers always gave them.
    func most(_ query: TableQuery, of table: TableRecord?) -> Int {
        if let rows { return rows }
        guard let top = query.top else { return generation.pageRows }
        let cut = generation == .mobileServices ? nil : table?.pageRows
        let most = cut.map { max($0, generation.pageRows) } ?? StoreLimits.pageRows
        return min(top, most, StoreLimits.pageRows)
    }
}
