import Proxy
import SyncCore
import TablesProtocol

/// What keeps queued operations from being sent.
enum Holding {
    /// Asks what holds the queue of the client's identity; nil if the next push sends it.
    static func read(_ client: OperatorClient) async throws(StartProblem) -> String? {
        guard client.isRunning else { return "No Understudy runs." }
        let runs: Answers.Page<Answers.Run> = try await client.get("/runs", [("limit", "2")])
        return reason(
            status: try await client.get("/status"), settings: try await client.get("/settings"),
            lastRun: runs.items.first { $0.state != .running })
    }

    /// The sentence on what holds a queue; nil if nothing does.
    /// - Parameter lastRun: the latest run that has ended.
    static func reason(
        status: Answers.Status, settings: Answers.Settings, lastRun: Answers.Run?
    ) -> String? {
        if status.mode.mode == .offline {
            return "Offline mode is on; `understudy online` ends it."
        }
        let backend = status.backend
        if backend.isAsked, backend.state != .online {
            return "The backend is \(backend.state.rawValue): \(backend.reason)"
        }
        if isManual(settings) {
            return "A write starts no push (sync = manual); `understudy sync` sends them."
        }
        if lastRun?.state == .failed, let failure = lastRun?.reason {
            return "The last run failed: \(failure)"
        }
        // Of a backend that answers, the reason says more only where a table is missing.
        return backend.isAsked && backend.reason != answers ? backend.reason : nil
    }

    /// Whether a write starts no push.
    static func isManual(_ settings: Answers.Settings) -> Bool {
        !settings.triggers.contains(.afterWrites)
    }

    /// The reason of a backend about which there is nothing to say.
    private static let answers = "The backend answers."
}
