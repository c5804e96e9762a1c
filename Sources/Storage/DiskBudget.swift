/// How large a file may grow.
///
/// What brings more ends at the budget. What has to be written in any case may go beyond it by a reserve,
/// or a full file could never become emptier.
package struct DiskBudget: Sendable {
    /// Pages for everything.
    private let pages: Int
    /// Pages with the reserve.
    private let pagesWithReserve: Int

    /// Holds the connection to the budget from now on. A file that is larger already does not grow.
    package init(bytes: Int, _ connection: Connection) throws {
        let page = Int(try connection.integer("PRAGMA page_size") ?? 4096)
        pages = max(1, bytes / page)
        pagesWithReserve = pages + pages / StorageLimits.budgetsInReserve
        try hold(connection)
    }

    /// Holds the connection to the budget.
    func hold(_ connection: Connection) throws {
        try connection.run("PRAGMA max_page_count = \(pages)", keep: false)
    }

    /// Whether one of so many equal parts of the budget is free. Free pages inside of the file count.
    package func hasFreePart(of parts: Int, _ connection: Connection) throws -> Bool {
        let free = Int(try connection.integer("PRAGMA freelist_count") ?? 0)
        let used = Int(try connection.integer("PRAGMA page_count") ?? 0) - free
        return pages - used >= pages / parts
    }

    /// Lets the connection use the reserve, until ``hold(_:)``.
    func lend(_ connection: Connection) throws {
        try connection.run("PRAGMA max_page_count = \(pagesWithReserve)", keep: false)
    }
}
