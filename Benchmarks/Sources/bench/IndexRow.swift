import Foundation

/// A list that an index is built for.
private struct IndexedList {
    var variant: String
    var work: String
    /// As it stands in the address, but for the encoding.
    var query: String
    var index: String

    var encoded: String {
        query.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? query
    }

    /// Rows that match one by one, rows that lie apart, and rows that lie together.
    static let all = [
        IndexedList(
            variant: "equal", work: "one text",
            query: "$filter=text eq 'Todo 4711, as long as they are'&$top=50", index: "text"),
        IndexedList(
            variant: "range", work: "texts from one on, in their order, top 50",
            query: "$filter=text ge 'Todo 5'&$orderby=text&$top=50", index: "text"),
        IndexedList(
            variant: "latest", work: "not complete, latest first, top 50",
            query: "$filter=complete eq false&$orderby=updatedAt desc&$top=50",
            index: "complete,updatedAt desc"),
    ]
}

/// Row 14: lists of a large table through their indexes against look-ups by id, both over
/// one connection: the time that a client waits.
func measureIndexes(_ stage: Stage) throws -> [Measurement] {
    let rows = stage.size(1_000_000)
    return try stage.stores.withCopy(.pulled(rows: rows)) { folder in
        try stage.withProxy(on: folder) { proxy in
            stage.say("  making the indexes")
            let indexes = Set(IndexedList.all.map(\.index)).flatMap { ["--index", $0] }
            let arguments = ["tables", "set", "todoitem", "--data", folder.path] + indexes
            // The second time waits, as each write does, until the indexes of the first are built.
            for _ in 0..<2 {
                _ = try Program(stage.places.understudy.path, arguments, in: stage).finish()
            }
            return try IndexedList.all.map { list in
                let time = { (address: String, kind: Wrk.Kind) -> Double in
                    1_000_000
                        / (try Wrk.load(
                            address, kind, connections: 1, seconds: stage.seconds(4), in: stage))
                }
                let ours = { try time("\(proxy.table)?\(list.encoded)", .list) }
                let theirs = { try time(proxy.table, .get(rows: rows)) }
                _ = try (ours(), theirs())  // Warms both up.
                return Measurement(
                    id: "14.\(list.variant)", work: "\(list.work), 1,000,000 rows, 1 conn",
                    against: "itself, look-up by id", unit: "µs",
                    rounds: try interleaved(
                        stage.rounds, .oursByTheirs, ours: ours, theirs: theirs))
            }
        }
    }
}
