import SyncCore
import TablesProtocol

/// The metrics of this process in the text format of Prometheus. The labels are tables, states, outcomes
/// and bounds, and `identity` with the values `anonymous` and `users`. All users are counted together: the
/// text needs no sign-in, so it must name none.
struct Metrics: Sendable {
    let statuses: [EngineStatus]
    /// The totals of the closed stores, which belong to users.
    let closed: ClosedTotal
    /// The oldest open operations of each identity.
    let oldest: [String: Oldest]
    /// The durations of requests to the backend, of all identities together.
    let requestTimes: RequestTimes
    let rejections: [RejectionLog.Entry]
    let startedAt: Instant
    let now: Instant

    /// When the oldest open operations were accepted; nil without one.
    struct Oldest: Sendable, Hashable {
        /// Of those that wait for the backend.
        var forBackend: Instant?
        /// Of those that wait for a person.
        var forPerson: Instant?
    }

    /// The whole text, without metrics that have no sample.
    var text: String {
        let lines = Metric.allCases.flatMap { metric -> [String] in
            let samples = samples(metric)
            if samples.isEmpty { return [] }
            return ["# HELP \(metric.rawValue) \(metric.help)"]
                + ["# TYPE \(metric.rawValue) \(metric.type)"]
                + samples.map { sample in
                    let labels = sample.labels.isEmpty ? "" : "{\(sample.labels)}"
                    return "\(metric.rawValue)\(sample.suffix)\(labels) \(sample.value)"
                }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private struct Sample {
        /// The suffix of the metric's name, for histograms.
        var suffix = ""
        var labels: String
        var value: String

        init(_ labels: String, _ value: Int64) {
            self.labels = labels
            self.value = String(value)
        }

        init(_ suffix: String, _ labels: String, _ value: String) {
            (self.suffix, self.labels, self.value) = (suffix, labels, value)
        }
    }

    private func samples(_ metric: Metric) -> [Sample] {
        switch metric {
        case .buildInfo: [Sample("version=\"\(Version.text)\"", 1)]
        case .startTime: [Sample("", startedAt.milliseconds / 1000)]
        case .backendUp: each(min) { $0.backend.state == .online ? 1 : 0 }
        case .requestDuration: histograms
        case .stores:
            [
                Sample("state=\"open\"", Int64(statuses.count)),
                Sample("state=\"closed\"", Int64(closed.known)),
                Sample("state=\"unexamined\"", Int64(closed.unexamined)),
                Sample("state=\"failed\"", Int64(closed.failed)),
            ]
        case .queueOperations:
            each("state", closed: closed.sum.map { Self.queue($0.ledger.queue) } ?? []) {
                Self.queue($0.queue)
            }
        case .oldestAge:
            each(
                "waits_for", max,
                closed: closed.sum.map {
                    ages(Oldest(forBackend: $0.oldestAt, forPerson: $0.oldestForPersonAt))
                } ?? []
            ) { ages(oldest[$0.identity] ?? Oldest()) }
        case .accepted:
            each(+, closed: closed.sum.map(\.ledger.accepted)) { $0.ledger.accepted }
        case .operations:
            each("outcome", closed: closed.sum.map { Self.ledger($0.ledger) } ?? []) {
                Self.ledger($0.ledger)
            }
        case .ledgerImbalance:
            each(max, closed: closed.sum.map { $0.ledger.balances ? 0 : 1 }) {
                $0.ledger.balances ? 0 : 1
            }
        case .syncStalls: each(+) { Int64($0.stalls) }
        case .lastSync: each(min) { status in status.lastSync.map { $0.milliseconds / 1000 } }
        case .tableItems:
            each("table", closed: closedTables { Int64($0.items) }) {
                $0.tables.map { ($0.name, Int64($0.items)) }
            }
        case .pullsFailing:
            each("table", max, closed: closedTables { $0.pullsFail ? 1 : 0 }) {
                $0.tables.map { ($0.name, $0.pullError == nil ? 0 : 1) }
            }
        case .rowsSetAside:
            each("table", closed: closedTables { Int64($0.setAside) }) {
                $0.tables.map { ($0.name, Int64($0.setAside)) }
            }
        case .rejectedRequests:
            rejections.map { Sample("reason=\"\($0.reason.word)\"", Int64($0.count)) }
        }
    }

    /// One sample for `anonymous`, and one with the combined values of all users.
    /// - Parameter closed: the value of the closed stores; nil for none.
    private func each(
        _ combine: (Int64, Int64) -> Int64, closed: Int64? = nil,
        _ value: (EngineStatus) -> Int64?
    ) -> [Sample] {
        Self.groups.compactMap { group in
            let open = statuses.filter { Self.group($0) == group }.compactMap(value)
            let values = open + (group == Self.users ? [closed].compactMap { $0 } : [])
            guard let first = values.first else { return nil }
            return Sample(
                "identity=\"\(group)\"", values.dropFirst().reduce(first, combine))
        }
    }

    /// The same for each value of a label, in the order of their first occurrence.
    private func each(
        _ label: String, _ combine: (Int64, Int64) -> Int64 = (+),
        closed: [(String, Int64)] = [], _ values: (EngineStatus) -> [(String, Int64)]
    ) -> [Sample] {
        Self.groups.flatMap { group in
            var order: [String] = []
            var combined: [String: Int64] = [:]
            let open = statuses.filter { Self.group($0) == group }.flatMap(values)
            for (name, value) in open + (group == Self.users ? closed : []) {
                if let before = combined[name] {
                    combined[name] = combine(before, value)
                } else {
                    order.append(name)
                    combined[name] = value
                }
            }
            return order.map { name in
                Sample("identity=\"\(group)\",\(label)=\"\(name)\"", combined[name] ?? 0)
            }
        }
    }

    private func closedTables(
        _ value: (StoreSummary.Table) -> Int64
    ) -> [(String, Int64)] {
        closed.sum.map { $0.tables.map { ($0.name, value($0)) } } ?? []
    }

    private static let users = "users"
    private static let groups = [Identity.anonymousKey, users]

    private static func group(_ status: EngineStatus) -> String {
        status.identity == Identity.anonymousKey ? Identity.anonymousKey : users
    }

    private func ages(_ oldest: Oldest) -> [(String, Int64)] {
        [("backend", age(oldest.forBackend)), ("person", age(oldest.forPerson))]
    }

    /// The age of an operation in seconds; 0 without one.
    private func age(_ accepted: Instant?) -> Int64 {
        max(accepted.map { now.milliseconds - $0.milliseconds } ?? 0, 0) / 1000
    }

    private var histograms: [Sample] {
        RequestTimes.Outcome.allCases.flatMap { outcome -> [Sample] in
            guard let histogram = requestTimes.histograms[outcome] else { return [] }
            let labels = "outcome=\"\(outcome.rawValue)\""
            let bounds =
                SyncLimits.requestTimeBoundsMilliseconds.map { Self.seconds(.milliseconds($0)) }
                + ["+Inf"]
            var below = 0
            let buckets = zip(bounds, histogram.counts).map { bound, count in
                below += count
                return Sample("_bucket", "\(labels),le=\"\(bound)\"", String(below))
            }
            return buckets + [
                Sample("_sum", labels, Self.seconds(histogram.sum)),
                Sample("_count", labels, String(histogram.count)),
            ]
        }
    }

    /// A time in seconds, such as `0.005` and `2.5`.
    private static func seconds(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        return "\(Double(seconds) + Double(attoseconds / 1_000_000_000_000) / 1e6)"
    }

    private static func queue(_ queue: QueueCounts) -> [(String, Int64)] {
        [
            ("queued", Int64(queue.queued)), ("waiting", Int64(queue.waiting)),
            ("sending", Int64(queue.sending)), ("unknown", Int64(queue.unknown)),
            ("conflict", Int64(queue.conflict)), ("quarantined", Int64(queue.quarantined)),
        ]
    }

    private static func ledger(_ ledger: Ledger) -> [(String, Int64)] {
        [
            ("applied", ledger.applied), ("collapsed", ledger.collapsed),
            ("discarded", ledger.discarded),
        ]
    }
}

extension Metrics.Oldest {
    /// Those of a store; one that cannot be read counts as without any.
    init(of store: Store) async {
        func first(_ states: Set<OperationState>) async -> Instant? {
            let page = try? await store.operations(
                OperationFilter(states: states), after: nil, limit: 1)
            return page?.items.first?.createdAt
        }
        forBackend = await first(OperationState.waitsForBackend)
        forPerson = await first(OperationState.waitsForPerson)
    }
}

/// The metrics of this program. The raw value is the name, by the conventions of Prometheus.
enum Metric: String, CaseIterable {
    case buildInfo = "understudy_build_info"
    case startTime = "understudy_start_time_seconds"
    case backendUp = "understudy_backend_up"
    case requestDuration = "understudy_backend_request_duration_seconds"
    case stores = "understudy_stores"
    case queueOperations = "understudy_queue_operations"
    case oldestAge = "understudy_queue_oldest_operation_age_seconds"
    case accepted = "understudy_operations_accepted_total"
    case operations = "understudy_operations_total"
    case ledgerImbalance = "understudy_ledger_imbalance"
    case syncStalls = "understudy_sync_stalls_total"
    case lastSync = "understudy_last_sync_timestamp_seconds"
    case tableItems = "understudy_table_items"
    case pullsFailing = "understudy_table_pulls_failing"
    case rowsSetAside = "understudy_table_rows_set_aside"
    case rejectedRequests = "understudy_rejected_requests_total"

    /// The type in the text format.
    var type: String {
        switch self {
        case .accepted, .operations, .syncStalls, .rejectedRequests: "counter"
        case .requestDuration: "histogram"
        case .buildInfo, .startTime, .backendUp, .stores, .queueOperations, .oldestAge,
            .ledgerImbalance, .lastSync, .tableItems, .pullsFailing, .rowsSetAside:
            "gauge"
        }
    }

    /// The help text, one sentence.
    var help: String {
        switch self {
        case .buildInfo: "The version of this program."
        case .startTime: "When this process started."
        case .backendUp: "Whether the backend can be reached."
        case .requestDuration:
            "How long the requests of syncing to the backend took, by what they came to."
        case .stores:
            "Stores of identities: open, closed, closed and not looked at since the start, failed to open."
        case .queueOperations: "Open operations by state."
        case .oldestAge:
            "How long the oldest operation has been waiting, for the backend or a person; 0 when none is."
        case .accepted: "Operations that were accepted."
        case .operations: "Operations by what became of them."
        case .ledgerImbalance: "1 when the ledger does not balance, which is an alarm."
        case .syncStalls: "How often syncing stood still and was started again."
        case .lastSync: "When the last sync ended well."
        case .tableItems: "Rows of each table."
        case .pullsFailing: "1 for a table whose pulls fail, else 0."
        case .rowsSetAside: "Rows of the backend that are not here, since they cannot be taken."
        case .rejectedRequests: "Requests that were refused, by reason."
        }
    }
}
