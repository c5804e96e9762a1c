package import SyncCore
package import TablesProtocol

// Answers about the queue, conflicts and the history.
extension Answers {
    /// One operation of the queue.
    package struct OperationSummary: Codable, Sendable, Hashable {
        package let id: String
        /// Whose it is: `anonymous`, or the key of a user.
        package let identity: String
        /// Place in the queue.
        package let seq: Int64
        package let table: String
        package let itemId: String
        package let kind: OperationKind
        package let state: OperationState
        /// Why it is in this state, in plain words.
        package let reason: String?
        /// Give it back with retry, discard, edit and resolve.
        package let revision: Int
        package let attempts: Int
        /// True when an attempt may have reached the backend and no verdict came.
        package let maybeApplied: Bool
        package let createdAt: Instant
        package let firstAttemptAt: Instant?
        package let lastAttemptAt: Instant?
        /// When it is tried again; of a queued one, when its table is.
        package let nextAttemptAt: Instant?
        package let closedAt: Instant?
        /// HTTP status of the last answer.
        package let lastStatus: Int?
        package let lastError: String?
        package let changedColumns: [String]
        /// Short text of the item for a person.
        package let title: String?
    }

    /// One operation with its rows and attempts.
    package struct OperationDetail: Codable, Sendable, Hashable {
        package let summary: OperationSummary
        package let payload: Item?
        package let base: Item?
        package let mine: Item?
        package let server: Item?
        /// Header fields of the client that are sent with it (`--forward-header`), each as `Name: value`; of
        /// one that may sign in the name alone.
        package let headers: [String]
        package let attempts: [AttemptRecord]
    }

    /// One attempt to send an operation.
    package struct AttemptRecord: Codable, Sendable, Hashable {
        package let number: Int
        package let startedAt: Instant
        package let endedAt: Instant?
        package let method: String
        package let target: String
        /// The JSON body that was sent; null when none.
        package let requestBody: JSONValue
        /// `Name: value`; the values of secrets are left out.
        package let requestHeaders: [String]
        package let status: Int?
        /// At most 4 KiB; null for a request that ended well, which also keeps no body and header fields.
        package let responseExcerpt: String?
        /// `Name: value`; the values of secrets are left out.
        package let responseHeaders: [String]
        package let outcome: String
        package let error: String?
    }

    /// Operations that are in one state for one cause.
    package struct OperationGroup: Codable, Sendable, Hashable {
        package let state: OperationState
        /// The status of their last answer; null when none came.
        package let status: Int?
        /// Their reason. Where reasons differ only in numbers, ids, dates and quoted values, these are `#`,
        /// `<id>`, `<date>` and `“…”`.
        package let reason: String
        package let count: Int
        /// When the oldest was accepted.
        package let since: Instant
        /// When the first attempt for one of them began.
        package let firstTriedAt: Instant?
        /// When the latest attempt for one of them began.
        package let lastTriedAt: Instant?
    }

    /// The operation afterwards; null when the action left none.
    package struct ActionResult: Codable, Sendable, Hashable {
        package let operation: OperationSummary?
    }

    /// What became of an action on all operations that match.
    package struct BulkResult: PartialAnswer, Sendable, Hashable {
        package let matched: Int
        /// Operations it was done to; 0 in a dry run.
        package let changed: Int
        /// Operations it cannot be done to.
        package let refused: Int
        package let dryRun: Bool
        /// With `limit`: the operations it was done to.
        package let operations: [String]?
        /// With `limit`: pass it as `after` for the next part; null at the end.
        package let next: String??

        /// Makes the result of an action that was done at once, or counted.
        package init(matched: Int, changed: Int, refused: Int, dryRun: Bool) {
            (self.matched, self.changed, self.refused) = (matched, changed, refused)
            self.dryRun = dryRun
            (operations, next) = (nil, nil)
        }

        init(_ outcome: BulkOutcome, dryRun: Bool = false) {
            self.init(
                matched: outcome.matched, changed: outcome.done, refused: outcome.refused,
                dryRun: dryRun)
        }

        init(_ part: BulkPart) {
            matched = part.done.count + part.refused
            (changed, refused, dryRun) = (part.done.count, part.refused, false)
            (operations, next) = (part.done, .some(part.next))
        }
    }

    /// How many of some operations are in a state, with the same status and cause.
    package struct OperationOutcome: Codable, Sendable, Hashable {
        package let state: OperationState
        /// The status of the last answer; null for no answer.
        package let status: Int?
        /// The cause, or the reason itself if all of them have the same one; null without one.
        package let reason: String?
        package let count: Int
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

    /// What became of undoing the latest decision about one operation.
    package struct UndoneDecision: Codable, Sendable, Hashable {
        /// The id of the operation.
        package let operation: String
        /// Null when it was not undone.
        package let effect: UndoEffect?
        /// The effect, or why it was not undone, in a sentence for a person.
        package let sentence: String
    }

    /// How many operations were held back until now, so that their decisions could be undone.
    package struct SentDecisions: Codable, Sendable, Hashable {
        package let held: Int
    }

    /// base: the server's row that the change started from. mine: with the local change. server: as the
    /// backend has it now. proposed: the merge that `merged` takes.
    package struct ConflictDetail: Codable, Sendable, Hashable {
        /// The id of the operation.
        package let id: String
        /// Whose it is: `anonymous`, or the key of a user.
        package let identity: String
        package let table: String
        package let itemId: String
        package let revision: Int
        package let kind: OperationKind
        package let title: String?
        /// Why it is a conflict, in plain words.
        package let reason: String?
        package let base: Item?
        package let mine: Item?
        package let server: Item?
        package let mineDeleted: Bool
        package let serverDeleted: Bool
        package let fields: [ConflictField]
        package let proposed: Item?
        package let since: Instant
        package let mineAt: Instant
        package let mineActor: Actor
        /// The name of the capability address that the client used; null for none.
        package let mineClient: String?
        /// The backend's `updatedAt` of its row, as it sent it; null when there is none.
        package let serverAt: String?
    }

    /// A column in which the two sides of a conflict differ.
    package struct ConflictField: Codable, Sendable, Hashable {
        package let name: String
        /// Any JSON value; null also when the column is absent.
        package let base: JSONValue
        /// Any JSON value; null also when the column is absent.
        package let mine: JSONValue
        /// Any JSON value; null also when the column is absent.
        package let server: JSONValue
        /// Both sides changed it, to different values.
        package let overlaps: Bool
    }

    /// One thing that happened.
    package struct HistoryEntry: Codable, Sendable, Hashable {
        package let id: Int64
        /// Whose it is: `anonymous`, or the key of a user.
        package let identity: String
        package let at: Instant
        package let kind: HistoryKind
        package let actor: Actor
        /// The name of the capability address that the client used; null for none.
        package let client: String?
        package let table: String?
        package let itemId: String?
        package let operationId: String?
        /// A short text of the item.
        package let title: String?
        package let before: Item?
        package let after: Item?
        /// One sentence for a person.
        package let summary: String
        package let undoable: Bool
        /// The entry that undid this one.
        package let undoneBy: Int64?
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

extension Answers.OperationSummary {
    init(_ operation: SyncCore.OperationSummary) {
        self.init(
            id: operation.id, identity: operation.identity, seq: operation.seq,
            table: operation.table, itemId: operation.itemID, kind: operation.kind,
            state: operation.state, reason: operation.reason, revision: operation.revision,
            attempts: operation.attempts, maybeApplied: operation.maybeApplied,
            createdAt: operation.createdAt, firstAttemptAt: operation.firstAttemptAt,
            lastAttemptAt: operation.lastAttemptAt, nextAttemptAt: operation.nextAttemptAt,
            closedAt: operation.closedAt, lastStatus: operation.lastStatus,
            lastError: operation.lastError, changedColumns: operation.changedColumns,
            title: operation.title)
    }
}

extension Answers.OperationDetail {
    init(_ detail: SyncCore.OperationDetail) {
        self.init(
            summary: .init(detail.summary), payload: .init(detail.payload),
            base: .init(detail.base), mine: .init(detail.mine), server: .init(detail.server),
            headers: detail.headers, attempts: detail.attemptLog.map { .init($0) })
    }
}

extension Answers.AttemptRecord {
    init(_ attempt: SyncCore.AttemptRecord) {
        self.init(
            number: attempt.number, startedAt: attempt.startedAt, endedAt: attempt.endedAt,
            method: attempt.method, target: attempt.target, requestBody: .row(attempt.requestBody),
            requestHeaders: attempt.requestFields, status: attempt.status,
            responseExcerpt: attempt.responseExcerpt, responseHeaders: attempt.responseFields,
            outcome: attempt.outcome, error: attempt.error)
    }
}

extension Answers.OperationOutcome {
    init(_ outcome: SyncCore.OperationOutcome) {
        self.init(
            state: outcome.state, status: outcome.status, reason: outcome.reason,
            count: outcome.count)
    }
}

extension Answers.UndoneDecisions {
    init(_ decisions: [SyncCore.UndoneDecision], dryRun: Bool) {
        let changed = decisions.count { $0.undoing.effect != nil }
        self.init(
            matched: decisions.count, changed: changed, refused: decisions.count - changed,
            dryRun: dryRun,
            items: decisions.map {
                .init(
                    operation: $0.operation, effect: $0.undoing.effect,
                    sentence: $0.undoing.sentence)
            })
    }
}

extension Answers.OperationGroup {
    init(_ group: SyncCore.OperationGroup) {
        self.init(
            state: group.state, status: group.status, reason: group.reason, count: group.count,
            since: group.since, firstTriedAt: group.firstTriedAt, lastTriedAt: group.lastTriedAt)
    }
}

extension Answers.ConflictDetail {
    init(_ conflict: SyncCore.ConflictDetail) {
        self.init(
            id: conflict.id, identity: conflict.identity, table: conflict.table,
            itemId: conflict.itemID, revision: conflict.revision, kind: conflict.kind,
            title: conflict.title, reason: conflict.reason, base: .init(conflict.base),
            mine: .init(conflict.mine), server: .init(conflict.server),
            mineDeleted: conflict.mineDeleted, serverDeleted: conflict.serverDeleted,
            fields: conflict.fields.map { .init($0) }, proposed: .init(conflict.proposed),
            since: conflict.since, mineAt: conflict.mineAt, mineActor: .init(conflict.mineActor),
            mineClient: conflict.mineActor.clientName, serverAt: conflict.serverAt)
    }
}

extension Answers.ConflictField {
    init(_ field: SyncCore.ConflictDetail.Field) {
        self.init(
            name: field.name, base: .row(field.base), mine: .row(field.mine),
            server: .row(field.server), overlaps: field.overlaps)
    }
}

extension Answers.HistoryEntry {
    init(_ entry: SyncCore.HistoryEntry, identity: String) {
        self.init(
            id: entry.id, identity: identity, at: entry.at, kind: entry.kind,
            actor: .init(entry.actor), client: entry.actor.clientName,
            table: entry.table, itemId: entry.itemID, operationId: entry.operationID,
            title: entry.title, before: .init(entry.before), after: .init(entry.after),
            summary: entry.summary, undoable: entry.undoable, undoneBy: entry.undoneBy)
    }
}
