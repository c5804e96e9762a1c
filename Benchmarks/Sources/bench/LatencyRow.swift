import Foundation

/// What paced-client prints.
private struct Latencies: Decodable {
    struct Milliseconds: Decodable { var p50, p99, max: Double }
    var read, write: Milliseconds
}

/// Row 11: p99 of reads and writes at a calm pace while a million rows are pulled, against the same
/// without a pull. The store has 100,000 rows before, which the reads ask for.
func measureLatency(_ stage: Stage) throws -> [Measurement] {
    let (before, pulled) = (stage.size(100_000), stage.size(1_000_000))
    let seconds = stage.seconds(20)
    let client = { (proxy: Proxy) -> Latencies in
        let arguments = [proxy.table, "100", String(seconds), String(before)]
        return try Program.measure(
            stage.places.program("paced-client"), arguments, in: stage)
    }
    var reads: [Measurement.Round] = []
    var writes: [Measurement.Round] = []
    var note: String?
    for _ in 0..<min(stage.rounds, mostLongRounds) {
        // A store of its own for each side: what one client wrote, the other's pull would push first.
        let idle = try stage.stores.withCopy(.pulled(rows: before)) { folder in
            try stage.withProxy(on: folder, client)
        }
        let busy = try stage.withBackend(rows: before + pulled) {
            try stage.stores.withCopy(.pulled(rows: before)) { folder in
                try stage.withProxy(on: folder) { proxy in
                    let run = try proxy.startPull()
                    let latencies = try client(proxy)
                    if try proxy.run(run.id).state != "running" {
                        note = "the pull ended before the client: its p99 is too good"
                    }
                    return latencies
                }
            }
        }
        reads.append(compare(busy.read.p99, idle.read.p99))
        writes.append(compare(busy.write.p99, idle.write.p99))
    }
    return [("read", reads), ("write", writes)].map { name, rounds in
        Measurement(
            id: "11.\(name)", work: "p99 of a \(name) beside a pull of 1,000,000",
            against: "itself, idle", unit: "ms", rounds: rounds, note: note)
    }
}

/// One round of a latency.
private func compare(_ ours: Double, _ theirs: Double) -> Measurement.Round {
    Measurement.Round(
        ours: ours, theirs: theirs, ratio: Comparison.oursByTheirs.ratio(ours, theirs))
}
