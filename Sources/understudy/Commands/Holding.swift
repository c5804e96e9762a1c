import Proxy
import TablesProtocol

/// What keeps queued operations from being sent.
enum Holding {
    /// Asks what holds the queue of the client's identity; nil if the next push sends it.
    static func read(_ client: OperatorClient) async throws(StartProblem) -> String? {
        guard client.isRunning else { return reason(isRunning: false) }
        let status = try await client.get("/status")
        let settings = try await client.get("/settings")
        let runs = try await client.get("/runs", [("limit", "2")])["items"]?.array ?? []
        return reason(
            isRunning: true, status: status, settings: settings,
            lastRun: runs.first { $0["state"]?.string != "running" })
    }

    /// The sentence on what holds a queue; nil if nothing does.
    /// - Parameters:
    ///   - status: the answer to `GET /status`.
    ///   - settings: the answer to `GET /settings`.
    ///   - lastRun: the latest run that has ended.
    static func reason(
        isRunning: Bool, status: JSONValue = .null, settings: JSONValue = .null,
        lastRun: JSONValue? = nil
    ) -> String? {
        guard isRunning else { return "No Understudy runs." }
        if status["mode"]?["mode"]?.string == "offline" {
            return "Offline mode is on; `understudy online` ends it."
        }
        let backend = status["backend"]
        let reason = backend?["reason"]?.string ?? ""
        let isAsked = backend?["isAsked"]?.bool == true
        if isAsked, let state = backend?["state"]?.string, state != "online" {
            return "The backend is \(state): \(reason)"
        }
        if isManual(settings) {
            return "A write starts no push (sync = manual); `understudy sync` sends them."
        }
        if lastRun?["state"]?.string == "failed", let failure = lastRun?["reason"]?.string {
            return "The last run failed: \(failure)"
        }
        // Of a backend that answers, the reason says more only where a table is missing.
        return isAsked && reason != answers ? reason : nil
    }

    /// Whether a write starts no push.
    static func isManual(_ settings: JSONValue) -> Bool {
        guard let triggers = settings["triggers"]?.array else { return false }
        return !triggers.contains { $0.string == "afterWrites" }
    }

    /// The reason of a backend about which there is nothing to say.
    private static let answers = "The backend answers."
}
