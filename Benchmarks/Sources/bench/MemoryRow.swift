import Foundation

/// Row 13: resident memory, shared pages of the program and its libraries included.
func measureMemory(_ stage: Stage) throws -> [Measurement] {
    let rounds = 0..<min(stage.rounds, mostLongRounds)
    let idle = try rounds.map { _ in try idleMemory(stage) }
    let queued = try rounds.map { _ in try queueMemory(stage) }
    let pulling = try rounds.map { _ in try pullMemory(stage) }
    return [
        ("idle", "idle, empty store", idle),
        ("queue", "after taking 100,000 operations", queued),
        ("pull", "highest during a pull of 1,000,000 rows", pulling),
    ].map { variant, work, values in
        Measurement(
            id: "13.\(variant)", work: "memory \(work)", against: "", unit: "MiB",
            rounds: values.map { Measurement.Round(ours: $0) })
    }
}

private func idleMemory(_ stage: Stage) throws -> Double {
    try stage.stores.withCopy(.nothing) { folder in
        try stage.withProxy(on: folder) { proxy in
            sleep(1)
            return try proxy.residentMiB()
        }
    }
}

private func queueMemory(_ stage: Stage) throws -> Double {
    try stage.stores.withCopy(.nothing) { folder in
        try stage.withProxy(on: folder) { proxy in
            try stage.stores.queue(stage.size(100_000), in: proxy)
            sleep(1)
            return try proxy.residentMiB()
        }
    }
}

private func pullMemory(_ stage: Stage) throws -> Double {
    let rows = stage.size(1_000_000)
    return try stage.withBackend(rows: rows) {
        try stage.stores.withCopy(.nothing) { folder in
            try stage.withProxy(on: folder) { proxy in
                try proxy.set(parallelism: 1, pageRows: 1000)
                var run = try proxy.startPull()
                var highest = 0.0
                while run.state == "running" {
                    for _ in 0..<10 {
                        highest = max(highest, try proxy.residentMiB())
                        usleep(20_000)
                    }
                    run = try proxy.run(run.id)
                }
                guard run.pull.first?.received == rows else {
                    throw Trouble("The pull ended \(run.state) before all rows were here.")
                }
                return highest
            }
        }
    }
}
