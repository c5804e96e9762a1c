import Logging
import Proxy
import SyncCore
import TablesProtocol

/// Tells the service manager and the log how things stand: a status line when it changes, and
/// `WATCHDOG=1` as long as every engine runs.
struct ServiceReport {
    let graph: AppGraph
    let manager: ServiceManager
    let log: Logger

    /// Reports until cancelled:
    ///
    /// 1. Every engine is asked how it stands. One that does not answer keeps the report waiting, and
    ///    with it the watchdog's message.
    /// 2. A backend that is in another state than before is logged, for each identity.
    /// 3. A status line that says something new goes to the manager.
    /// 4. When all engines run, the manager gets `WATCHDOG=1`.
    func run() async {
        var states: [String: BackendStatus.State] = [:]
        var lastLine = ""
        while !Task.isCancelled {
            let health = await graph.health()
            for status in health.engines {
                let state = status.backend.state
                let before = states.updateValue(state, forKey: status.identity)
                if before != state, before != nil || state != .offline { note(status) }
            }
            let line = Self.line(
                health.engines.map(\.queue) + [health.closedQueue], health.engines.first?.backend)
            if line != lastLine { manager.notify("STATUS=\(line)") }
            lastLine = line
            if health.areAllAlive { manager.notify("WATCHDOG=1") }
            try? await Task.sleep(for: interval)
        }
    }

    private func note(_ status: EngineStatus) {
        log.notice(
            "backend state changed",
            metadata: [
                "identity": "\(status.identity)", "state": "\(status.backend.state.rawValue)",
                "reason": "\(status.backend.reason)",
            ])
    }

    /// Three of the watchdog's messages fit into the time that the manager waits for one.
    private var interval: Duration {
        let longest = Duration.seconds(Limits.serviceReportSeconds)
        guard let watchdog = manager.watchdogMicroseconds else { return longest }
        return min(longest, .microseconds(Int64(clamping: watchdog / 3)))
    }

    /// Such as `12 pending, 1 conflict, offline since 2026-11-21T12:00:00.000Z`.
    static func line(_ queues: [QueueCounts], _ backend: BackendStatus?) -> String {
        let pending = queues.reduce(0) { $0 + $1.queued + $1.waiting + $1.sending + $1.unknown }
        let conflicts = queues.reduce(0) { $0 + $1.conflict }
        let quarantined = queues.reduce(0) { $0 + $1.quarantined }
        var parts = ["\(pending) pending"]
        if conflicts > 0 { parts.append("\(conflicts) conflict\(conflicts == 1 ? "" : "s")") }
        if quarantined > 0 { parts.append("\(quarantined) quarantined") }
        if let backend {
            parts.append("backend \(backend.state.rawValue) since \(backend.since.text)")
        }
        return parts.joined(separator: ", ")
    }
}
