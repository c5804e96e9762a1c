import Storage
import Synchronization

/// The index that is being built, its progress, and the errors of earlier builds. Kept in memory.
final class IndexProgress: Sendable {
    /// A snapshot.
    struct Present: Sendable {
        /// The index that is being built or about to be.
        var index: Int64?
        var percent = 0
        /// Why indexes could not be built.
        var problems: [Int64: String] = [:]

        /// Copies the snapshot into the status of indexes.
        func write(to indexes: inout [IndexStatus]) {
            for place in indexes.indices where indexes[place].builtAt == nil {
                indexes[place].percent = indexes[place].id == index ? percent : nil
                indexes[place].problem = problems[indexes[place].id]
            }
        }
    }

    /// The SQLite steps that building an index takes for each row of the store.
    private static let stepsPerRow = 13
    private let statement = StatementProgress()
    private let goal = Atomic<Int>(0)
    private let state = Mutex(Present())

    /// The present snapshot.
    var present: Present {
        var present = state.withLock { $0 }
        present.percent = min(99, statement.steps * 100 / max(goal.load(ordering: .relaxed), 1))
        return present
    }

    /// Reserves the build of an index; false while another one is being built.
    func reserve(_ index: Int64) -> Bool {
        state.withLock { state in
            if state.index != nil { return false }
            state.index = index
            state.problems[index] = nil
            statement.restart()
            return true
        }
    }

    /// Ends a build, with the reason of a failure.
    func end(_ index: Int64, problem: String?) {
        state.withLock { state in
            state.index = nil
            state.problems[index] = problem
        }
    }

    /// Forgets the failure of an index that is dropped, because another one may get its number.
    func forget(_ index: Int64) { state.withLock { $0.problems[index] = nil } }

    /// Counts the steps of a build.
    func whileMaking<T>(_ db: Connection, _ body: () throws -> T) throws -> T {
        let rows = Int(try db.integer("SELECT coalesce(max(rowid), 0) FROM items") ?? 0)
        goal.store(rows * Self.stepsPerRow, ordering: .relaxed)
        return try statement.counting(db, body)
    }
}
