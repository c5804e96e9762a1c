import Foundation

/// Row 8: a pull into an empty store, against libcurl and a json_each insert into the same schema,
/// with small pages, as unset, and large ones.
func measurePull(_ stage: Stage) throws -> [Measurement] {
    let rows = stage.size(100_000)
    return try stage.withBackend(rows: rows) {
        try [50, 1000].map { pageRows in
            let rounds = try interleaved(
                stage.rounds, .oursByTheirs,
                ours: { Double(rows) / (try pullSeconds(stage, rows, pageRows: pageRows)) },
                theirs: {
                    try stage.stores.withCopy(.nothing) { folder in
                        let arguments = [
                            "\(stage.backendURL)/tables/todoitem", String(pageRows),
                            Stores.file(in: folder).path,
                        ]
                        let count: Count = try Program.measure(
                            stage.places.program("bare-pull"), arguments, in: stage)
                        guard count.count == rows else {
                            throw Trouble("bare-pull took \(count.count) of \(rows) rows.")
                        }
                        return count.perSecond
                    }
                })
            return Measurement(
                id: "8.p\(pageRows)", work: "pull of 100,000 rows, pages of \(pageRows)",
                against: "bare libcurl + json_each", unit: "rows/s", rounds: rounds)
        }
    }
}

/// Row 9: how much more a row of a pull of ten times as many rows costs. Where ids are random, against
/// the same of SQLite alone with one index of such ids; where they come in order, as an identity column
/// gives them, against nothing.
func measureLongPull(_ stage: Stage) throws -> [Measurement] {
    let (few, many) = (stage.size(100_000), stage.size(1_000_000))
    let rounds = min(stage.rounds, mostLongRounds)
    let pulled = { (rows: Int, ids: Stage.IDs) in
        try stage.withBackend(rows: rows, ids: ids) {
            try pullSeconds(stage, rows, pageRows: 1000) / Double(rows) * 1e6
        }
    }
    let alone = { (rows: Int) in
        let file = try stage.places.emptyFile("bare-grow.sqlite")
        let taken: Count = try Program.measure(
            stage.places.program("bare-grow"), [file.path, String(rows)], in: stage)
        return 1e6 / taken.perSecond
    }
    return [
        Measurement(
            id: "9", work: "pull of 1,000,000 rows by 100,000",
            against: "SQLite, index of random ids",
            unit: "times",
            rounds: try interleaved(
                rounds, .oursByTheirs,
                ours: { try pulled(many, .scattered) / pulled(few, .scattered) },
                theirs: { try alone(many) / alone(few) })),
        Measurement(
            id: "9.ordered", work: "pull of 1,000,000 rows, ids in order",
            against: "itself, 100,000 rows", unit: "µs/row",
            rounds: try interleaved(
                rounds, .oursByTheirs, ours: { try pulled(many, .inOrder) },
                theirs: { try pulled(few, .inOrder) })),
    ]
}

/// A pull into an empty store, with a backend in reach.
private func pullSeconds(_ stage: Stage, _ rows: Int, pageRows: Int) throws -> Double {
    try stage.stores.withCopy(.nothing) { folder in
        try stage.withProxy(on: folder) { proxy in
            try proxy.set(parallelism: 1, pageRows: pageRows)
            return try proxy.pull(expecting: rows)
        }
    }
}
