import Logging
import Program
import Proxy
import SyncCore
import TablesProtocol

/// Reports the state to the service manager and the log: a status line when it changes, and `WATCHDOG=1`
/// while every engine runs.
struct ServiceReport {
    let graph: AppGraph
    let manager: ServiceManager
    let log: Logger

    /// Reports until cancelled:
    ///
    /// 1. Ask every engine for its state. An engine that does not answer delays the report, and with it the
    ///    watchdog's message.
    /// 2. Log a changed state of the backend, for each identity.
    /// 3. Send a changed status line to the manager.
    /// 4. If all engines run, send `WATCHDOG=1` to the manager.
    func run() async {
        var states: [String: BackendState] = [:]
        var lastLine = ""
        while !Task.isCancelled {
            let health = await graph.health()
            for status in health.engines
            where Self.isNews(status.backend, of: status.identity, in: &states) { note(status) }
            let line = Self.line(
                health.engines.map(\.queue) + [health.closedQueue], health.engines.first?.backend)
            if line != lastLine { manager.notify("STATUS=\(line)") }
            lastLine = line
            if health.allEnginesRun { manager.notify("WATCHDOG=1") }
            try? await Task.sleep(for: interval)
        }
    }

    /// Whether the backend has another state than was last reported. The first state is news too, once the
    /// backend was asked.
    static func isNews(
        _ backend: BackendStatus, of identity: String,
        in states: inout [String: BackendState]
    ) -> Bool {
        guard backend.isAsked else { return false }
        return states.updateValue(backend.state, forKey: identity) != backend.state
    }

    private func note(_ status: EngineStatus) {
        log.notice(
            "backend state changed",
            metadata: [
                "identity": "\(status.identity)", "state": "\(status.backend.state.rawValue)",
                "reason": "\(status.backend.reason)",
            ])
    }

    /// The time between two reports: at most a third of the time that the manager waits for a message.
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
        if quarantined > 0 { parts.append("\(quarantined) refused") }
        if let backend {
            parts.append(
                backend.isAsked
                    ? "backend \(backend.state.rawValue) since \(backend.since.text)"
                    : "backend not asked yet")
        }
        return parts.joined(separator: ", ")
    }
}
