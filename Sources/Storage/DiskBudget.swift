/// The most bytes of a file and its write-ahead log together.
///
/// Writes that add rows fail at the budget. Writes that must succeed may use a reserve beyond it, or a
/// full file could never become emptier. The log has a share of its own. If a long read keeps the log from
/// being emptied, its real size counts.
package struct DiskBudget: Sendable {
    /// Bytes for the file and the log.
    package let bytes: Int
    /// Bytes of them for the log.
    let logBytes: Int
    /// Bytes of a page of the file.
    private let pageBytes: Int
    /// Pages for the file and the log.
    private let pages: Int
    /// Pages that the file may have.
    private let filePages: Int
    /// Pages of the file with the reserve.
    private let pagesWithReserve: Int

    /// Holds the connection to the budget from now on. A file that is larger already does not grow.
    package init(bytes: Int, _ connection: Connection) throws {
        self.bytes = bytes
        logBytes = Self.logBytes(of: bytes)
        pageBytes = Int(try connection.integer("PRAGMA page_size") ?? 4096)
        pages = max(1, bytes / pageBytes)
        filePages = max(1, (bytes - logBytes) / pageBytes)
        pagesWithReserve = filePages + pages / StorageLimits.budgetsInReserve
        // SQLite cuts the log's file to this when the log begins anew.
        try connection.run("PRAGMA journal_size_limit = \(logBytes)", keep: false)
        try hold(connection)
    }

    /// The bytes of a budget that are for the file alone.
    package static func fileBytes(of bytes: Int) -> Int { bytes - logBytes(of: bytes) }

    private static func logBytes(of bytes: Int) -> Int {
        min(bytes / StorageLimits.budgetsInLog, StorageLimits.logBytes)
    }

    /// Holds the connection to the budget.
    func hold(_ connection: Connection) throws {
        try connection.run("PRAGMA max_page_count = \(filePages)", keep: false)
    }

    /// Pages of the file that hold something.
    func usedPages(_ connection: Connection) throws -> Int {
        let free = Int(try connection.integer("PRAGMA freelist_count") ?? 0)
        return Int(try connection.integer("PRAGMA page_count") ?? 0) - free
    }

    /// The part of the file's share that is in use, from 0 to 1, and more beyond the budget.
    package func usedShare(_ connection: Connection) throws -> Double {
        Double(try usedPages(connection)) / Double(filePages)
    }

    /// Whether one of so many equal parts of the budget is free. Free pages inside of the file count.
    package func hasFreePart(of parts: Int, _ connection: Connection) throws -> Bool {
        filePages - (try usedPages(connection)) >= pages / parts
    }

    /// Whether the file and a log of so many bytes are beyond the budget.
    func isExceeded(byLogOf count: Int, _ connection: Connection) throws -> Bool {
        guard count > logBytes else { return false }
        return count + Int(try connection.integer("PRAGMA page_count") ?? 0) * pageBytes > bytes
    }

    /// Lets the connection use the reserve, until ``hold(_:)``.
    func lend(_ connection: Connection) throws {
        try connection.run("PRAGMA max_page_count = \(pagesWithReserve)", keep: false)
    }
}
