import GRDB
import GRDBSQLite
import Synchronization

/// Cuts a read that takes too many steps of SQLite's machine, or whose functions do work that counts as
/// so many.
///
/// One belongs to one connection and lives as long. SQLite calls it on the thread that reads.
final class StatementBudget: Sendable {
    private let stepsLeft = Atomic<Int>(Int.max)

    /// Makes a connection ask this budget while it reads. Called once, when the connection opens.
    func install(on db: Database) {
        // Sound: the pointer is only used while the connection lives, and whoever owns the
        // connection owns this budget longer.
        unsafe sqlite3_progress_handler(
            db.sqliteConnection, CInt(StoreLimits.stepsPerBudgetLook),
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<StatementBudget>.fromOpaque(context)
                    .takeUnretainedValue().tick()
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Starts a read that may take about this many steps.
    func start(steps: Int) {
        // One tick more, since SQLite's count does not begin at zero for a statement used before.
        stepsLeft.store(steps + StoreLimits.stepsPerBudgetLook, ordering: .relaxed)
    }

    /// Counts work that SQLite's machine does not see.
    /// - Returns: false when the read is over its budget.
    func spend(steps: Int) -> Bool {
        stepsLeft.subtract(steps, ordering: .relaxed).newValue >= 0
    }

    /// 0 to go on, 1 to interrupt.
    private func tick() -> CInt { spend(steps: StoreLimits.stepsPerBudgetLook) ? 0 : 1 }
}
