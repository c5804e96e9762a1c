import GRDB
import GRDBSQLite
import Synchronization

/// Counts the steps of SQLite's machine while a long statement runs, for a caller on another
/// thread.
package final class StatementProgress: Sendable {
    private let ticks = Atomic<Int>(0)

    package init() {}

    /// The steps of the statement that runs, or of the last one; they begin at zero with ``restart()``.
    package var steps: Int { ticks.load(ordering: .relaxed) * StorageLimits.stepsPerProgressLook }

    /// Begins the count anew.
    package func restart() { ticks.store(0, ordering: .relaxed) }

    /// Counts what a connection does while the body runs.
    package func counting<T>(_ connection: Connection, _ body: () throws -> T) rethrows -> T {
        let database = connection.database
        restart()
        // Sound: SQLite uses the pointer on this thread only, while the body runs, and `self` lives as long.
        unsafe sqlite3_progress_handler(
            database.sqliteConnection, CInt(StorageLimits.stepsPerProgressLook),
            { context in
                guard let context = unsafe context else { return 0 }
                unsafe Unmanaged<StatementProgress>.fromOpaque(context).takeUnretainedValue()
                    .ticks.add(1, ordering: .relaxed)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        defer { unsafe sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
        return try body()
    }
}
