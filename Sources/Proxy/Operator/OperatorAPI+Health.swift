import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

// Health, metrics, the document, and the dashboard's files.
extension OperatorAPI {
    /// `GET /-/livez`: says that the process answers.
    func livez() -> Response { Self.health([("process", nil)]) }

    /// Whether durable writes can be accepted; offline counts as ready. With `verbose` it also reports
    /// checks that do not decide.
    func readyz(_ call: OperatorCall) async throws(Problem) -> Response {
        let verbose = call.query["verbose"].map { $0.isEmpty ? true : BooleanText.value($0) }
        guard let isVerbose = verbose ?? false else {
            throw .invalid(
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
    ) -> Response {
        let isOK = checks.allSatisfy { $0.failure == nil }
        let list =
            checks.map { check in
                JSONValue.members(
                    ("name", .string(check.name)), ("ok", .bool(check.failure == nil)),
                    ("detail", .string(check.failure ?? "ok")))
            }
            + details.map { detail in
                JSONValue.members(
                    ("name", .string(detail.name)), ("ok", .bool(true)),
                    ("detail", .string(detail.text)))
            }
        return .json(
            .members(("status", .string(isOK ? "ok" : "failing")), ("checks", .array(list))),
            status: isOK ? .ok : .serviceUnavailable)
    }

    /// `GET /-/metrics`: the metrics as a text for Prometheus.
    func metrics() async -> Response {
        var statuses: [EngineStatus] = []
        var contents: [String: Metrics.Contents] = [:]
        // Before the open engines, so that one that ends meanwhile is not counted twice.
        var times = tenants.endedRequestTimes.withLock { $0 }
        // Read together, so that a store which opens or closes while the engines are asked counts once.
        let (open, closed) = (tenants.all, tenants.closedStores)
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

    /// `GET /-/openapi.json`: the description of this API.
    func openAPI() -> Response {
        Response(
            status: .ok,
            headerFields: [.contentType: "application/json", .cacheControl: "no-cache"],
            body: PackageResources.openapi_json)
    }

    /// A file of the dashboard. A browser at `[::1]` is redirected to `localhost`: a content security
    /// policy cannot name an IPv6 address.
    func dashboardFile(_ name: String, _ call: OperatorCall) throws(Problem) -> Response {
        let authority = call.request.head.authority ?? ""
        if authority.hasPrefix("[") {
            let port = Substring(authority.utf8.drop { $0 != UInt8(ascii: "]") }.dropFirst())
            let file = name == "index.html" ? "" : name
            return Response(
                status: .found,
                headerFields: [
                    .location: "http://localhost\(port)/-/\(file)", .cacheControl: "no-store",
                ])
        }
        guard let file = DashboardFile.named(name) else {
            throw .notFound("The dashboard has no file \(name).")
        }
        return file.response(authority: authority, asked: call.request.head.headerFields)
    }
}

/// Tests that the stores can be written, at most once in ``Limits/readinessMilliseconds``: the test is a
/// write, and any program of the machine may cause it.
actor Readiness {
    /// The result of a test.
    struct Finding: Sendable, Hashable {
        /// The number of stores that were written.
        var stores = 0
        /// The number of stores that failed.
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
