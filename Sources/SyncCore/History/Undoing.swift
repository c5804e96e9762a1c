import Storage
import TablesProtocol

public enum UndoEffect: String, Codable, Sendable, Hashable, CaseIterable {
    /// The conflict opens again with its three versions; nothing of the decision was sent.
    case reopened
    /// The change is in the queue again as it was.
    case restored
    /// The change was not sent, so the item is as it was and nothing is sent for it.
    case unsent
    /// The change was sent: a new one sets back what it changed.
    case reverted
    /// The change was sent, and another writer changed the same since: a conflict asks whose values to keep.
    case clashed
}

/// The outcome of an undo, or of its dry run.
public struct Undoing: Sendable, Hashable {
    /// Whether it is done, and the item's last open operation.
    public var outcome: ActionOutcome
    /// What it does; nil unless it is done.
    public var effect: UndoEffect?
    /// One sentence for a person: what it does, or why it is not possible.
    public var sentence: String
}

/// What became of undoing the latest decision about one operation.
public struct UndoneDecision: Codable, Sendable, Hashable {
    /// The id of the operation.
    public var operation: OperationID
    /// Null when it was not undone.
    public var effect: UndoEffect?
    /// The effect, or why it was not undone, in a sentence for a person.
    public var sentence: String
}

extension EntryUndo {
    func undoing(_ entry: Int64) throws -> Undoing {
        guard let found = try history.entry(entry) else {
            return Undoing(outcome: .notFound, sentence: "There is no such entry in the history.")
        }
        // Read before it is undone.
        let point = try history.undoPoint(of: found)
        let wasSent = try wasSent(found, point)
        let outcome = try undo(entry)
        switch outcome {
        case .refused(let reason): return Undoing(outcome: outcome, sentence: reason)
        case .changed, .notFound:
            return Undoing(outcome: outcome, sentence: "There is nothing to undo.")
        case .done(let last):
            let isConflict = last?.state == .conflict
            let effect: UndoEffect =
                if wasSent {
                    isConflict ? .clashed : .reverted
                } else if point != nil {
                    isConflict ? .reopened : .restored
                } else if found.kind == .purged {
                    .restored
                } else {
                    .unsent
                }
            return Undoing(
                outcome: outcome, effect: effect,
                sentence: found.kind == .purged
                    ? "The changes are in the queue again, as they were."
                    : Self.sentence(effect, last, point))
        }
    }

    /// Whether what the entry is about was sent, or may have been.
    private func wasSent(_ entry: HistoryRow, _ point: UndoPoint?) throws -> Bool {
        if let point {
            guard case .sent = try DecisionUndo(transaction: transaction).way(entry, point) else {
                return false
            }
            return true
        }
        if entry.kind == .purged { return false }
        guard let id = entry.operationID, let operation = try queue.operation(id: id) else {
            return true
        }
        return operation.state == .done || operation.mayHaveReached
    }

    private static func sentence(
        _ effect: UndoEffect, _ last: OperationSummary?, _ point: UndoPoint?
    ) -> String {
        switch effect {
        case .reopened:
            return "The conflict is open again, with all three versions."
                + (point?.copy == nil
                    ? "" : " The copy of yours is deleted, unless it was changed since.")
        case .restored: return "The change is in the queue again, as it was."
        case .unsent: return "It was not sent: the row is as it was before."
        case .reverted:
            let sent =
                point == nil ? "It was sent already" : "It was sent already, so no conflict opens"
            let next = last.map { " The next sync sends a new change: \(what($0))." } ?? ""
            return "\(sent).\(next)"
        case .clashed:
            return
                "It was sent already, and the row was changed since: a new conflict asks whose values "
                + "to keep."
        }
    }

    /// What a new change does to the row.
    private static func what(_ last: OperationSummary) -> String {
        switch last.kind {
        case .delete: "it deletes the row"
        case .insert, .undelete: "it brings the row back"
        case .update, .replace:
            "it sets back \(last.changedColumns.formatted)"
        }
    }
}

extension [String] {
    /// The names as a person writes them: `“a”, “b” and “c”`.
    fileprivate var formatted: String {
        let quoted = map { "“\($0)”" }
        guard let last = quoted.last, count > 1 else { return quoted.first ?? "nothing" }
        return "\(quoted.dropLast().joined(separator: ", ")) and \(last)"
    }
}

extension Store {
    /// Undoes an entry of history.
    /// - Parameter dryRun: only says what it would do.
    public func undo(_ entry: Int64, dryRun: Bool = false) async throws(StoreError) -> Undoing {
        let undo: @Sendable (Transaction) throws -> Undoing = {
            try EntryUndo(transaction: $0).undoing(entry)
        }
        return dryRun ? try await preview(undo) : try await write(undo)
    }

    /// Undoes the latest decision about each of these operations, where it can be undone: a settled
    /// conflict or a discarded operation.
    /// - Parameters:
    ///   - operations: in the order of the undo, the one that was decided last first.
    ///   - dryRun: only says what it would do.
    public func undoDecisions(
        _ operations: [OperationID], dryRun: Bool = false
    ) async throws(StoreError) -> [UndoneDecision] {
        var undone: [UndoneDecision] = []
        for start in stride(from: 0, to: operations.count, by: StoreLimits.groupWrites) {
            let part = operations[start..<min(start + StoreLimits.groupWrites, operations.count)]
            let undo: @Sendable (Transaction) throws -> [UndoneDecision] = { transaction in
                try part.map { id in
                    let undoing = try Self.undoDecision(about: id, transaction)
                    return UndoneDecision(
                        operation: id, effect: undoing.effect, sentence: undoing.sentence)
                }
            }
            undone += dryRun ? try await preview(undo) : try await write(undo)
        }
        return undone
    }

    private static func undoDecision(
        about id: OperationID, _ transaction: Transaction
    ) throws -> Undoing {
        guard let entry = try transaction.history.decision(about: id) else {
            return Undoing(
                outcome: .notFound, sentence: "There is no decision about it that can be undone.")
        }
        return try transaction.entryUndo.undoing(entry)
    }
}
