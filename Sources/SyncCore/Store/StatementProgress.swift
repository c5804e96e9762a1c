import GRDB
import GRDBSQLite
import Synchronization

/// How far the index is that is being made, counted in steps of SQLite's machine, for whoever asks
/// from another thread.
final class StatementProgress: Sendable {
    /// What is known at one moment.
    struct Present: Sendable {
        /// The index that is being made or about to be.
        var index: Int64?
        var percent = 0
        /// Why indexes could not be made.
        var problems: [Int64: String] = [:]

        /// Writes it into the state of indexes.
        func tell(_ indexes: inout [IndexStatus]) {
            for place in indexes.indices where indexes[place].builtAt == nil {
                indexes[place].percent = indexes[place].id == index ? percent : nil
                indexes[place].problem = problems[indexes[place].id]
            }
        }
    }

    /// Steps between two looks.
    private static let stepsPerTick = 100_000
    /// Steps that making an index takes for each row of the store.
    private static let stepsPerRow = 13
    private let ticks = Atomic<Int>(0)
    private let goal = Atomic<Int>(0)
    private let state = Mutex(Present())

    /// What is being made, and what could not be.
    var present: Present {
        var present = state.withLock { $0 }
        let done = ticks.load(ordering: .relaxed) * Self.stepsPerTick
        present.percent = min(99, done * 100 / max(goal.load(ordering: .relaxed), 1))
        return present
    }

    /// Says that an index is about to be made; false while another one is.
    func reserve(_ index: Int64) -> Bool {
        state.withLock { state in
            if state.index != nil { return false }
            state.index = index
            state.problems[index] = nil
            ticks.store(0, ordering: .relaxed)
            return true
        }
    }

    /// Says that it is made, or why not.
    func end(_ index: Int64, problem: String?) {
        state.withLock { state in
            state.index = nil
            state.problems[index] = problem
        }
    }

    /// Counts while an index is made.
    func whileMaking<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        let rows = try Int.fetchOne(db, sql: "SELECT coalesce(max(rowid), 0) FROM items") ?? 0
        ticks.store(0, ordering: .relaxed)
        goal.store(rows * Self.stepsPerRow, ordering: .relaxed)
        // Sound: SQLite uses the pointer on this thread only, while the body runs, and the store that
        // owns the connection owns this object as long.
        unsafe sqlite3_progress_handler(
            db.sqliteConnection, CInt(Self.stepsPerTick),
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
