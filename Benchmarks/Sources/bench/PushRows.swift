import Foundation

/// Operations that are sent at once in rows 6 and 7.
private let parallelism = 8

/// Row 6: a push, against libcurl sending as many such requests to the same backend, with two durable
/// transactions of SQLite for each, as a push has.
func measurePush(_ stage: Stage) throws -> [Measurement] {
    let count = stage.size(10_000)
    let rounds = try stage.withBackend(rows: 0) {
        try interleaved(
            stage.rounds, .oursByTheirs, ours: { Double(count) / (try pushSeconds(stage, count)) },
            theirs: {
                let file = try stage.places.emptyFile("bare-push.sqlite")
                let arguments = [
                    "\(stage.backendURL)/tables/todoitem", String(count), String(parallelism),
                    file.path,
                ]
                let sent: Count = try Program.measure(
                    stage.places.program("bare-push"), arguments, in: stage)
                return sent.perSecond
            })
    }
    return [
        Measurement(
            id: "6", work: "push of 10,000, 8 at once", against: "bare libcurl + 2 commits",
            unit: "ops/s", rounds: rounds)
    ]
}

/// Row 7: a push over 20 ms of latency, against one request after another, which is reckoned.
func measureSlowPush(_ stage: Stage) throws -> [Measurement] {
    let (count, latency) = (stage.size(2_000), 20)
    let oneByOne = Double(count * latency) / 1000
    let rounds = try stage.withBackend(rows: 0, latencyMilliseconds: latency) {
        try interleaved(
            min(stage.rounds, mostLongRounds), .theirsByOurs,
            ours: { try pushSeconds(stage, count) }, theirs: { oneByOne })
    }
    return [
        Measurement(
            id: "7", work: "push of 2,000 over 20 ms, 8 at once", against: "one after another",
            unit: "s", rounds: rounds)
    ]
}

private func pushSeconds(_ stage: Stage, _ count: Int) throws -> Double {
    try stage.stores.withCopy(.queued(operations: count)) { folder in
        try stage.withProxy(on: folder) { proxy in
            try proxy.set(parallelism: parallelism, pageRows: 50)
            return try proxy.push(expecting: count)
        }
    }
}
