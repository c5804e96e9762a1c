public import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

// Health and metrics, where the options say so:
//
// | path | answer |
// |---|---|
// | `GET /-/livez` | 200: the process answers |
// | `GET /-/readyz` | 200 where the database answers; else, and while the node drains, 503 |
// | `GET /-/metrics` | the text format of Prometheus; where tokens are verified, the administrator's |
extension TablesBackend {
    /// The subject of a path of health.
    enum Health: Sendable {
        case live, ready, metrics

        /// The health that a path asks for; nil for all other paths.
        init?(_ call: Call) {
            guard call.method == .get || call.method == .head else { return nil }
            switch call.request.path {
            case "/-/livez": self = .live
            case "/-/readyz": self = .ready
            case "/-/metrics": self = .metrics
            case _: return nil
            }
        }
    }

    /// Answers a request for health or metrics; nil for everything else.
    func healthAnswer(_ call: Call) -> Response? {
        guard options.servesHealth, let health = Health(call) else { return nil }
        switch health {
        case .live: return Self.health(nil)
        case .metrics:
            return Response(
                status: .ok, headerFields: [.contentType: "text/plain; version=0.0.4"],
                body: Array(metrics.utf8))
        case .ready:
            if isLeaving { return Self.health("The node is about to stop.") }
            do {
                try storage.check()
                outage.ended()
                return Self.health(nil)
            } catch {
                outage.began("\(error)")
                return Self.health("The database does not answer.")
            }
        }
    }

    /// From now on `/-/readyz` is answered with 503, and every other request as before, with
    /// `Connection: close`. A balancer that asks `/-/readyz` then connects clients to other nodes.
    public func beginToDrain() { isDraining.store(true, ordering: .relaxed) }

    var isLeaving: Bool { isDraining.load(ordering: .relaxed) }

    /// A response that also closes its connection while the node drains.
    func closingWhileDraining(_ response: Response) -> Response {
        guard isLeaving else { return response }
        var response = response
        response.head.headerFields[.connection] = "close"
        return response
    }

    /// Counts a request that the server refused by itself.
    public func count(_ reason: RefusalReason) { meter.count(rejected: reason.rawValue) }

    private static func health(_ problem: String?) -> Response {
        let body = JSONValue.object([
            .init("status", .string(problem == nil ? "ok" : "not ready")),
            .init("reason", problem.map { .string($0) } ?? .null),
        ])
        var response = Response(
            status: problem == nil ? .ok : .serviceUnavailable,
            headerFields: [.contentType: "application/json", .cacheControl: "no-store"],
            body: Array(body.text.utf8))
        if problem != nil { response.head.headerFields[.retryAfter] = "\(Limits.retrySeconds)" }
        return response
    }

    /// The metrics in Prometheus' text format.
    var metrics: String {
        let name = "understudy_node_request_duration_seconds"
        var lines = [
            "# HELP \(name) How long requests on tables took.", "# TYPE \(name) histogram",
        ]
        for (label, times) in meter.all.sorted(by: { $0.key < $1.key }) {
            let labels =
                "table=\"\(label.table)\",verb=\"\(label.verb)\",status=\"\(label.status)\""
            for (bound, count) in zip(RequestMeter.bounds, times.counts) {
                lines.append("\(name)_bucket{\(labels),le=\"\(bound)\"} \(count)")
            }
            lines.append("\(name)_bucket{\(labels),le=\"+Inf\"} \(times.count)")
            lines.append("\(name)_sum{\(labels)} \(times.seconds)")
            lines.append("\(name)_count{\(labels)} \(times.count)")
        }
        lines += Self.counters(
            "understudy_node_refused_tokens_total", "Tokens that were not good, by reason.",
            meter.refusedTokens)
        lines += Self.counters(
            "understudy_node_rejected_requests_total",
            "Requests that broke the rules of HTTP or a limit, by reason.", meter.rejectedRequests)
        lines += Self.metrics(storage.load)
        return lines.joined(separator: "\n") + "\n"
    }

    /// A counter for each reason; nothing without any.
    private static func counters(
        _ name: String, _ help: String, _ counts: [String: Int]
    ) -> [String] {
        if counts.isEmpty { return [] }
        let samples = counts.sorted { $0.key < $1.key }.map { reason, count in
            "\(name){reason=\"\(reason)\"} \(count)"
        }
        return ["# HELP \(name) \(help)", "# TYPE \(name) counter"] + samples
    }

    private static func metrics(_ load: StorageLoad) -> [String] {
        [
            (
                "connections_limit", "gauge", "Connections to the database that there may be.",
                "\(load.limit)"
            ),
            ("connections_in_use", "gauge", "Connections to the database in use.", "\(load.inUse)"),
            (
                "requests_waiting", "gauge", "Requests that wait for a connection.",
                "\(load.waiting)"
            ),
            ("calls_total", "counter", "How often a connection was used.", "\(load.calls)"),
            ("seconds_total", "counter", "How long connections were in use.", "\(load.seconds)"),
        ].flatMap { name, type, help, value in
            let metric = "understudy_node_database_\(name)"
            return ["# HELP \(metric) \(help)", "# TYPE \(metric) \(type)", "\(metric) \(value)"]
        }
    }
}
