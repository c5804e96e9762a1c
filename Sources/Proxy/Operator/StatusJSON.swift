package import SyncCore
package import TablesProtocol

// JSON of the status, in the schemas of openapi.json.
extension JSONValue {
    /// The backend.
    static func backend(_ backend: BackendStatus) -> JSONValue {
        .members(
            ("url", .string(backend.url)), ("state", .string(backend.state.rawValue)),
            ("reason", .string(backend.reason)), ("since", .time(backend.since)),
            ("nextTry", .time(backend.nextTry)), ("isAsked", .bool(backend.isAsked)),
            ("failedRequest", .failedRequest(backend.failedRequest)))
    }

    /// A request that failed; null for none.
    private static func failedRequest(_ request: FailedRequest?) -> JSONValue {
        guard let request else { return .null }
        return .members(
            ("method", .string(request.method)), ("path", .string(request.path)),
            ("status", .number(request.status)), ("at", .time(request.at)))
    }

    /// Why a table is put off; null while it is not.
    private static func wait(_ wait: TableWait?) -> JSONValue {
        guard let wait else { return .null }
        return .members(
            ("reason", .string(wait.reason)), ("since", .time(wait.since)),
            ("failures", .number(wait.failures)), ("nextTry", .time(wait.until)),
            ("isNamed", .bool(wait.notBefore != nil)),
            ("failedRequest", .failedRequest(wait.request)))
    }

    /// The addresses that this program listens on; null while it does not listen.
    static func addresses(_ addresses: ListeningAddresses?) -> JSONValue {
        guard let addresses else { return .null }
        return .members(
            ("clients", .string("http://\(addresses.clients)")),
            ("dashboard", .string("http://\(addresses.dashboard)/-/")))
    }

    /// Online or offline mode.
    static func mode(_ mode: EngineStatus.Mode) -> JSONValue {
        switch mode {
        case .online: .members(("mode", .string("online")), ("until", .null))
        case .offline(let until):
            .members(("mode", .string("offline")), ("until", .time(until)))
        }
    }

    /// Open operations by state.
    static func queue(_ queue: QueueCounts) -> JSONValue { .object(queueMembers(queue)) }

    private static func queueMembers(_ queue: QueueCounts) -> [JSONValue.Member] {
        [
            .init("queued", .number(queue.queued)), .init("waiting", .number(queue.waiting)),
            .init("sending", .number(queue.sending)), .init("unknown", .number(queue.unknown)),
            .init("conflict", .number(queue.conflict)),
            .init("quarantined", .number(queue.quarantined)),
        ]
    }

    /// The ledger.
    static func ledger(_ ledger: Ledger) -> JSONValue {
        .object(
            [
                .init("accepted", .number(ledger.accepted)),
                .init("applied", .number(ledger.applied)),
                .init("collapsed", .number(ledger.collapsed)),
                .init("discarded", .number(ledger.discarded)),
            ] + queueMembers(ledger.queue) + [.init("balances", .bool(ledger.balances))])
    }

    /// One table.
    static func table(_ table: TableStatus, identity: String) -> JSONValue {
        .members(
            ("identity", .string(identity)), ("name", .string(table.name)),
            ("items", .number(table.items)), ("pending", .number(table.pending)),
            ("isComplete", .bool(table.isComplete)), ("part", .text(table.part)),
            ("lastPull", .time(table.lastPull)),
            ("readPolicy", .string(table.readPolicy.rawValue)),
            ("writePolicy", .string(table.writePolicy.rawValue)),
            ("conflictPolicy", .string(table.conflictPolicy.rawValue)),
            ("unconditionalPolicy", .string(table.unconditionalPolicy.rawValue)),
            ("isPublic", .bool(table.isPublic)), ("idKind", .string(table.idKind.rawValue)),
            ("paging", .string(table.paging.rawValue)),
            (
                "parents",
                .array(
                    table.parents.map {
                        .members(("table", .string($0.table.text)), ("column", .string($0.column)))
                    })
            ), ("preserveHistory", .bool(table.preservesHistory)),
            ("warning", .text(table.warning)), ("pullError", .text(table.pullError)),
            ("pullsFailSince", .time(table.pullsFailSince)),
            ("pushWait", .wait(table.pushWait)), ("pullWait", .wait(table.pullWait)),
            ("setAside", .number(table.setAside)),
            ("indexes", .array(table.indexes.map { .index($0) }))
        )
    }

    /// One index of a table.
    private static func index(_ index: IndexStatus) -> JSONValue {
        .members(
            ("id", .number(Int(index.id))), ("columns", .array(index.columns.map { .string($0) })),
            ("builtAt", .time(index.builtAt)),
            ("percent", index.percent.map { .number($0) } ?? .null),
            ("problem", .text(index.problem)))
    }

    /// One run.
    static func run(_ run: Run, identity: String) -> JSONValue {
        .members(
            ("id", .string(run.id)), ("identity", .string(identity)),
            ("kind", .string(run.kind.rawValue)), ("state", .string(run.state.rawValue)),
            ("reason", .text(run.reason)), ("startedAt", .time(run.startedAt)),
            ("endedAt", .time(run.endedAt)), ("push", run.push.map { .push($0) } ?? .null),
            ("pull", .array(run.pull.map { .pull($0) })),
            ("progress", run.progress.map { .progress($0) } ?? .null))
    }

    private static func progress(_ progress: Run.Progress) -> JSONValue {
        .members(
            ("phase", .string(progress.phase.rawValue)), ("done", .number(progress.done)),
            ("total", progress.total.map { .number($0) } ?? .null))
    }

    private static func push(_ push: PushReport) -> JSONValue {
        .members(
            ("sent", .number(push.sent)), ("applied", .number(push.applied)),
            ("conflicts", .number(push.conflicts)), ("quarantined", .number(push.quarantined)),
            ("left", .number(push.left)))
    }

    private static func pull(_ pull: PullReport) -> JSONValue {
        .members(
            ("table", .string(pull.table)), ("requests", .number(pull.requests)),
            ("received", .number(pull.received)), ("total", .number(pull.total)),
            ("applied", .number(pull.applied)),
            ("skippedDirty", .number(pull.skippedDirty)), ("deleted", .number(pull.deleted)),
            ("error", .text(pull.error)))
    }

    /// The sample of one minute or step.
    static func sample(_ sample: Sample) -> JSONValue {
        let growth = sample.growth
        let failures = Sample.FailureCause.allCases.compactMap { cause in
            growth.failures[cause].map {
                JSONValue.members(("cause", .string(cause.rawValue)), ("count", .number($0)))
            }
        }
        let reach = Sample.Reach.allCases.compactMap { state in
            sample.reach[state].map {
                JSONValue.members(("state", .string(state.rawValue)), ("ms", .number($0)))
            }
        }
        return .members(
            ("at", .time(sample.at)), ("depth", .number(sample.depth)),
            ("largestDepth", .number(sample.largestDepth)),
            ("accepted", .number(growth.accepted)), ("applied", .number(growth.applied)),
            ("collapsed", .number(growth.collapsed)), ("discarded", .number(growth.discarded)),
            ("failures", .array(failures)),
            ("succeeded", .number(sample.succeeded)), ("failed", .number(sample.failed)),
            ("latencyMs", .number(sample.latencyMilliseconds)),
            ("p50Ms", .number(sample.answers.percentileMilliseconds(0.5))),
            ("p95Ms", .number(sample.answers.percentileMilliseconds(0.95))),
            ("p99Ms", .number(sample.answers.percentileMilliseconds(0.99))),
            ("reach", .array(reach)))
    }

    /// The refusals for one reason.
    static func rejection(_ entry: RejectionLog.Entry) -> JSONValue {
        .members(
            ("reason", .string(entry.reason.word)), ("status", .number(entry.reason.status)),
            ("count", .number(entry.count)), ("lastAt", .time(entry.lastAt)),
            ("lastDetail", .text(entry.lastDetail)), ("sentence", .string(entry.reason.sentence)))
    }

    /// The sync settings.
    static func settings(_ settings: SyncSettings) -> JSONValue {
        .members(
            ("triggers", .array(settings.triggers.map(\.rawValue).sorted().map { .string($0) })),
            ("intervalSeconds", .number(settings.interval.components.seconds)),
            ("debounceMs", .number(settings.debounce.wholeMilliseconds)),
            ("parallelism", .number(settings.parallelism)),
            ("maxAttempts", .number(settings.maxAttempts)),
            ("pageRows", .number(settings.pageRows)),
            ("tables", .array(settings.tables.map { .string($0.text) })))
    }

    /// The data of one event.
    static func event(_ event: Event) -> JSONValue {
        .members(
            ("id", .number(event.id)), ("identity", .string(event.identity)),
            ("table", .text(event.table)), ("itemId", .text(event.itemID)),
            ("opId", .text(event.operationID)))
    }
}

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

// Constructors for the JSON of the operator API. A field without a value is null, never absent.
extension JSONValue {
    /// An object from its members.
    package static func members(_ members: (String, JSONValue)...) -> JSONValue {
        .object(members.map { .init($0.0, $0.1) })
    }

    /// A whole number.
    package static func number(_ value: Int) -> JSONValue { .number(JSONNumber(Int64(value))) }

    /// A whole number.
    package static func number(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }

    /// A whole number or null.
    package static func number(_ value: Int?) -> JSONValue { value.map { .number($0) } ?? .null }

    /// A whole number or null.
    package static func number(_ value: Int64?) -> JSONValue { value.map { .number($0) } ?? .null }

    /// A text or null.
    package static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

    /// A time or null.
    package static func time(_ value: Instant?) -> JSONValue {
        value.map { .string($0.text) } ?? .null
    }

    /// A stored row or value, or null.
    package static func row(_ value: JSONText?) -> JSONValue { value?.value ?? .null }

    /// A page of a list, with the cursor of the next one and the number of all elements.
    package static func page(_ items: [JSONValue], next: String?, total: Int) -> JSONValue {
        .members(("items", .array(items)), ("next", .text(next)), ("total", .number(total)))
    }

    /// A page of a list of the store.
    package static func page<Element>(
        _ page: Page<Element>, _ element: (Element) -> JSONValue
    ) -> JSONValue {
        .page(page.items.map(element), next: page.next, total: page.total)
    }
}
