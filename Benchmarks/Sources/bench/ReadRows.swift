import Foundation

/// What rows 1 and 2 ask for.
enum Read {
    case item, list

    var row: String { self == .item ? "1" : "2" }
    var work: String {
        self == .item ? "GET by id, 100,000 rows" : "GET filtered, ordered, top 50, 100,000 rows"
    }
    /// The files of bare-server's plan.
    var file: String { self == .item ? "by-id" : "list" }

    func kind(rows: Int) -> Wrk.Kind { self == .item ? .get(rows: rows) : .list }

    /// Where wrk is sent.
    func address(_ table: String) -> String { self == .item ? table : table + Wrk.listQuery }
}

/// Rows 1 and 2: reads, against the bare server on a copy of the same store.
func measureReads(_ stage: Stage, _ read: Read) throws -> [Measurement] {
    let rows = stage.size(100_000)
    let contents = Contents.pulled(rows: rows)
    let plan = stage.places.scratch.appending(path: "plan")
    try stage.stores.withCopy(contents) { try writePlan(stage, $0, to: plan) }
    return try stage.stores.withCopy(contents) { folder in
        let copy = stage.places.scratch.appending(path: "bare.sqlite")
        try? FileManager.default.removeItem(at: copy)
        try FileManager.default.copyItem(at: Stores.file(in: folder), to: copy)
        let bare = try Program(
            stage.places.program("bare-server"), [copy.path, plan.path], in: stage)
        defer { bare.stop() }
        let bareTable = "http://127.0.0.1:\(try bare.firstLine())/tables/todoitem"
        return try stage.withProxy(on: folder) { proxy in
            try compareBodies(proxy.table, bareTable, rows: rows)
            return try [1, 32].map { connections in
                let load = { (table: String) in
                    try Wrk.load(
                        read.address(table), read.kind(rows: rows), connections: connections,
                        seconds: stage.seconds(4), in: stage)
                }
                _ = try (load(proxy.table), load(bareTable))  // Warms both up.
                let rounds = try interleaved(
                    stage.rounds, .oursByTheirs, ours: { try load(proxy.table) },
                    theirs: { try load(bareTable) })
                return Measurement(
                    id: "\(read.row).c\(connections)",
                    work: "\(read.work), \(connections) conn",
                    against: "bare libmicrohttpd + SQLite",
                    unit: "req/s", rounds: rounds)
            }
        }
    }
}

/// Taps the proxy's queries and notes the fields of its answers.
private func writePlan(_ stage: Stage, _ folder: URL, to plan: URL) throws {
    try FileManager.default.createDirectory(at: plan, withIntermediateDirectories: true)
    let tap = Tap(stage)
    try tap.withProxy(on: folder) { proxy in
        let id = itemID(7)
        for (read, address) in [
            (Read.item, "\(proxy.table)/\(id)"), (.list, proxy.table + Wrk.listQuery),
        ] {
            var answer = HTTP.Answer()
            let statements = try tap.statements {
                answer = try HTTP.send("GET", address, fields: generation)
            }
            guard answer.status == 200,
                let query = statements.last(where: { $0.contains("FROM items") })
            else { throw Trouble("The proxy read nothing for \(address): \(answer.status)") }
            // Those that a server sets itself, and the item's own.
            let others = ["date", "connection", "content-length", "etag"]
            let fields = answer.fields.filter { !others.contains($0.key.lowercased()) }
                .sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }.joined()
            try Data(query.replacing("'\(id)'", with: "?1").utf8)
                .write(to: plan.appending(path: "\(read.file).sql"))
            try Data(fields.utf8).write(to: plan.appending(path: "\(read.file).headers"))
        }
    }
}

/// The id that quiet-backend gives a row.
func itemID(_ row: Int) -> String {
    String(
        format: "%08x-0000-4000-8000-%012d", UInt32(truncatingIfNeeded: row) &* 2_654_435_761, row)
}

/// Both sides have to answer the same bytes, or the comparison means nothing.
func compareBodies(_ ours: String, _ theirs: String, rows: Int) throws {
    let items = (0..<20).map { _ in "/" + itemID(Int.random(in: 0..<rows)) }
    for path in items + [Wrk.listQuery] {
        let answers = try [ours, theirs].map {
            try HTTP.send("GET", $0 + path, fields: generation)
        }
        guard answers[0].status == 200, answers[0].body == answers[1].body else {
            throw Trouble(
                "The bare server answers \(path) otherwise: "
                    + answers.map { String(decoding: $0.body.prefix(300), as: UTF8.self) }
                    .joined(separator: " / "))
        }
    }
}
