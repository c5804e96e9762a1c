import Platform
import SyncCore
import TablesProtocol

/// The metrics of this process in the text format of Prometheus. The labels are tables, states, outcomes
/// and bounds, and `identity` with the values `anonymous` and `users`. All users are counted together: the
/// text needs no sign-in, so it must name none.
struct Metrics: Sendable {
    let statuses: [EngineStatus]
    /// The totals of the closed stores, which belong to users.
    let closed: ClosedTotal
    /// The stalls of the engines whose stores are closed.
    let closedStalls: Int
    /// What the open stores hold, by identity.
    let contents: [String: Contents]
    /// The durations of requests to the backend, of all identities together.
    let requestTimes: RequestTimes
    let clientRequests: [(series: ClientRequestTimes.Series, histogram: DurationHistogram)]
    let rejections: [RejectionLog.Entry]
    let refusedWrites: [(reason: RefusedWrites.Reason, count: Int)]
    /// Free bytes on the disk of the data folder; nil if they are not known.
    let freeBytes: UInt64?
    /// What this process uses; nil if that is not known.
    let process: ProcessUsage?
    let backups: AutomaticBackups.State
    let now: Instant

    /// What an open store holds.
    struct Contents: Sendable, Hashable {
        var oldest = Oldest()
        /// Bytes of its file.
        var bytes: Int64 = 0
        /// Bytes of its write-ahead log.
        var logBytes: Int64 = 0
        /// The part of its disk budget that is in use, from 0 to 1; nil without a budget.
        var budgetUsed: Double?
    }

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
        case .backendUp:
            each(min) { status in
                let backend = status.backend
                return backend.isAsked ? (backend.state == .online ? 1 : 0) : nil
            }
        case .changesFollowed:
            each(min) { status in
                guard status.backend.isAsked else { return nil }
                return status.backend.changesFollowedSince == nil ? 0 : 1
            }
        case .requestDuration:
            RequestOutcome.allCases.flatMap { outcome -> [Sample] in
                requestTimes.histograms[outcome].map {
                    Self.samples($0, "outcome=\"\(outcome.rawValue)\"")
                } ?? []
            }
        case .clientRequestDuration:
            clientRequests.flatMap { series, histogram -> [Sample] in
                let status = series.status.map(String.init) ?? "none"
                return Self.samples(
                    histogram,
                    "table=\"\(series.table)\",verb=\"\(series.verb.rawValue)\",status=\"\(status)\""
                )
            }
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
            ) { ages(contents[$0.identity]?.oldest ?? Oldest()) }
        case .accepted:
            each(+, closed: closed.sum.map(\.ledger.accepted)) { $0.ledger.accepted }
        case .operations:
            each("outcome", closed: closed.sum.map { Self.ledger($0.ledger) } ?? []) {
                Self.ledger($0.ledger)
            }
        case .conflicts:
            each(+, closed: closed.sum.map(\.ledger.conflicts)) { $0.ledger.conflicts }
        case .quarantined:
            each(+, closed: closed.sum.map(\.ledger.refusals)) { $0.ledger.refusals }
        case .retries: each(+, closed: closed.sum.map(\.ledger.retries)) { $0.ledger.retries }
        case .ledgerImbalance:
            each(max, closed: closed.sum.map { $0.ledger.balances ? 0 : 1 }) {
                $0.ledger.balances ? 0 : 1
            }
        case .syncStalls:
            each(+, closed: closed.sum.map { _ in Int64(closedStalls) }) { Int64($0.stalls) }
        case .lastSync: each(min) { status in status.lastSync.map { $0.milliseconds / 1000 } }
        case .tableItems:
            each("table", closed: closedTables { Int64($0.items) }) {
                $0.tables.map { ($0.name, Int64($0.items)) }
            }
        case .pushesFailing:
            each("table", max) { $0.tables.map { ($0.name, $0.pushWait == nil ? 0 : 1) } }
        case .paused:
            each("table", max) { $0.tables.map { ($0.name, $0.pause == .nothing ? 0 : 1) } }
        case .pullsFailing:
            each("table", max, closed: closedTables { $0.pullsFail ? 1 : 0 }) {
                $0.tables.map { ($0.name, $0.pullError == nil ? 0 : 1) }
            }
        case .rowsSetAside:
            each("table", closed: closedTables { Int64($0.setAside) }) {
                $0.tables.map { ($0.name, Int64($0.setAside)) }
            }
        case .rowsMended:
            each("table") { $0.tables.map { ($0.name, Int64($0.mendedRows)) } }
        case .lastBackup:
            // One in the future is from before the clock was set back.
            backups.backups.filter { $0.at <= now }.suffix(1).map {
                Sample("", $0.at.milliseconds / 1000)
            }
        case .backupFailing:
            backups.plan.everySeconds == nil && backups.failure == nil
                ? [] : [Sample("", backups.failure == nil ? 0 : 1)]
        case .rejectedRequests:
            rejections.map { Sample("reason=\"\($0.reason.word)\"", Int64($0.count)) }
        case .refusedWrites:
            refusedWrites.map { Sample("reason=\"\($0.reason.rawValue)\"", Int64($0.count)) }
        case .storeBytes:
            each(+, closed: closed.sum.map { _ in closed.bytes }) { contents[$0.identity]?.bytes }
        case .storeLogBytes:
            each(+, closed: closed.sum.map { _ in 0 }) { contents[$0.identity]?.logBytes }
        case .budgetUsed:
            Self.groups.compactMap { group in
                statuses.filter { Self.group($0) == group }
                    .compactMap { contents[$0.identity]?.budgetUsed }.max()
                    .map { Sample("", "identity=\"\(group)\"", "\($0)") }
            }
        case .diskFreeBytes: plain(freeBytes)
        case .processCPU: plain(process?.cpuSeconds)
        case .processOpenFiles: plain(process?.openFiles)
        case .processMaxFiles: plain(process?.maxOpenFiles)
        case .processVirtualBytes: plain(process?.virtualBytes)
        case .processMaxVirtualBytes: plain(process?.maxVirtualBytes)
        case .processResidentBytes: plain(process?.residentBytes)
        case .processStartTime: plain(process?.startedAtSeconds)
        }
    }

    /// A sample without labels; none if its value is not known.
    private func plain(_ value: (some Numeric)?) -> [Sample] {
        value.map { [Sample("", "", "\($0)")] } ?? []
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

    /// The samples of a histogram: each bucket includes the ones before it.
    private static func samples(_ histogram: DurationHistogram, _ labels: String) -> [Sample] {
        let bounds =
            histogram.boundsMilliseconds.map { seconds(.milliseconds($0)) } + ["+Inf"]
        var below = 0
        let buckets = zip(bounds, histogram.counts).map { bound, count in
            below += count
            return Sample("_bucket", "\(labels),le=\"\(bound)\"", String(below))
        }
        return buckets + [
            Sample("_sum", labels, seconds(histogram.sum)),
            Sample("_count", labels, String(histogram.count)),
        ]
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

extension Metrics.Contents {
    /// Those of an open store. What cannot be read counts as nothing.
    init(of store: Store) async {
        func first(_ states: Set<OperationState>) async -> Instant? {
            let page = try? await store.lists.operations(
                OperationFilter(states: states), after: nil, limit: 1)
            return page?.items.first?.createdAt
        }
        oldest.forBackend = await first(OperationState.waitsForBackend)
        oldest.forPerson = await first(OperationState.waitsForPerson)
        bytes = Files.size(store.path) ?? 0
        logBytes = Files.size("\(store.path)-wal") ?? 0
        budgetUsed = (try? await store.health.usedShareOfBudget()) ?? nil
    }
}
