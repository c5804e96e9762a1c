import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import Synchronization
import TablesProtocol

/// Health and metrics, without a sign-in, and the description of this API.
struct HealthRoutes: Sendable {
    let tenants: TenantRegistry
    let readiness: Readiness
    let clientRequests: ClientRequestTimes
    let rejections: RejectionLog
    let refusedWrites: RefusedWrites
    let backups: AutomaticBackups
    /// The data folder, whose disk the metrics measure.
    let folder: DataFolder
    let now: @Sendable () -> Instant

    static let livez = Route<Answers.Health>(
        .get, "/-/livez", "livez", .health, "Alive", answers: "The process answers.", of: .page)
    static let readyz = Route<Answers.Health>(
        .get, "/-/readyz", "readyz", .health, "Can take a durable write",
        answers: "A durable write can be taken. Being offline is ready.", of: .page,
        query: [verbose],
        also: [503: "A durable write cannot be taken; the failing check says why."])
    static let metrics = Route<Response>(
        .get, "/-/metrics", "metrics", .health, "Prometheus text",
        answers: "Prometheus text format 0.0.4.", of: .page, media: "text/plain")
    static let document = Route<JSONValue>(
        .get, "/-/openapi.json", "openapi", .health, "This document", answers: "OpenAPI 3.1.",
        of: .page)

    var routes: [OperatorRoute] {
        [
            .now(Self.livez) { _ in Self.health([("process", nil)]) },
            .later(Self.readyz, readyz), .later(Self.metrics, metrics),
            .now(Self.document) { _ in
                Response(
                    status: .ok,
                    headerFields: [.contentType: "application/json", .cacheControl: "no-cache"],
                    body: PackageResources.openapi_json)
            },
        ]
    }

    private static let verbose = Field<String>(
        "verbose", .word(["", "yes", "no", "true", "false"]),
        "Alone, yes or true: also the checks that do not decide: backend, sync loop, disk.")

    /// Whether durable writes can be accepted; offline counts as ready. With `verbose` it also reports
    /// checks that do not decide.
    private func readyz(_ call: OperatorCall) async throws -> Answered<Answers.Health> {
        let verbose = call.query[Self.verbose].map { $0.isEmpty ? true : BooleanText.value($0) }
        guard let isVerbose = verbose ?? false else {
            throw Problem.invalid(
                "verbose stands alone, or is \(BooleanText.allowed).", parameter: "verbose")
        }
        let finding = await readiness.finding()
        let failure = finding.reason.map {
            "\(finding.failed) of \(finding.stores) cannot be written: \($0)"
        }
        let details = isVerbose ? await details() : []
        return Self.health([("stores", failure)], details: details)
    }

    /// The checks that do not decide: the anonymous engine's state of the backend, how many engines run,
    /// and how many users' stores could not be opened, which affects no other user. The answer needs no
    /// sign-in, so it names no user.
    private func details() async -> [(String, String)] {
        let all = tenants.all
        var running = 0
        for tenant in all {
            if await tenant.engine.isLoopAlive { running += 1 }
        }
        let backend = try? await tenants.anonymous.engine.status().backend
        let failed = tenants.closedStores.failed
        return [
            ("backend", backend.map { "\($0.state.rawValue): \($0.reason)" } ?? "not known"),
            ("sync", "\(running) of \(all.count) go round"),
        ] + (failed == 0 ? [] : [("closed stores", "\(failed) could not be opened")])
    }

    private static func health(
        _ checks: [(name: String, failure: String?)], details: [(name: String, text: String)] = []
    ) -> Answered<Answers.Health> {
        let isOK = checks.allSatisfy { $0.failure == nil }
        let health = Answers.Health(
            status: isOK ? .ok : .failing,
            checks: checks.map { check in
                .init(
                    name: check.name, ok: check.failure == nil, detail: check.failure ?? "ok")
            } + details.map { .init(name: $0.name, ok: true, detail: $0.text) })
        return Answered(health, isOK ? .ok : .serviceUnavailable)
    }

    /// The metrics as a text for Prometheus.
    private func metrics(_: OperatorCall) async -> Response {
        var statuses: [EngineStatus] = []
        var contents: [String: Metrics.Contents] = [:]
        // Before the open engines, so that one that ends meanwhile is not counted twice.
        var times = tenants.endedRequestTimes.withLock { $0 }
        // A store that opens or closes while the engines are asked counts once.
        let (open, closed) = await tenants.census()
        let closedStalls = tenants.tenantStates.withLock {
            $0.values.reduce(0) { $0 + ($1.memory?.stalls ?? 0) }
        }
        for tenant in open {
            if let status = try? await tenant.engine.status() { statuses.append(status) }
            contents[tenant.identity] = await Metrics.Contents(of: tenant.store)
            times.add(tenant.engine.requestTimes)
        }
        let text = Metrics(
            statuses: statuses, closed: closed, closedStalls: closedStalls,
            contents: contents, requestTimes: times, clientRequests: clientRequests.all,
            rejections: rejections.all, refusedWrites: refusedWrites.totals,
            freeBytes: Files.freeBytes(folder.path),
            process: ProcessUsage.read(), backups: await backups.state, now: now()
        ).text
        return Response(
            status: .ok,
            headerFields: [
                .contentType: "text/plain; version=0.0.4; charset=utf-8",
                .cacheControl: "no-store",
            ], body: Array(text.utf8))
    }
}

/// Tests that the stores can be written, at most once in ``Limits/readinessMilliseconds``: the test is a
/// write, and any program of the machine may cause it.
actor Readiness {
    struct Finding: Sendable, Hashable {
        var stores = 0
        var failed = 0
        /// Why the first of them failed.
        var reason: String?
    }

    private let now: @Sendable () -> Instant
    private let prove: @Sendable () async -> Finding
    private var last: (at: Instant, finding: Task<Finding, Never>)?

    /// - Parameters:
    ///   - now: the clock.
    ///   - prove: writes to each store.
    init(
        now: @escaping @Sendable () -> Instant, prove: @escaping @Sendable () async -> Finding
    ) {
        self.now = now
        self.prove = prove
    }

    /// The result of the last test, or of a new one if that is too old. Callers that come during a test get
    /// its result.
    func finding() async -> Finding {
        let at = now()
        if let last,
            (0..<Limits.readinessMilliseconds).contains(
                at.milliseconds - last.at.milliseconds)
        {
            return await last.finding.value
        }
        // Unstructured, so that a cancelled caller does not end the test for the others. This caller awaits
        // it, and it ends when `prove` returns.
        let proof = Task { [prove] in await prove() }
        last = (at, proof)
        return await proof.value
    }
}
