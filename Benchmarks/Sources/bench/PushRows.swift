import Foundation

/// Operations that are sent at once in rows 6 and 7.
private let parallelism = 8

/// Rows 6 and 6.shared: a push, against libcurl sending as many such requests to the same backend. In row 6
/// each request has two durable transactions of SQLite of its own; in 6.shared the requests share them, as
/// those of a push do.
func measurePush(_ stage: Stage) throws -> [Measurement] {
    try stage.withBackend(rows: 0) {
        [
            Measurement(
                id: "6", work: "push of 10,000, 8 at once",
                against: "bare libcurl, 2 commits each", unit: "ops/s",
                rounds: try pushRounds(stage, ["own"])),
            Measurement(
                id: "6.shared", work: "push of 10,000, 8 at once",
                against: "bare libcurl, shared commits", unit: "ops/s",
                rounds: try pushRounds(stage, [])),
        ]
    }
}

private func pushRounds(_ stage: Stage, _ manner: [String]) throws -> [Measurement.Round] {
    let count = stage.size(10_000)
    return try interleaved(
        stage.rounds, .oursByTheirs, ours: { Double(count) / (try pushSeconds(stage, count)) },
        theirs: {
            let file = try stage.places.emptyFile("bare-push.sqlite")
            let sent: Count = try Program.measure(
                stage.places.program("bare-push"),
                [
                    "\(stage.backendURL)/tables/todoitem", String(count), String(parallelism),
                    file.path,
                ]
                    + manner, in: stage)
            return sent.perSecond
        })
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
