import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Health, metrics, the document, and the dashboard's files.
extension OperatorAPI {
    func livez() -> Response { Self.health([("process", nil)]) }

    /// Ready means that a durable write can be taken; being offline is ready. With `verbose` it also
    /// tells what does not decide.
    func readyz(_ call: OperatorCall) async -> Response {
        let finding = await readiness.finding()
        let failure = finding.reason.map {
            "\(finding.failed) of \(finding.stores) cannot be written: \($0)"
        }
        let told = call.query["verbose"] == nil ? [] : await detail()
        return Self.health([("stores", failure)], told: told)
    }

    /// What does not decide: the backend as requests without a token find it, how many engines go round,
    /// and how many users' stores could not be opened, which hold up no other user. No user is named,
    /// since no sign-in is asked for.
    private func detail() async -> [(String, String)] {
        let all = tenants.all
        var going = 0
        for tenant in all {
            if await tenant.engine.isGoingRound { going += 1 }
        }
        let backend = try? await tenants.anonymous.engine.status().backend
        let failed = tenants.closedStores.failed
        return [
            ("backend", backend.map { "\($0.state.rawValue): \($0.reason)" } ?? "not known"),
            ("sync", "\(going) of \(all.count) go round"),
        ] + (failed == 0 ? [] : [("closed stores", "\(failed) could not be opened")])
    }

    private static func health(
        _ checks: [(name: String, failure: String?)], told: [(name: String, text: String)] = []
    ) -> Response {
        let isOK = checks.allSatisfy { $0.failure == nil }
        let list =
            checks.map { check in
                JSONValue.members(
                    ("name", .string(check.name)), ("ok", .bool(check.failure == nil)),
                    ("detail", .string(check.failure ?? "ok")))
            }
            + told.map { one in
                JSONValue.members(
                    ("name", .string(one.name)), ("ok", .bool(true)), ("detail", .string(one.text)))
            }
        return .json(
            .members(("status", .string(isOK ? "ok" : "failing")), ("checks", .array(list))),
            status: isOK ? .ok : .serviceUnavailable)
    }

    func metrics() async -> Response {
        var statuses: [EngineStatus] = []
        var oldest: [String: Instant] = [:]
        var times = RequestTimes()
        for tenant in tenants.all {
            if let status = try? await tenant.engine.status() { statuses.append(status) }
            let first = try? await tenant.store.operations(OperationFilter(), after: nil, limit: 1)
            oldest[tenant.identity] = first?.items.first?.createdAt
            times.add(tenant.engine.requestTimes)
        }
        let text = Metrics(
            statuses: statuses, closed: tenants.closedStores, oldest: oldest, requestTimes: times,
            rejections: rejections.all,
            startedAt: startedAt, now: now()
        ).text
        return Response(
            status: .ok,
            headerFields: [
                .contentType: "text/plain; version=0.0.4; charset=utf-8",
                .cacheControl: "no-store",
            ], body: Array(text.utf8))
    }

    func openAPI() -> Response {
        Response(
            status: .ok,
            headerFields: [.contentType: "application/json", .cacheControl: "no-cache"],
            body: PackageResources.openapi_json)
    }

    /// A file of the dashboard. At `[::1]` the browser is led to the name of the same place.
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
        return file.response(authority: authority)
    }
}

/// Proves that the stores can take a durable write, at most once in ``Limits/readinessMilliseconds``:
/// a proof is a write, and any program of the machine may ask for one.
actor Readiness {
    /// How many of so many stores failed, and why the first of them did.
    struct Finding: Sendable, Hashable {
        var stores = 0
        var failed = 0
        var reason: String?
    }

    private let now: @Sendable () -> Instant
    private let prove: @Sendable () async -> Finding
    private var last: (at: Instant, finding: Task<Finding, Never>)?

    /// - Parameter prove: writes to each store.
    init(
        now: @escaping @Sendable () -> Instant, prove: @escaping @Sendable () async -> Finding
    ) {
        self.now = now
        self.prove = prove
    }

    /// What the last proof found, or a new one where that is too old. All that ask while a proof runs
    /// get its finding.
    func finding() async -> Finding {
        let at = now()
        if let last,
            (0..<Limits.readinessMilliseconds).contains(
                at.milliseconds - last.at.milliseconds)
        {
            return await last.finding.value
        }
        // Unstructured, so that a caller who goes away does not end the proof for the others. The caller
        // below awaits it, and it ends with `prove`, which writes once to each store.
        let proof = Task { [prove] in await prove() }
        last = (at, proof)
        return await proof.value
    }
}
