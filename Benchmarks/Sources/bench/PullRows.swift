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

/// Row 9: time for each row of a pull of ten times as many rows, where ids are random and where they
/// come in order, as an identity column gives them.
func measureLongPull(_ stage: Stage) throws -> [Measurement] {
    try Stage.IDs.allCases.map { ids in
        let microseconds = { (rows: Int) in
            try stage.withBackend(rows: rows, ids: ids) {
                try pullSeconds(stage, rows, pageRows: 1000) / Double(rows) * 1e6
            }
        }
        let rounds = try interleaved(
            min(stage.rounds, mostLongRounds), .oursByTheirs,
            ours: { try microseconds(stage.size(1_000_000)) },
            theirs: { try microseconds(stage.size(100_000)) })
        let (id, work) =
            switch ids {
            case .scattered: ("9", "pull of 1,000,000 rows")
            case .inOrder: ("9.ordered", "pull of 1,000,000 rows, ids in order")
            }
        return Measurement(
            id: id, work: work, against: "itself, 100,000 rows", unit: "µs/row", rounds: rounds)
    }
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
