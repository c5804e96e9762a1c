import GRDB
import GRDBSQLite
import Synchronization

/// How long a store's write-ahead log is.
///
/// A class, so that SQLite's callback has an address to write to.
final class LogLength: Sendable {
    private struct State {
        var pages = 0
        /// How long it was when it was last copied.
        var copied = 0
    }
    private let state = Mutex(State())

    /// What the log asks for.
    enum Need { case nothing, copying, copyingNow }

    /// Notes the log's pages after a commit.
    func note(pages: Int) { state.withLock { $0.pages = pages } }

    /// Whether who writes much at once has to wait.
    var isLong: Bool { state.withLock { $0.pages >= 2 * StoreLimits.checkpointPages } }

    /// What is to be done; said once for each stretch of the log.
    func takeNeed() -> Need {
        state.withLock { state in
            // It started anew.
            if state.pages < state.copied { state.copied = 0 }
            if state.pages >= StoreLimits.longLogPages { return .copyingNow }
            guard state.pages - state.copied >= StoreLimits.checkpointPages else { return .nothing }
            state.copied = state.pages
            return .copying
        }
    }

    /// Has SQLite note the length after each commit of a connection.
    func follow(_ db: Database) {
        // Safe: SQLite calls this inside of commits, which only the store's own methods make, and the
        // store owns this object longer than any of them runs.
        unsafe sqlite3_wal_hook(
            db.sqliteConnection,
            { context, _, _, pages in
                if let context = unsafe context {
                    unsafe Unmanaged<LogLength>.fromOpaque(context).takeUnretainedValue()
                        .note(pages: Int(pages))
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
