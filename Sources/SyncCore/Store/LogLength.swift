import GRDB
import GRDBSQLite
import Synchronization

/// How long a store's write-ahead log is.
///
/// A class, so that SQLite's callback has an address to write to.
final class LogLength: Sendable {
    private struct State {
        var pages = 0
        /// How long it was when the last copy began.
        var begun = 0
        /// How much of it is in the file, as far as is known.
        var copied = 0
        var isCopying = false
    }
    private let state = Mutex(State())

    /// What the log asks for.
    enum Need { case nothing, copying, copyingNow }

    /// Notes the log's pages after a commit.
    func note(pages: Int) { state.withLock { $0.pages = pages } }

    /// Notes that a copy has ended, and how much is in the file then; nil when nobody knows.
    func ended(copied: Int?) {
        state.withLock { state in
            state.isCopying = false
            state.copied = copied ?? state.copied
        }
    }

    /// Whether who writes much at once waits, so that the log can start anew.
    var isWaitedFor: Bool {
        state.withLock { state in
            state.pages >= StoreLimits.waitingLogPages
                || state.pages >= StoreLimits.renewedLogPages
                    && state.pages - state.copied <= StoreLimits.restPages
        }
    }

    /// What is to be done; said once for each stretch of the log, and not while a copy goes on.
    func takeNeed() -> Need {
        state.withLock { state in
            // It started anew.
            if state.pages < state.begun { (state.begun, state.copied) = (0, 0) }
            if state.pages >= StoreLimits.longLogPages { return .copyingNow }
            let stretch =
                state.pages < StoreLimits.renewedLogPages
                ? StoreLimits.checkpointPages : StoreLimits.restPages
            guard !state.isCopying, state.pages - state.begun >= stretch else { return .nothing }
            state.begun = state.pages
            state.isCopying = true
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
