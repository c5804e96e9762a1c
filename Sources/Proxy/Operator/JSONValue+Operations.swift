import SyncCore
import TablesProtocol

// JSON of the queue, in the schemas of openapi.json.
extension JSONValue {
    /// One operation.
    static func operation(_ operation: OperationSummary) -> JSONValue {
        .members(
            ("id", .string(operation.id)), ("identity", .string(operation.identity)),
            ("seq", .number(operation.seq)), ("table", .string(operation.table)),
            ("itemId", .string(operation.itemID)), ("kind", .string(operation.kind.rawValue)),
            ("state", .string(operation.state.rawValue)), ("reason", .text(operation.reason)),
            ("revision", .number(operation.revision)), ("attempts", .number(operation.attempts)),
            ("maybeApplied", .bool(operation.maybeApplied)),
            ("createdAt", .time(operation.createdAt)),
            ("firstAttemptAt", .time(operation.firstAttemptAt)),
            ("lastAttemptAt", .time(operation.lastAttemptAt)),
            ("nextAttemptAt", .time(operation.nextAttemptAt)),
            ("closedAt", .time(operation.closedAt)), ("lastStatus", .number(operation.lastStatus)),
            ("lastError", .text(operation.lastError)),
            ("changedColumns", .array(operation.changedColumns.map { .string($0) })),
            ("title", .text(operation.title)))
    }

    /// A group of operations with one state, one status and one cause.
    static func group(_ group: OperationGroup) -> JSONValue {
        .members(
            ("state", .string(group.state.rawValue)), ("status", .number(group.status)),
            ("reason", .string(group.reason)), ("count", .number(group.count)),
            ("since", .time(group.since)), ("firstTriedAt", .time(group.firstTriedAt)),
            ("lastTriedAt", .time(group.lastTriedAt)))
    }

    /// One operation with its rows and attempts.
    static func operation(_ detail: OperationDetail) -> JSONValue {
        .members(
            ("summary", .operation(detail.summary)), ("payload", .row(detail.payload)),
            ("base", .row(detail.base)), ("mine", .row(detail.mine)),
            ("server", .row(detail.server)),
            ("headers", .array(detail.headers.map { .string($0) })),
            ("attempts", .array(detail.attemptLog.map { .attempt($0) })))
    }

    private static func attempt(_ attempt: AttemptRecord) -> JSONValue {
        .members(
            ("number", .number(attempt.number)), ("startedAt", .time(attempt.startedAt)),
            ("endedAt", .time(attempt.endedAt)), ("method", .string(attempt.method)),
            ("target", .string(attempt.target)), ("requestBody", .row(attempt.requestBody)),
            ("requestHeaders", .array(attempt.requestFields.map { .string($0) })),
            ("status", .number(attempt.status)),
            ("responseExcerpt", .text(attempt.responseExcerpt)),
            ("responseHeaders", .array(attempt.responseFields.map { .string($0) })),
            ("outcome", .string(attempt.outcome)), ("error", .text(attempt.error)))
    }

    /// One conflict.
    static func conflict(_ conflict: ConflictDetail) -> JSONValue {
        .members(
            ("id", .string(conflict.id)), ("identity", .string(conflict.identity)),
            ("table", .string(conflict.table)), ("itemId", .string(conflict.itemID)),
            ("revision", .number(conflict.revision)), ("kind", .string(conflict.kind.rawValue)),
            ("title", .text(conflict.title)), ("reason", .text(conflict.reason)),
            ("base", .row(conflict.base)), ("mine", .row(conflict.mine)),
            ("server", .row(conflict.server)), ("mineDeleted", .bool(conflict.mineDeleted)),
            ("serverDeleted", .bool(conflict.serverDeleted)),
            ("fields", .array(conflict.fields.map { .field($0) })),
            ("proposed", .row(conflict.proposed)), ("since", .time(conflict.since)),
            ("mineAt", .time(conflict.mineAt)),
            ("mineActor", .string(conflict.mineActor.kind)),
            ("mineClient", .text(conflict.mineActor.clientName)),
            ("serverAt", .text(conflict.serverAt)))
    }

    private static func field(_ field: ConflictDetail.Field) -> JSONValue {
        .members(
            ("name", .string(field.name)), ("base", .row(field.base)), ("mine", .row(field.mine)),
            ("server", .row(field.server)), ("overlaps", .bool(field.overlaps)))
    }

    /// One entry of the history.
    static func history(_ entry: HistoryEntry, identity: String) -> JSONValue {
        .members(
            ("id", .number(entry.id)), ("identity", .string(identity)), ("at", .time(entry.at)),
            ("kind", .string(entry.kind.rawValue)), ("actor", .string(entry.actor.kind)),
            ("client", .text(entry.actor.clientName)),
            ("imported", .bool(entry.actor.isElsewhere)),
            ("table", .text(entry.table)), ("itemId", .text(entry.itemID)),
            ("operationId", .text(entry.operationID)), ("title", .text(entry.title)),
            ("before", .row(entry.before)),
            ("after", .row(entry.after)), ("summary", .string(entry.summary)),
            ("undoable", .bool(entry.undoable)), ("undoneBy", .number(entry.undoneBy)))
    }

    /// The outcome of a bulk action.
    static func bulk(_ outcome: BulkOutcome, dryRun: Bool) -> JSONValue {
        .members(
            ("matched", .number(outcome.matched)), ("changed", .number(outcome.done)),
            ("refused", .number(outcome.refused)), ("dryRun", .bool(dryRun)))
    }

    /// The outcome of one part of a bulk action.
    static func bulk(_ part: BulkPart) -> JSONValue {
        .members(
            ("matched", .number(part.done.count + part.refused)),
            ("changed", .number(part.done.count)), ("refused", .number(part.refused)),
            ("dryRun", .bool(false)),
            ("operations", .array(part.done.map { .string($0) })), ("next", .text(part.next)))
    }
}
