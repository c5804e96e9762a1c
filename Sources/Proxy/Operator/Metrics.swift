import SyncCore
import TablesProtocol

/// The numbers of this process in the text format of Prometheus, named by its conventions.
struct Metrics: Sendable {
    let statuses: [EngineStatus]
    /// When the oldest open operation of each identity was accepted; none without open operations.
    let oldest: [String: Instant]
    let rejections: [RejectionLog.Entry]
    let startedAt: Instant
    let now: Instant

    /// The whole text.
    var text: String {
        var lines: [String] = []
        family(
            &lines, "understudy_build_info", "gauge", "The version of this program.",
            [("version=\"\(Version.text)\"", 1)])
        family(
            &lines, "understudy_start_time_seconds", "gauge", "When this process started.",
            [("", startedAt.milliseconds / 1000)])
        family(
            &lines, "understudy_backend_up", "gauge", "Whether the backend can be reached.",
            statuses.map { (identity($0), $0.backend.state == .online ? 1 : 0) })
        family(
            &lines, "understudy_queue_operations", "gauge", "Open operations by state.",
            statuses.flatMap { status in
                queue(status.queue).map { ("\(identity(status)),state=\"\($0.0)\"", $0.1) }
            })
        family(
            &lines, "understudy_queue_oldest_operation_age_seconds", "gauge",
            "How long the oldest open operation has been waiting; 0 when none is open.",
            statuses.map { status in
                let age = oldest[status.identity].map { now.milliseconds - $0.milliseconds } ?? 0
                return (identity(status), max(age, 0) / 1000)
            })
        family(
            &lines, "understudy_operations_total", "counter",
            "Operations by what became of them, and all that were accepted.",
            statuses.flatMap { status in
                ledger(status.ledger).map { ("\(identity(status)),outcome=\"\($0.0)\"", $0.1) }
            })
        family(
            &lines, "understudy_ledger_imbalance", "gauge",
            "1 when the ledger does not balance, which is an alarm.",
            statuses.map { (identity($0), $0.ledger.balances ? 0 : 1) })
        family(
            &lines, "understudy_sync_stalls_total", "counter",
            "How often syncing stood still and was started again.",
            statuses.map { (identity($0), Int64($0.stalls)) })
        family(
            &lines, "understudy_last_sync_timestamp_seconds", "gauge",
            "When the last sync ended well.",
            statuses.compactMap { status in
                status.lastSync.map { (identity(status), $0.milliseconds / 1000) }
            })
        family(
            &lines, "understudy_table_items", "gauge", "Rows of each table.",
            statuses.flatMap { status in
                status.tables.map { ("\(identity(status)),table=\"\($0.name)\"", Int64($0.items)) }
            })
        family(
            &lines, "understudy_rejected_requests_total", "counter",
            "Requests that were refused, by reason.",
            rejections.map { ("reason=\"\($0.reason.word)\"", Int64($0.count)) })
        return lines.joined(separator: "\n") + "\n"
    }

    private func family(
        _ lines: inout [String], _ name: String, _ type: String, _ help: String,
        _ samples: [(labels: String, value: Int64)]
    ) {
        if samples.isEmpty { return }
        lines.append("# HELP \(name) \(help)")
        lines.append("# TYPE \(name) \(type)")
        for sample in samples {
            let labels = sample.labels.isEmpty ? "" : "{\(sample.labels)}"
            lines.append("\(name)\(labels) \(sample.value)")
        }
    }

    /// Keys of identities and names of tables hold no character that a label must escape.
    private func identity(_ status: EngineStatus) -> String { "identity=\"\(status.identity)\"" }

    private func queue(_ queue: QueueCounts) -> [(String, Int64)] {
        [
            ("queued", Int64(queue.queued)), ("waiting", Int64(queue.waiting)),
            ("sending", Int64(queue.sending)), ("unknown", Int64(queue.unknown)),
            ("conflict", Int64(queue.conflict)), ("quarantined", Int64(queue.quarantined)),
        ]
    }

    private func ledger(_ ledger: Ledger) -> [(String, Int64)] {
        [
            ("accepted", ledger.accepted), ("applied", ledger.applied),
            ("collapsed", ledger.collapsed), ("discarded", ledger.discarded),
        ]
    }
}
