import GRDB
import GRDBSQLite
import Synchronization

/// Counts the steps of SQLite's machine while a long statement runs, for whoever asks from another
/// thread.
final class StatementProgress: Sendable {
    private let ticks = Atomic<Int>(0)

    /// The steps of the statement that runs, or of the last one; they begin at zero with ``restart()``.
    var steps: Int { ticks.load(ordering: .relaxed) * StoreLimits.stepsPerProgressLook }

    /// Begins the count anew.
    func restart() { ticks.store(0, ordering: .relaxed) }

    /// Counts what a connection does while the body runs.
    func counting<T>(_ db: Database, _ body: () throws -> T) rethrows -> T {
        restart()
        // Sound: SQLite uses the pointer on this thread only, while the body runs, and the store that
        // owns the connection owns this object as long.
        unsafe sqlite3_progress_handler(
            db.sqliteConnection, CInt(StoreLimits.stepsPerProgressLook),
            { context in
                guard let context = unsafe context else { return 0 }
                unsafe Unmanaged<StatementProgress>.fromOpaque(context).takeUnretainedValue()
                    .ticks.add(1, ordering: .relaxed)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        defer { unsafe sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) }
        return try body()
    }
}
