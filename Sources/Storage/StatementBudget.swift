import GRDB
import GRDBSQLite
import Synchronization

/// Cuts a read that takes too many steps of SQLite's machine, or whose functions do work that counts as
/// so many; then one that takes too long, and one that no caller waits for any more.
///
/// One belongs to one connection and lives as long. SQLite calls it on the thread that reads.
final class StatementBudget: Sendable {
    /// The rest of the budget of the read that runs.
    private struct Read {
        var stepsLeft: Int
        /// The number of steps left at which the clock is read next.
        var nextLook: Int
        /// Set with the first look: a short read never looks.
        var endsAt: Duration?
        let milliseconds: Int
        let isAbandoned: @Sendable () -> Bool

        init(steps: Int, milliseconds: Int, isAbandoned: @escaping @Sendable () -> Bool) {
            // One tick more, since SQLite's count does not begin at zero for a statement used before.
            stepsLeft = steps + StorageLimits.stepsPerBudgetLook
            nextLook = steps
            self.milliseconds = milliseconds
            self.isAbandoned = isAbandoned
        }

        /// False when the read has to end.
        mutating func spend(_ steps: Int, _ uptime: () -> Duration) -> Bool {
            stepsLeft -= steps
            guard stepsLeft >= 0 else { return false }
            guard stepsLeft <= nextLook else { return true }
            nextLook = stepsLeft - StorageLimits.stepsPerBudgetLook
            let now = uptime()
            let end = endsAt ?? now + .milliseconds(milliseconds)
            endsAt = end
            return now < end && !isAbandoned()
        }
    }
    /// Nil while nothing is read: preparing a statement is not bounded.
    private let read = Mutex<Read?>(nil)
    private let uptime: @Sendable () -> Duration

    /// - Parameter uptime: a clock that only goes forward.
    init(uptime: @escaping @Sendable () -> Duration) { self.uptime = uptime }

    /// Makes a connection ask this budget while it reads. Called once, when the connection opens.
    func install(on db: Database) {
        // Sound: the pointer is only used while the connection lives, and the owner of
        // the connection holds this budget longer.
        unsafe sqlite3_progress_handler(
            db.sqliteConnection, CInt(StorageLimits.stepsPerBudgetLook),
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<StatementBudget>.fromOpaque(context)
                    .takeUnretainedValue().tick()
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Runs a read that may take about this many steps, and this time.
    /// - Parameter isAbandoned: whether no caller waits for it any more.
    func within<T>(
        steps: Int, milliseconds: Int = StorageLimits.readMilliseconds,
        isAbandoned: @escaping @Sendable () -> Bool = { false }, _ body: () throws -> T
    ) rethrows -> T {
        read.withLock {
            $0 = Read(steps: steps, milliseconds: milliseconds, isAbandoned: isAbandoned)
        }
        defer { read.withLock { $0 = nil } }
        return try body()
    }

    /// Counts work that SQLite's machine does not see. The clock is looked at every ten thousand steps,
    /// whatever made them.
    /// - Returns: false when the read has to end.
    func spend(steps: Int) -> Bool {
        read.withLock { $0?.spend(steps, uptime) ?? true }
    }

    /// 0 to go on, 1 to interrupt.
    private func tick() -> CInt { spend(steps: StorageLimits.stepsPerBudgetLook) ? 0 : 1 }
}

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
