import Foundation

/// Row 12: from the start of the process until `/-/readyz` answers 200, with much data, against an
/// empty folder. The files are in the page cache on both sides.
func measureStart(_ stage: Stage) throws -> [Measurement] {
    struct Start: Decodable { var milliseconds: Double }
    let full = Contents.pulledAndQueued(
        rows: stage.size(1_000_000), operations: stage.size(100_000))
    let port = try stage.freePort()
    let start = { (folder: URL) -> Double in
        let arguments =
            [String(port), stage.places.understudy.path]
            + Proxy.arguments(folder: folder, port: port, backend: stage.backendURL)
        let start: Start = try Program.measure(
            stage.places.program("cold-start"), arguments, in: stage)
        return start.milliseconds
    }
    let rounds = try stage.stores.withCopy(full) { fullFolder in
        try stage.stores.withCopy(.nothing) { emptyFolder in
            _ = try (start(fullFolder), start(emptyFolder))  // Brings the files into the cache.
            return try interleaved(
                stage.rounds * 2, .oursByTheirs, ours: { try start(fullFolder) },
                theirs: { try start(emptyFolder) })
        }
    }
    return [
        Measurement(
            id: "12", work: "start with 1,000,000 rows, 100,000 operations",
            against: "itself, empty folder", unit: "ms", rounds: rounds)
    ]
}
