import Storage
import Synchronization

/// Which index a person has made now, how far it is, and why others could not be made: in memory, for
/// callers that ask meanwhile.
final class IndexProgress: Sendable {
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

    /// Steps that making an index takes for each row of the store.
    private static let stepsPerRow = 13
    private let statement = StatementProgress()
    private let goal = Atomic<Int>(0)
    private let state = Mutex(Present())

    /// What is being made, and what could not be.
    var present: Present {
        var present = state.withLock { $0 }
        present.percent = min(99, statement.steps * 100 / max(goal.load(ordering: .relaxed), 1))
        return present
    }

    /// Says that an index is about to be made; false while another one is.
    func reserve(_ index: Int64) -> Bool {
        state.withLock { state in
            if state.index != nil { return false }
            state.index = index
            state.problems[index] = nil
            statement.restart()
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

    /// Forgets why an index could not be made: it is dropped, and another one may get its number.
    func forget(_ index: Int64) { state.withLock { $0.problems[index] = nil } }

    /// Counts while an index is made.
    func whileMaking<T>(_ db: Connection, _ body: () throws -> T) throws -> T {
        let rows = Int(try db.integer("SELECT coalesce(max(rowid), 0) FROM items") ?? 0)
        goal.store(rows * Self.stepsPerRow, ordering: .relaxed)
        return try statement.counting(db, body)
    }
}
