import SyncCore
import TablesProtocol

/// The numbers of this process in the text format of Prometheus. Labels are identities, tables,
/// states, outcomes and bounds: none of them is a client's to choose.
struct Metrics: Sendable {
    let statuses: [EngineStatus]
    /// When the oldest open operation of each identity was accepted; none without open operations.
    let oldest: [String: Instant]
    /// How long requests to the backend took, those of all identities together.
    let requestTimes: RequestTimes
    let rejections: [RejectionLog.Entry]
    let startedAt: Instant
    let now: Instant

    /// The whole text. What has no sample is not in it.
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
        /// What a histogram adds to its name.
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
        case .backendUp: each { $0.backend.state == .online ? 1 : 0 }
        case .requestDuration: histograms
        case .queueOperations: each("state") { Self.queue($0.queue) }
        case .oldestAge:
            each { status in
                let age = oldest[status.identity].map { now.milliseconds - $0.milliseconds } ?? 0
                return max(age, 0) / 1000
            }
        case .operations: each("outcome") { Self.ledger($0.ledger) }
        case .ledgerImbalance: each { $0.ledger.balances ? 0 : 1 }
        case .syncStalls: each { Int64($0.stalls) }
        case .lastSync: each { status in status.lastSync.map { $0.milliseconds / 1000 } }
        case .tableItems: each("table") { $0.tables.map { ($0.name, Int64($0.items)) } }
        case .pullsFailing:
            each("table") { $0.tables.map { ($0.name, $0.pullError == nil ? 0 : 1) } }
        case .rowsSetAside: each("table") { $0.tables.map { ($0.name, Int64($0.setAside)) } }
        case .rejectedRequests:
            rejections.map { Sample("reason=\"\($0.reason.word)\"", Int64($0.count)) }
        }
    }

    /// One sample for each identity.
    private func each(_ value: (EngineStatus) -> Int64?) -> [Sample] {
        statuses.compactMap { status in
            value(status).map { Sample(Self.identity(status), $0) }
        }
    }

    /// One sample for each identity and value of a label.
    private func each(
        _ label: String, _ values: (EngineStatus) -> [(String, Int64)]
    ) -> [Sample] {
        statuses.flatMap { status in
            values(status).map { Sample("\(Self.identity(status)),\(label)=\"\($0.0)\"", $0.1) }
        }
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

    /// Keys of identities and names of tables hold no character that a label must escape.
    private static func identity(_ status: EngineStatus) -> String {
        "identity=\"\(status.identity)\""
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
            ("accepted", ledger.accepted), ("applied", ledger.applied),
            ("collapsed", ledger.collapsed), ("discarded", ledger.discarded),
        ]
    }
}
