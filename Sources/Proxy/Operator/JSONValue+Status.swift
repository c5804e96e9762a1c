import SyncCore
import TablesProtocol

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

    /// One index of a table, built or suggested.
    private static func index(_ index: IndexStatus) -> JSONValue {
        .members(
            ("id", .number(Int(index.id))), ("columns", .array(index.columns.map { .string($0) })),
            ("queries", .number(index.queries)), ("seenAt", .time(index.seenAt)),
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
