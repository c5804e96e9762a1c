/// Every limit of this module, with its unit.
package enum StorageLimits {
    /// Entries that wait for the next group at most; more are refused.
    package static let waitingEntries = 10_000
    /// Entries in one transaction.
    package static let groupEntries = 500
    /// Milliseconds after which a transaction takes no further entry: those that wait get a commit sooner.
    package static let groupMilliseconds = 100
    /// Answers of a group that take time, from which on a thread of its own gives them.
    static let answersApart = 4
    /// Memory in which the writer keeps pages, in KiB.
    static let writerCacheKiB = 32_768
    /// The same for each reader with a budget, whose cache is new after each commit.
    static let readerCacheKiB = 16_384
    /// Pages by which the write-ahead log grows before they are copied into the file.
    package static let checkpointPages = 250
    /// The file of a log that is longer is cut to it when the log begins anew, in bytes.
    static let logBytes = 4 << 20
    /// The file of a log that is longer is emptied when the store is idle, in bytes.
    static let idleLogBytes = 1 << 20
    /// The log's share of a budget is the budget divided by this, and at most ``logBytes``.
    static let budgetsInLog = 8
    /// Seconds that a connection waits for a lock that another process holds.
    static let busySeconds = 5.0
    /// The same in milliseconds.
    static var busyMilliseconds: Int { Int(busySeconds * 1000) }
    /// Milliseconds that the writer waits for reads to end before it refuses entries, because the log is too
    /// long for the budget.
    static let longLogMilliseconds = 1_000
    /// Different queries of callers that one reader keeps prepared.
    package static let keptQueries = 256
    /// Milliseconds that any read with a budget may take, whatever steps it has left.
    package static let readMilliseconds = 5_000
    /// The reserve of a file that may not grow is its budget divided by this.
    static let budgetsInReserve = 8
    /// The most pages that SQLite gives a file.
    package static let filePages = 1_073_741_823
    /// Steps of SQLite's machine between two looks at the budget of a read.
    static let stepsPerBudgetLook = 10_000
}
