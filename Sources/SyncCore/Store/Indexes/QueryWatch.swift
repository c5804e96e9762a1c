import Synchronization
import TablesProtocol

/// What the readers of a store noticed since somebody last asked, in memory: lists that were costly,
/// indexes that served, and commits. A list that costs little and uses no index leaves no trace.
final class QueryWatch: Sendable {
    /// A shape of one table.
    struct Wish: Sendable, Hashable {
        let table: Int64
        let shape: IndexShape
    }

    /// How often, and at what cost in steps of SQLite's machine.
    struct Cost: Sendable, Hashable {
        var queries = 0
        var steps = 0
    }

    /// All that was noticed.
    struct Notes: Sendable {
        var wishes: [Wish: Cost] = [:]
        var used: Set<Int64> = []
        /// Commits that changed a table, by table.
        var commits: [Int64: Int] = [:]
        var isEmpty: Bool { wishes.isEmpty && used.isEmpty }
    }

    private struct State {
        var notes = Notes()
        var lastChange: Instant?
    }
    private let state = Mutex(State())

    /// Takes down a list that is read.
    func note(_ query: ItemQuery, steps: Int, rows: Int) {
        if let index = query.index {
            state.withLock { _ = $0.notes.used.insert(index.id) }
        }
        guard IndexAdvice.isCostly(steps: steps, rows: rows), let wish = query.wish,
            wish.shape != query.index?.shape
        else { return }
        state.withLock { state in
            guard
                state.notes.wishes[wish] != nil
                    || state.notes.wishes.count < StoreLimits.indexWishes
            else { return }
            state.notes.wishes[wish, default: Cost()].queries += 1
            state.notes.wishes[wish, default: Cost()].steps += steps
        }
    }

    /// Takes down a commit that changed tables.
    func noteCommit(_ tables: Set<Int64>, at time: Instant) {
        if tables.isEmpty { return }
        state.withLock { state in
            state.lastChange = time
            for table in tables { state.notes.commits[table, default: 0] += 1 }
        }
    }

    /// Hands over what was noticed and begins anew; commits alone are kept for the next time.
    func take() -> Notes? {
        state.withLock { state in
            if state.notes.isEmpty { return nil }
            defer { state.notes = Notes() }
            return state.notes
        }
    }

    /// When an item was last changed; nil for not since the start.
    var lastChange: Instant? { state.withLock { $0.lastChange } }
}
