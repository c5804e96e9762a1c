import HTTPMessage
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
struct HealthRoutes: Sendable {
    let options: BackendOptions
    let storage: any RowStorage
    let outage: StorageOutage
    let meter: RequestMeter
    let feed: ChangeFeed
    let expiry: ExpiryRounds
    let drain: Drain

    /// Answers a request for health or metrics; nil for everything else.
    func answer(_ call: Call) -> Response? {
        guard options.servesHealth, let health = HealthSubject(call) else { return nil }
        switch health {
        case .live: return Self.health(nil)
        case .metrics:
            return Response(
                status: .ok, headerFields: [.contentType: "text/plain; version=0.0.4"],
                body: Array(metrics.utf8))
        case .ready:
            if drain.isOn { return Self.health("The node is about to stop.") }
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
        lines += Self.counter(
            "refused_tokens", "Tokens that were not good, by reason.", meter.refusedTokens)
        lines += Self.counter(
            "rejected_requests", "Requests that broke the rules of HTTP or a limit, by reason.",
            meter.rejectedRequests)
        lines += Self.counter(
            "limited_requests", "Requests beyond what one client may have, by reason.",
            meter.limitedRequests)
        lines += Self.metrics(storage.load)
        if options.servesChanges {
            lines += Self.metric(
                "changes_followers", "gauge", "Followers of the stream of changes.",
                [("", "\(feed.followerCount)")])
            lines += Self.metric(
                "changes_told", "gauge",
                "Whether the database tells the node of changes: 1, else 0.",
                [("", feed.isTold ? "1" : "0")])
        }
        if !options.kept.keepsAll { lines += expiry.metrics }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The lines of a metric of the node.
    /// - Parameter samples: the labels and the value of each.
    static func metric(
        _ name: String, _ type: String, _ help: String, _ samples: [(labels: String, value: String)]
    ) -> [String] {
        let name = "understudy_node_\(name)"
        return ["# HELP \(name) \(help)", "# TYPE \(name) \(type)"]
            + samples.map { "\(name)\($0.labels) \($0.value)" }
    }

    /// A counter for each reason; nothing without any.
    private static func counter(
        _ name: String, _ help: String, _ counts: [String: Int]
    ) -> [String] {
        counts.isEmpty
            ? []
            : metric(
                "\(name)_total", "counter", help,
                counts.sorted { $0.key < $1.key }.map { ("{reason=\"\($0)\"}", "\($1)") })
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
            metric("database_\(name)", type, help, [("", value)])
        }
    }
}

/// The subject of a path of health.
enum HealthSubject: Sendable {
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

/// Whether the node is about to stop.
final class Drain: Sendable {
    private let flag = Atomic<Bool>(false)

    var isOn: Bool { flag.load(ordering: .relaxed) }

    func begin() { flag.store(true, ordering: .relaxed) }

    /// A response that also closes its connection while the node drains.
    func closing(_ response: Response) -> Response {
        guard isOn else { return response }
        var response = response
        response.head.headerFields[.connection] = "close"
        return response
    }
}
