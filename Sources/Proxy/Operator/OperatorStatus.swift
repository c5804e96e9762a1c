import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import Synchronization
import TablesProtocol

// Status, mode, settings and samples.
extension OperatorAPI {
    /// `GET /status`: the state of the backend, the queue, the ledger and the tables.
    func status(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let status = try await mappingErrors { () throws(StoreError) in
            try await tenant.engine.status()
        }
        let current = await tenant.engine.runs().first { $0.state == .running }
        let all = await warnings + status.warnings
        return .json(
            Answers.Status(
                identity: tenant.identity, version: Version.text, startedAt: startedAt,
                addresses: rules.addresses.map { .init($0) }, backend: status.backend,
                mode: .init(status.mode), queue: status.queue,
                ledger: .init(status.ledger),
                tables: status.tables.map { .init($0, identity: tenant.identity) },
                wantedTables: wantedTables.map(\.text), lastSync: status.lastSync,
                nextSync: status.nextSync,
                currentRun: current, warnings: all,
                rejectedRequests: rejections.total, identities: tenants.identities,
                unsigned: await tenants.unsigned().map {
                    .init(operations: $0.operations, identity: $0.user, sentence: $0.sentence)
                }))
    }

    /// The tables that clients of any identity have read, and that no sync has pulled.
    private var wantedTables: [TableName] {
        var wanted: [TableName] = []
        for table in tenants.all.flatMap(\.store.wantedTables) where !wanted.contains(table) {
            wanted.append(table)
        }
        return wanted
    }

    /// `POST /mode`: goes offline or online by choice.
    func setMode(_ call: OperatorCall) async throws(Problem) -> Response {
        let isForAll = call.query["identity"] == nil
        let mode: EngineStatus.Mode
        let seconds = call.body["forSeconds"]?.integer
        if call.body["mode"]?.string == "offline" {
            mode = .offline(until: seconds.map { now().adding(seconds: $0) })
        } else if seconds == nil {
            mode = .online
        } else {
            throw .invalid("forSeconds goes with the mode offline.", pointer: "/forSeconds")
        }
        if isForAll {
            await tenants.setModeOfAll(mode)
        } else {
            let tenant = try await tenant(call)
            await tenant.engine.setMode(mode)
            await tenant.refreshBackendStatus()
        }
        return .json(Answers.Mode(mode))
    }

    /// `GET /rejections`: counts the requests that the guard refused, by reason.
    func rejectionList(_: OperatorCall) -> Response {
        .json(Page(rejections.all.map { Answers.Rejection($0) }))
    }

    /// `GET /settings`: the settings of sync.
    func settings(_ call: OperatorCall) async throws(Problem) -> Response {
        .json(Answers.Settings(await (try await tenant(call)).engine.settings))
    }

    /// `PATCH /settings`: changes the settings of sync.
    func changeSettings(_ call: OperatorCall) async throws(Problem) -> Response {
        let patch = SettingsPatch(call.body)
        guard call.query["identity"] == nil else {
            let tenant = try await tenant(call)
            try await tenant.engine.update(patch.applied(to:))
            return .json(Answers.Settings(await tenant.engine.settings))
        }
        try await tenants.updateAll(patch.applied(to:))
        return .json(Answers.Settings(await tenants.anonymous.engine.settings))
    }

    /// `GET /samples`: the samples of each minute.
    func samples(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let seconds =
            try call.number("sinceSeconds", in: 1...Limits.sampleSecondsMax) ?? Limits.sampleSeconds
        let step =
            try call.number(
                "stepSeconds", in: Limits.sampleStepSeconds...Limits.sampleStepSecondsMax)
            ?? Limits.sampleStepSeconds
        guard step % Limits.sampleStepSeconds == 0 else {
            throw .invalid(
                "stepSeconds must be whole minutes: a multiple of 60.", parameter: "stepSeconds")
        }
        let since = now().adding(seconds: -Int64(seconds))
        let samples = try await mappingErrors { () throws(StoreError) in
            try await tenant.engine.samples(since: since, stepSeconds: step)
        }
        return .json(Page(samples.map { Answers.Sample($0) }))
    }
}

/// A change of settings from a request; a setting that is not named stays.
struct SettingsPatch {
    private let body: JSONValue

    /// - Parameter body: the body of the request.
    init(_ body: JSONValue) {
        self.body = body
    }

    func applied(to settings: SyncSettings) throws(Problem) -> SyncSettings {
        SyncSettings(
            triggers: try triggers() ?? settings.triggers,
            interval: try number("intervalSeconds", 1...Limits.syncIntervalSecondsMax).map {
                .seconds($0)
            }
                ?? settings.interval,
            debounce: try number("debounceMs", 0...Limits.debounceMillisecondsMax).map {
                .milliseconds($0)
            }
                ?? settings.debounce,
            parallelism: try number("parallelism", 1...SyncLimits.parallelPushes)
                ?? settings.parallelism,
            tables: try tables() ?? settings.tables, trustedTables: settings.trustedTables,
            maxAttempts: try number("maxAttempts", 1...Limits.attemptsMax) ?? settings.maxAttempts,
            pageRows: try number("pageRows", 1...SyncLimits.pullPageRows) ?? settings.pageRows,
            retention: settings.retention, checkCopies: settings.checkCopies)
    }

    private func number(_ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let value = body[name] else { return nil }
        guard let number = value.integer.flatMap({ Int(exactly: $0) }), range.contains(number)
        else {
            throw .invalid(
                "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    private func triggers() throws(Problem) -> Set<Trigger>? {
        guard let value = body["triggers"] else { return nil }
        let words = value.array?.map { $0.string.flatMap(Trigger.init(rawValue:)) }
        guard let words, !words.contains(nil) else {
            let all = Trigger.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("triggers must be a list of some of \(all).", pointer: "/triggers")
        }
        // A manual sync is always allowed.
        return Set(words.compactMap { $0 }).union([.manual])
    }

    private func tables() throws(Problem) -> [TableName]? {
        guard let value = body["tables"] else { return nil }
        let names = value.array?.map { $0.string.flatMap { TableName($0) } }
        guard let names, !names.contains(nil) else {
            throw .invalid("tables must be a list of names of tables.", pointer: "/tables")
        }
        return names.compactMap { $0 }
    }
}

// Health, metrics, the document, and the dashboard's files.
extension OperatorAPI {
    /// `GET /-/livez`: says that the process answers.
    func livez(_: OperatorCall) -> Response { Self.health([("process", nil)]) }

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
        let health = Answers.Health(
            status: isOK ? .ok : .failing,
            checks: checks.map { check in
                .init(
                    name: check.name, ok: check.failure == nil, detail: check.failure ?? "ok")
            } + details.map { .init(name: $0.name, ok: true, detail: $0.text) })
        return .json(health, status: isOK ? .ok : .serviceUnavailable)
    }

    /// `GET /-/metrics`: the metrics as a text for Prometheus.
    func metrics(_: OperatorCall) async -> Response {
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

    /// `GET /-/openapi.json`: the description of this API.
    func openAPI(_: OperatorCall) -> Response {
        Response(
            status: .ok,
            headerFields: [.contentType: "application/json", .cacheControl: "no-cache"],
            body: PackageResources.openapi_json)
    }

    /// `GET /-/`: the page of the dashboard.
    func startPage(_ call: OperatorCall) throws(Problem) -> Response {
        try dashboardFile("index.html", call)
    }

    /// `GET /-/{file}` and `GET /-/{folder}/{file}`: a file of the dashboard.
    func dashboardFile(_ call: OperatorCall) throws(Problem) -> Response {
        let folder = call.parameter("folder")
        let file = call.parameter("file")
        return try dashboardFile(folder.isEmpty ? file : "\(folder)/\(file)", call)
    }

    /// A file of the dashboard. A browser at `[::1]` is redirected to `localhost`: a content security
    /// policy cannot name an IPv6 address.
    private func dashboardFile(_ name: String, _ call: OperatorCall) throws(Problem) -> Response {
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
