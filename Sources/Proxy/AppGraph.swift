package import HTTPMessage
package import SyncCore

/// A proxy without its sockets: what answers requests, and what runs behind it.
package struct AppGraph: Sendable {
    let routes: Routes
    let tenants: TenantRegistry
    let access: OperatorAccess
    let work: BackgroundWork
    let feed: EventFeed

    /// Answers the requests that a server reads.
    package var handler: any HTTPHandler { routes }

    /// What the settings should make the operator think about.
    package var warnings: [String] { routes.operatorAPI.warnings }

    /// What runs behind the routes, each until its task is cancelled.
    package var loops: [@Sendable () async -> Void] {
        [{ await work.run() }, { await tenants.run() }, { await beat() }]
    }

    private func beat() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(Limits.eventHeartbeatSeconds))
            feed.beat()
        }
    }

    /// Counts a request that the server refused by itself.
    package func count(_ reason: RefusalReason) { routes.rejections.count(reason) }

    /// Records where clients and the dashboard find the program, as host and port.
    package func listens(clients: String, dashboard: String) {
        routes.gate.currentRules.listens(
            at: ListeningAddresses(clients: clients, dashboard: dashboard))
    }

    /// A link that signs a browser in, once.
    /// - Parameter host: host and port of the dashboard.
    package func makeLink(host: String) -> String {
        OperatorAPI.link(access.makeLink().value, host: host)
    }

    /// Ends the event streams; none is opened any more.
    package func closeStreams() { feed.closeAll() }

    /// Closes the stores, after the loops ended.
    package func close() async { await tenants.close() }
}

// What a command asks while no server runs.
extension AppGraph {
    /// Runs what the routes need to answer, until the task is cancelled.
    package func runWork() async { await work.run() }

    /// Answers a request to the operator API.
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

// What the process that runs it reports.
extension AppGraph {
    /// How the engines of the open stores stand, and what the closed stores hold.
    package struct Health: Sendable {
        package let engines: [EngineStatus]
        /// The open operations of the closed stores.
        package let closedQueue: QueueCounts
        /// Every engine runs.
        package let areAllAlive: Bool
    }

    /// Asks every engine. One that does not answer keeps the caller waiting.
    package func health() async -> Health {
        var statuses: [EngineStatus] = []
        var areAllAlive = true
        for tenant in tenants.all {
            if let status = try? await tenant.engine.status() { statuses.append(status) }
            if await !tenant.engine.isGoingRound { areAllAlive = false }
        }
        return Health(
            engines: statuses,
            closedQueue: tenants.closedStores.sum?.ledger.queue ?? QueueCounts(),
            areAllAlive: areAllAlive)
    }
}

// What a reload of the settings changes while requests are answered.
extension AppGraph {
    /// Lets other rules of the guard and another list of header fields hold from the next request on.
    package func replace(rules: GuardRules, forwardedHeaders: [ForwardableName]) {
        routes.gate.currentRules.replace(with: rules)
        routes.tables.forwardedHeaders.replace(with: forwardedHeaders)
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

    /// Changes the policies of tables in every store.
    /// - Returns: how many stores could not be opened; they take the policies in when they can.
    package func change(_ policies: [PolicySetting]) async throws -> Int {
        for setting in policies {
            _ = try await tenants.anonymous.store.updateTable(
                setting.table, setting.policies.apply)
        }
        return try await tenants.updateUsersTables(policies)
    }
}
