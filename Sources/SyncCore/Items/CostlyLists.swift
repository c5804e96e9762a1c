import Synchronization
import TablesProtocol

/// The lists of a store that cost much since the last ``take()``, and the indexes that served, in
/// memory. From them the operator is told which index would help. A list that costs little and uses no
/// index leaves no trace.
final class CostlyLists: Sendable {
    /// An index that lists of one table would be faster with.
    struct Suggestion: Sendable, Hashable {
        let table: Int64
        let shape: IndexShape
    }

    /// How often, and at what cost in steps of SQLite's machine.
    struct Cost: Sendable, Hashable {
        var queries = 0
        var steps = 0
    }

    /// All that was noted.
    struct Notes: Sendable {
        var suggestions: [Suggestion: Cost] = [:]
        /// The numbers of the indexes that served.
        var used: Set<Int64> = []
        var isEmpty: Bool { suggestions.isEmpty && used.isEmpty }
    }

    private let notes = Mutex(Notes())

    /// Notes what a list cost.
    func note(_ query: ItemQuery, steps: Int, rows: Int) {
        if let index = query.index { notes.withLock { _ = $0.used.insert(index.id) } }
        guard Self.isCostly(steps: steps, rows: rows), let suggestion = query.suggestion,
            suggestion.shape != query.index?.shape
        else { return }
        notes.withLock { notes in
            let isKnown = notes.suggestions[suggestion] != nil
            guard isKnown || notes.suggestions.count < StoreLimits.indexSuggestions else { return }
            notes.suggestions[suggestion, default: Cost()].queries += 1
            notes.suggestions[suggestion, default: Cost()].steps += steps
        }
    }

    /// Whether a list did much more work than to give its rows.
    static func isCostly(steps: Int, rows: Int) -> Bool {
        steps > StoreLimits.costlyListSteps && steps > rows * StoreLimits.costlyRowSteps
    }

    /// Hands over what was noted and begins anew; nil for nothing.
    func take() -> Notes? {
        notes.withLock { notes in
            if notes.isEmpty { return nil }
            defer { notes = Notes() }
            return notes
        }
    }
}
