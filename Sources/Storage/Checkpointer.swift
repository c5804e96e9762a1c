import GRDB
import GRDBSQLite
import Synchronization

/// Keeps a file's write-ahead log short.
///
/// 1. SQLite says after each commit how many pages the log has.
/// 2. When it has grown by so many since it was last copied, the writer copies it into the file after it
///    has answered and before the next transaction. It waits for no reader.
/// 3. Where all of it was copied and no connection reads in it, SQLite begins it anew with the next commit,
///    and cuts its file to ``StorageLimits/logBytes``.
/// 4. Under a ``DiskBudget`` the log's file is emptied as soon as it is larger than its share. Otherwise
///    that is done when the store is idle (``Writer/shrinkLog()``).
///
/// Only a ``Writer`` uses it: no other connection may copy the log (see ``ConnectionQueue``).
final class Checkpointer: Sendable {
    private let log: LogLength
    /// The length of the log in pages when it was last copied into the file.
    private let copiedPages = Atomic(0)

    private let path: String
    /// Bytes that the log's file may have; nil without a budget.
    private let share: Int?

    /// - Parameters:
    ///   - path: the path of the database file.
    ///   - share: bytes that the log's file may have; nil without a budget.
    init(_ log: LogLength, path: String, share: Int?) {
        self.log = log
        self.path = path + "-wal"
        self.share = share
    }

    /// Bytes of the log's file. It keeps its size when the log begins anew, up to `journal_size_limit`.
    var fileBytes: Int { DatabaseFiles.bytes(path) }

    /// Copies the log into the file when it has grown; between transactions.
    func keepLogShort(_ connection: Connection) {
        if let share, fileBytes > share { return empty(connection) }
        let pages = log.pages.load(ordering: .relaxed)
        let last = copiedPages.load(ordering: .relaxed)
        guard pages - (pages < last ? 0 : last) >= StorageLimits.checkpointPages else { return }
        copiedPages.store(pages, ordering: .relaxed)
        // What cannot be copied now is copied with the next stretch.
        _ = try? connection.database.checkpoint(.passive)
    }

    /// Copies all of the log and empties its file, where no connection reads in it; between
    /// transactions. Pages that cannot be copied now are copied by a later call.
    /// - Parameter milliseconds: how long to wait for reads. Reads that begin when everything was copied do
    ///   not delay it.
    func empty(_ connection: Connection, waiting milliseconds: Int = 0) {
        try? connection.run("PRAGMA busy_timeout = \(milliseconds)", keep: false)
        defer {
            try? connection.run(
                "PRAGMA busy_timeout = \(StorageLimits.busyMilliseconds)", keep: false)
        }
        guard (try? connection.database.checkpoint(.truncate)) != nil else { return }
        log.pages.store(0, ordering: .relaxed)
        copiedPages.store(0, ordering: .relaxed)
    }

    /// Empties a log whose file is larger than what is copied at once.
    func shrink(_ connection: Connection) {
        if fileBytes > StorageLimits.idleLogBytes { empty(connection) }
    }
}

/// The length of a file's write-ahead log.
///
/// A class, so that SQLite's callback has an address to write to.
final class LogLength: Sendable {
    /// Pages in the log after the last commit.
    let pages = Atomic(0)

    /// Has SQLite note the length after each commit of a connection, which then copies nothing by itself.
    func follow(_ db: Database) {
        // Sound: SQLite calls this inside of commits of the connection, whose ``ConnectionQueue`` holds this
        // object as long as the connection.
        unsafe sqlite3_wal_hook(
            db.sqliteConnection,
            { context, _, _, pages in
                if let context = unsafe context {
                    unsafe Unmanaged<LogLength>.fromOpaque(context).takeUnretainedValue()
                        .pages.store(Int(pages), ordering: .relaxed)
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}

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

extension DatabaseFiles {
    /// Has databases that this process opens from now on share their memory in the process instead of in a file, so
    /// that they can be read where the disk has no room for that file. No other process can open them meanwhile.
    ///
    /// `unsafe`: SQLite gives a pointer to one of its own constants.
    package static func shareMemoryInProcess() {
        _ = unsafe sqlite3_vfs_register(sqlite3_vfs_find("unix-excl"), 1)
    }
}
