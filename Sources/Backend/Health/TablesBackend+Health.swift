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
    /// Followers of changes turn to them at once.
    public func beginToDrain() {
        isDraining.store(true, ordering: .relaxed)
        endFollowing()
    }

    /// Ends the streams of changes, and refuses new ones: a stop waits for no stream.
    public func endFollowing() { changeFeed.endAll(closing: true) }

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
        lines += Self.counters(
            "understudy_node_limited_requests_total",
            "Requests beyond what one client may have, by reason.", meter.limitedRequests)
        lines += Self.metrics(storage.load)
        if options.servesChanges { lines += changeMetrics }
        if !options.kept.keepsAll { lines += expiryMetrics }
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

    private var changeMetrics: [String] {
        [
            ("followers", "Followers of the stream of changes.", changeFeed.followerCount),
            (
                "told", "Whether the database tells the node of changes: 1, else 0.",
                changeFeed.isTold ? 1 : 0
            ),
        ].flatMap { name, help, value in
            let metric = "understudy_node_changes_\(name)"
            return ["# HELP \(metric) \(help)", "# TYPE \(metric) gauge", "\(metric) \(value)"]
        }
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

/// A change of the storage that the operator should know of.
public enum StorageNews: Sendable, Hashable {
    /// It cannot answer; the reason is a sentence, which may name hosts.
    case unavailable(reason: String)
    /// It answers again.
    case answers
    /// It tells followers no changes; the reason is a sentence, which may name hosts.
    case silent(reason: String)
    /// It tells them again, those that were missed too.
    case tells
}

/// Reports when a storage cannot answer, at most once in ``Limits/outageReportSeconds``, and when it answers
/// again after such a report.
final class StorageOutage: Sendable {
    private struct State {
        /// The time of the last report that the storage cannot answer.
        var reportedAt: Duration?
        var report: (@Sendable (StorageNews) -> Void)?
    }

    /// A report is made under the lock, so that reports come in the order of what they say.
    private let state = Mutex(State())
    /// True from the report of an outage to the report of its end. It changes under the lock; each
    /// request reads it without the lock.
    private let isReported = Atomic(false)
    private let uptime: @Sendable () -> Duration

    /// - Parameter uptime: the time since some moment; it only goes forward.
    init(uptime: @escaping @Sendable () -> Duration) { self.uptime = uptime }

    /// Receives the reports. It must call nothing here.
    var report: (@Sendable (StorageNews) -> Void)? {
        get { state.withLock { $0.report } }
        set { state.withLock { $0.report = newValue } }
    }

    /// Reports other news.
    func say(_ news: StorageNews) { state.withLock { $0.report?(news) } }

    /// The storage could not answer.
    func began(_ reason: String) {
        let now = uptime()
        state.withLock { state in
            if let last = state.reportedAt, now - last < .seconds(Limits.outageReportSeconds) {
                return
            }
            state.reportedAt = now
            isReported.store(true, ordering: .relaxed)
            state.report?(.unavailable(reason: reason))
        }
    }

    /// The storage has answered.
    func ended() {
        guard isReported.load(ordering: .relaxed) else { return }
        state.withLock { state in
            guard isReported.exchange(false, ordering: .relaxed) else { return }
            state.report?(.answers)
        }
    }
}

/// Counts the durations of requests on tables by table, verb and status, and the refused requests and
/// tokens by reason.
final class RequestMeter: Sendable {
    /// The key of requests that are counted together.
    struct Label: Sendable, Hashable, Comparable {
        let table: String
        let verb: String
        let status: Int

        static func < (left: Label, right: Label) -> Bool {
            (left.table, left.verb, left.status) < (right.table, right.verb, right.status)
        }
    }

    /// The requests of one label.
    struct Times: Sendable, Hashable {
        /// The numbers of requests that took at most each bound.
        fileprivate(set) var counts = [Int](repeating: 0, count: RequestMeter.bounds.count)
        /// The number of requests.
        fileprivate(set) var count = 0
        /// The sum of the durations, in seconds.
        fileprivate(set) var seconds = 0.0

        fileprivate mutating func add(_ seconds: Double) {
            count += 1
            self.seconds += seconds
            for (place, bound) in RequestMeter.bounds.enumerated() where seconds <= bound {
                counts[place] += 1
            }
        }
    }

    /// The bounds of the histogram, in seconds.
    static let bounds = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]

    /// The table of requests whose table would be one too many.
    static let otherTables = "(other)"

    private struct State {
        var times: [Label: Times] = [:]
        var tables: Set<String> = []
        var refusedTokens: [String: Int] = [:]
        var rejectedRequests: [String: Int] = [:]
        var limitedRequests: [String: Int] = [:]
    }
    private let state = Mutex(State())

    /// All that was counted since the start.
    var all: [Label: Times] { state.withLock { $0.times } }

    /// The numbers of refused tokens, by the reason's name.
    var refusedTokens: [String: Int] { state.withLock { $0.refusedTokens } }

    /// The numbers of requests that the server itself refused, by the reason's name.
    var rejectedRequests: [String: Int] { state.withLock { $0.rejectedRequests } }

    /// The numbers of requests beyond what one client may have, by the limit's name.
    var limitedRequests: [String: Int] { state.withLock { $0.limitedRequests } }

    /// Counts a request beyond what its client may have.
    func count(limited reason: String) {
        state.withLock { $0.limitedRequests[reason, default: 0] += 1 }
    }

    /// Counts a token that is not accepted.
    func count(_ reason: TokenRefusal) {
        state.withLock { $0.refusedTokens["\(reason)", default: 0] += 1 }
    }

    /// Counts a request that the server refused by itself.
    func count(rejected reason: String) {
        state.withLock { $0.rejectedRequests[reason, default: 0] += 1 }
    }

    /// Counts a request. Clients can invent names of tables, so at most ``Limits/meteredTables`` are kept,
    /// each from its first read or write that succeeds. Refused requests add no name, nor do preflights,
    /// which succeed for every name.
    func add(_ call: Call, status: Int, seconds: Double) {
        let name: TableName
        let isOnItem: Bool
        switch call.route {
        case .table(let table): (name, isOnItem) = (table, false)
        case .item(let table, _): (name, isOnItem) = (table, true)
        case .faults, .effects, .other: return
        }
        let operation = TableOptions.Operation(call.method, onItem: isOnItem)
        let verb = operation?.rawValue ?? "other"
        state.withLock { state in
            let isNamed =
                status != HTTPResponse.Status.notFound.code
                && (state.tables.contains(name.key)
                    || operation != nil && status < 400
                        && state.tables.count < Limits.meteredTables)
            if isNamed { state.tables.insert(name.key) }
            let table = isNamed ? name.key : Self.otherTables
            state.times[Label(table: table, verb: verb, status: status), default: Times()]
                .add(seconds)
        }
    }
}

/// The use of a storage's connections.
package struct StorageLoad: Sendable, Hashable {
    /// The most connections.
    var limit: Int
    /// The number of connections in use.
    var inUse: Int
    /// The number of requests that wait for a connection, or for a thread to use it.
    var waiting: Int
    /// The number of times that a connection was lent.
    var calls: Int
    /// The time that connections were lent, all together, in seconds.
    var seconds: Double

    package init(limit: Int, inUse: Int, waiting: Int, calls: Int, seconds: Double) {
        self.limit = limit
        self.inUse = inUse
        self.waiting = waiting
        self.calls = calls
        self.seconds = seconds
    }
}
