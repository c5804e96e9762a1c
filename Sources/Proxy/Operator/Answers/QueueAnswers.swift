package import SyncCore
package import TablesProtocol

// Answers about the queue, conflicts and the history.
extension Answers {
    /// The operation afterwards; null when the action left none.
    package struct ActionResult: Codable, Sendable, Hashable {
        package let operation: OperationSummary?
    }

    /// What undoing an entry of the history does.
    package struct UndoResult: Codable, Sendable, Hashable {
        package let effect: UndoEffect
        /// The effect in a sentence for a person.
        package let sentence: String
        /// Whether it was only asked for, and nothing was undone.
        package let dryRun: Bool
        /// The last open operation of the item afterwards; null when none is left.
        package let operation: OperationSummary?
    }

    /// What became of undoing the latest decision about each of some operations.
    package struct UndoneDecisions: Codable, Sendable, Hashable {
        package let matched: Int
        /// How many were undone; in a dry run, how many would be.
        package let changed: Int
        package let refused: Int
        package let dryRun: Bool
        /// In the order of the request.
        package let items: [UndoneDecision]
    }

    /// How many operations were held back until now, so that their decisions could be undone.
    package struct SentDecisions: Codable, Sendable, Hashable {
        package let held: Int
    }

    /// A page of the history, latest first, with the time that the words of the request were taken for.
    package struct HistoryPage: Codable, Sendable, Hashable {
        package let items: [HistoryEntry]
        /// Cursor for `after`; null at the end.
        package let next: String?
        /// All entries that match, not only this page's.
        package let total: Int
        /// The first instant; null for none.
        package let from: Instant?
        /// The first instant that is too late; null for none.
        package let to: Instant?
    }
}

extension Answers.UndoneDecisions {
    init(_ decisions: [UndoneDecision], dryRun: Bool) {
        let changed = decisions.count { $0.effect != nil }
        self.init(
            matched: decisions.count, changed: changed, refused: decisions.count - changed,
            dryRun: dryRun, items: decisions)
    }
}
