import Foundation

/// Rows 3 to 5: durable inserts into a store of 100,000 rows, against bare SQLite writing the same
/// rows into a copy of the same store, a transaction each. Every measurement begins with a fresh copy.
func measureInserts(
    _ stage: Stage, id: String, connections: Int, isDiskSlow: Bool = false
) throws -> Measurement {
    let contents = Contents.pulled(rows: stage.size(100_000))
    let plan = stage.places.scratch.appending(path: "insert.sql")
    try stage.stores.withCopy(contents) { try Tap(stage).insertStatements($0, to: plan) }
    let preload = isDiskSlow ? stage.places.shim("slow-fsync") : nil
    let seconds = stage.seconds(4)
    let rounds = try interleaved(
        stage.rounds, .oursByTheirs,
        ours: {
            try stage.stores.withCopy(contents) { folder in
                try stage.withProxy(on: folder, preload: preload) { proxy in
                    try Wrk.load(
                        proxy.table, .post, connections: connections, seconds: seconds, in: stage)
                }
            }
        },
        theirs: {
            try stage.stores.withCopy(contents) { folder in
                let arguments = [Stores.file(in: folder).path, plan.path, String(seconds)]
                let count: Count = try Program.measure(
                    stage.places.program("bare-insert"), arguments, in: stage, preload: preload)
                return count.perSecond
            }
        })
    return Measurement(
        id: id,
        work: "POST, \(connections) conn\(isDiskSlow ? ", fsync 2 ms" : ""), 100,000 rows",
        against: "bare SQLite, one FULL transaction each", unit: "inserts/s", rounds: rounds)
}

/// Row 10: inserts with a million operations queued, against the same number of rows with none.
func measureLongQueue(_ stage: Stage) throws -> [Measurement] {
    let count = stage.size(1_000_000)
    let load = { (contents: Contents, connections: Int) in
        try stage.stores.withCopy(contents) { folder in
            try stage.withProxy(on: folder) { proxy in
                try Wrk.load(
                    proxy.table, .post, connections: connections, seconds: stage.seconds(4),
                    in: stage)
            }
        }
    }
    return try [1, 32].map { connections in
        let rounds = try interleaved(
            min(stage.rounds, mostLongRounds), .theirsByOurs,
            ours: { try load(.queued(operations: count), connections) },
            theirs: { try load(.pulled(rows: count), connections) })
        return Measurement(
            id: "10.c\(connections)", work: "POST, \(connections) conn, 1,000,000 queued",
            against: "itself, as many rows, none queued", unit: "inserts/s", rounds: rounds)
    }
}
