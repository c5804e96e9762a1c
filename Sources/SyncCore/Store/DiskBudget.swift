import GRDB

/// How large a store's file may grow.
///
/// Writes of clients and pages of pulls end at the budget. What settles or gives up operations may go
/// beyond it by a reserve, or a full store could never become emptier.
struct DiskBudget: Sendable {
    /// Pages for everything.
    private let pages: Int
    /// Pages with the reserve.
    private let pagesWithReserve: Int

    /// Holds the connection to the budget from now on. A file that is larger already does not grow.
    init(bytes: Int, _ db: Database) throws {
        let page = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 4096
        pages = max(1, bytes / page)
        pagesWithReserve = pages + pages / StoreLimits.budgetsInReserve
        try hold(db)
    }

    /// Holds the connection to the budget.
    func hold(_ db: Database) throws {
        try db.execute(sql: "PRAGMA max_page_count = \(pages)")
    }

    /// Whether so much is free that indexes, which only make lists faster, leave room for writes. Free
    /// pages inside of the file count.
    func hasRoomBesideIndexes(_ db: Database) throws -> Bool {
        let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
        let left = pages - ((try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0) - free)
        return left >= pages / StoreLimits.budgetsFreeBesideIndexes
    }

    /// Lets the connection use the reserve, until ``hold(_:)``.
    func lend(_ db: Database) throws {
        try db.execute(sql: "PRAGMA max_page_count = \(pagesWithReserve)")
    }
}
