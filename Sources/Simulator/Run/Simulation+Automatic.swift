import SyncCore
import TablesProtocol

/// Runs in which the engines sync by themselves.
extension Simulation {
    /// Advances the time as a process sees it: to the next moment for which a task waits, and then runs
    /// every ready task.
    ///
    /// 1. Before each interval: check whether something is due and could be sent.
    /// 2. If so, and no request is made in the interval, its length counts as waiting. A request resets the
    ///    count.
    /// 3. Waiting for longer than the schedule may wait between two probes, and 10 s, is a fault.
    func pass(_ time: Duration) async throws {
        let end = clock.uptime() + time
        await executor.quiet()
        while clock.uptime() < end, faults.isEmpty {
            var before: [Int: Int] = [:]
            let began = clock.uptime()
            let requests = proxies.map(\.transport.requests)
            for proxy in proxies {
                if !proxy.transport.isClear { proxy.awaySince = proxy.awaySince ?? began }
                guard try await isWaiting(proxy) else { continue }
                before[proxy.number] = proxy.transport.requests
            }
            let next = min(clock.nextDeadline ?? end, end)
            clock.advance(by: max(next - began, .milliseconds(1)))
            await executor.quiet()
            for (proxy, requests) in zip(proxies, requests) {
                if proxy.transport.isClear, proxy.transport.requests != requests {
                    proxy.awaySince = nil
                }
                guard before[proxy.number] == proxy.transport.requests else {
                    proxy.waited = .zero
                    continue
                }
                proxy.waited += clock.uptime() - began
                let outage = proxy.awaySince.map { clock.uptime() - $0 } ?? .zero
                if proxy.waited > SyncLimits.longestProbeWait(outage: outage) + .seconds(10) {
                    fault(.liveness, "p\(proxy.number) tries nothing for \(proxy.waited)")
                }
            }
        }
    }

    /// Whether a proxy has a due operation that only its own schedule delays.
    private func isWaiting(_ proxy: SimulatedProxy) async throws -> Bool {
        guard proxy.transport.isClear, !proxy.isDiskFull,
            await proxy.engine.backendStatus.state != .signedOut
        else { return false }
        let now = clock.now()
        var seen: Set<String> = []
        return try await proxy.contents().open.contains { operation in
            // Of an item's operations only the first can be due.
            guard seen.insert(operation.itemID).inserted else { return false }
            switch operation.state {
            case .queued: return true
            case .waiting, .unknown: return operation.nextAttemptAt.map { $0 <= now } ?? false
            case .sending, .conflict, .quarantined, .done, .discarded, .collapsed: return false
            }
        }
    }

    /// Declares the column by which items refer to their parents.
    func declareParents(_ proxy: SimulatedProxy) async throws {
        let link = ParentLink(table: table, column: "p")
        _ = try await proxy.store.updateTable(table) { $0.parents = [link] }
    }
}
