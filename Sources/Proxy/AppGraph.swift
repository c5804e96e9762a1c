package import HTTPMessage
package import Platform
package import SyncCore
package import TablesProtocol

/// The objects of a proxy without its sockets: the request handler and the loops behind it.
package struct AppGraph: Sendable {
    let routes: Routes
    let tenants: TenantRegistry
    let access: OperatorAccess
    let work: BackgroundWork
    let feed: EventFeed
    let changes: ClientChanges
    let backups: AutomaticBackups
    let notifier: Notifier

    /// Answers the requests that a server reads.
    package var handler: any HTTPHandler { routes }

    /// Warnings for the operator about the settings and the stores.
    package var warnings: [String] { get async { await routes.operatorAPI.status.warnings } }

    /// The loops that run beside the server, each until its task is cancelled.
    package var loops: [@Sendable () async -> Void] {
        [
            { await work.run() }, { await tenants.run() }, { await sendHeartbeats() },
            { await backups.run() }, { await notifier.run() },
        ]
    }

    private func sendHeartbeats() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(Limits.eventHeartbeatSeconds))
            feed.sendHeartbeat()
            changes.sendHeartbeat()
        }
    }

    /// Counts a request that the server refused by itself.
    package func count(_ reason: RefusalReason) { routes.rejections.count(reason) }

    /// Sets the addresses of `/tables` and of the dashboard, each as host and port.
    package func setAddresses(clients: String, dashboard: String) {
        routes.gate.currentRules.setAddresses(
            ListeningAddresses(clients: clients, dashboard: dashboard))
    }

    /// Makes a one-time link that signs a browser in.
    /// - Parameter host: host and port of the dashboard.
    package func makeLink(host: String) -> String {
        AccessRoutes.link(access.makeLink().value, host: host)
    }

    /// Ends the event streams and refuses new ones.
    package func closeStreams() {
        feed.closeAll()
        changes.closeAll()
    }

    /// Closes the stores, after the loops ended.
    package func close() async { await tenants.close() }
}

// For a command that runs without a server.
extension AppGraph {
    /// Runs the background work of the routes until the task is cancelled.
    package func runWork() async { await work.run() }

    package func operatorResponse(
        to request: Request
    ) async throws(TransportError) -> Response {
        guard let path = try? TargetPath(request) else {
            throw TransportError(reach: .notSent, cause: .invalid, message: "The path is invalid.")
        }
        switch routes.operatorAPI.handle(request, path) {
        case .now(let response): return response
        case .later(let start):
            return await withCheckedContinuation { continuation in
                start(Reply { continuation.resume(returning: $0) })
            }
        }
    }
}

// For the report to the service manager and the log.
extension AppGraph {
    /// The state of the engines of open stores, and the queue of the closed stores.
    package struct Health: Sendable {
        /// The states of the engines of the open stores.
        package let engines: [EngineStatus]
        /// The open operations of the closed stores.
        package let closedQueue: QueueCounts
        /// Whether every engine's loop runs.
        package let allEnginesRun: Bool
    }

    /// Asks every engine for its state. Waits for an engine that does not answer.
    package func health() async -> Health {
        var statuses: [EngineStatus] = []
        var allEnginesRun = true
        let (open, closed) = await tenants.census()
        for tenant in open {
            if let status = try? await tenant.engine.status() { statuses.append(status) }
            if await !tenant.engine.isLoopAlive { allEnginesRun = false }
        }
        return Health(
            engines: statuses,
            closedQueue: closed.sum?.ledger.queue ?? QueueCounts(),
            allEnginesRun: allEnginesRun)
    }
}

// For a reload of the settings, while requests are answered.
extension AppGraph {
    /// Replaces the guard's rules and the list of forwarded header fields, from the next request on.
    package func replace(rules: GuardRules, forwardedHeaders: [ForwardableName]) {
        routes.gate.currentRules.replace(with: rules)
        routes.tables.forwardedHeaders.replace(with: forwardedHeaders)
    }

    package func replace(webhook: Webhook?) async {
        await notifier.replace(with: webhook)
    }

    /// Changes the settings of every engine.
    package func changeSettings(
        _ change: @escaping @Sendable (inout SyncSettings) -> Void
    ) async throws {
        try await tenants.updateAll { settings throws(Problem) in
            var settings = settings
            change(&settings)
            return settings
        }
    }

    /// Changes the policies of tables in every store, and the standard of the tables for which none was chosen.
    /// - Returns: how many stores could not be opened; they get the policies when they are opened.
    package func change(_ policies: [PolicySetting]) async throws -> Int {
        try await changeSettings { $0.takeStandard(of: policies) }
        for setting in policies { try await tenants.anonymous.apply(setting) }
        return try await tenants.updateUsersTables(policies)
    }
}

/// The settings of a proxy, without those of its sockets.
package struct ProxyConfiguration: Sendable {
    package var backend: BackendAddress
    package var backendGeneration = BackendConfiguration.GenerationChoice.auto
    /// The value of `X-ZUMO-APPLICATION` for a first generation backend; nil for the one that clients send.
    package var applicationKey: String?
    package var folder: DataFolder
    /// The settings that the engines start with, but for the tables and the standard policies.
    package var sync = SyncSettings(checkCopies: .seconds(SyncLimits.checkCopiesSeconds))
    /// The only tables that are allowed; each sync pulls all of them. Nil allows any table.
    package var tables: [TableName]?
    /// The parts of tables that are copied in part.
    package var parts: [TableName: TablePart] = [:]
    /// Tables that every sync pulls, also before a client has asked for them.
    package var pulledTables: [TableName] = []
    /// Whether what was written without a sign-in is given to the next user who signs in.
    package var adoptsUnsigned = false
    /// The policies of single tables, and of all others.
    package var policies: [PolicySetting] = []
    /// Whether the changes of a client are sent before its call of a custom API, and its tables pulled after it.
    package var syncsCustomAPIs = true
    package var rules = GuardRules()
    /// The dashboard's own port; nil when it shares the clients' port.
    package var dashboardPort: UInt16?
    /// The header fields of clients that are forwarded to the backend.
    package var forwardedHeaders: [ForwardableName] = []
    /// Seconds for which a token is accepted that the backend does not confirm.
    package var offlineGraceSeconds = Limits.offlineGraceSeconds
    /// The largest size of each store in bytes; nil for no limit.
    package var diskBudgetBytes: Int?
    /// Whether a data folder of another backend is bound to this one.
    package var rebind = false
    /// Which users get which stores of another backend.
    package var takeovers: [StoreTakeover] = []
    /// The generation of clients whose requests do not show it.
    package var defaultGeneration = Generation.mobileApps
    package var backups = BackupPlan()
    /// Who is told what happens.
    package var webhook: Webhook?
    /// Whether writes are refused that the SDKs' own queues refuse.
    package var strictSDK = false

    /// The default settings for a backend and a data folder.
    package init(backend: BackendAddress, folder: DataFolder) {
        self.backend = backend
        self.folder = folder
    }

    /// The settings that the engines start with.
    var syncSettings: SyncSettings {
        var settings = sync
        settings.tables = tables ?? pulledTables
        settings.takeStandard(of: policies)
        return settings
    }
}

extension SyncSettings {
    /// Takes the policies of tables for which none was chosen.
    fileprivate mutating func takeStandard(of policies: [PolicySetting]) {
        let said = TablePolicies(policies, of: nil)
        (readPolicy, writePolicy) = (said.read ?? .standard, said.write ?? .standard)
    }
}
