import Foundation

/// The proxy's own SQL, listened to while it answers a request, so that the bare programs run the
/// same statements and none is written down here.
struct Tap {
    private let file: URL
    private let stage: Stage

    init(_ stage: Stage) {
        self.stage = stage
        file = stage.places.scratch.appending(path: "tapped.sql")
    }

    /// Runs something with a tapped proxy.
    func withProxy<T>(on folder: URL, _ body: (Proxy) throws -> T) throws -> T {
        try stage.withProxy(
            on: folder, preload: stage.places.shim("query-tap"),
            environment: ["QUERY_TAP": file.path], body)
    }

    /// The statements that a request makes the proxy run, with their values.
    func statements(of request: () throws -> Void) throws -> [String] {
        try Data().write(to: file)
        try request()
        // What the request does after its answer does not matter here.
        return try String(contentsOf: file, encoding: .utf8)
            .components(separatedBy: "\n--\n").filter { !$0.isEmpty }
    }
}

extension Tap {
    /// Writes the statements of one insert for bare-insert: what the proxy writes, in its order.
    ///
    /// 1. The first insert of a table may make it; so the second is taken.
    /// 2. Of its transaction only what writes counts.
    /// 3. Item id, operation id and time become parameters.
    func insertStatements(_ folder: URL, to plan: URL) throws {
        let id = "tapped-insert"
        let all = try withProxy(on: folder) { proxy in
            try insert("untapped-insert", proxy)
            return try statements { try insert(id, proxy) }
        }
        let writes = all.filter { $0.hasPrefix("INSERT") || $0.hasPrefix("UPDATE") }
        let operation = writes.first { $0.contains("INTO operations") }
        let uuid = #/'([0-9a-f]{8}-[0-9a-f-]{27})'/#
        guard let operation, let operationID = operation.firstMatch(of: uuid)?.output.0 else {
            throw Trouble("The proxy's insert has no operation: \(all)")
        }
        // Milliseconds since 1970, stamps among them, which may be ahead of the clock.
        let time = #/\b[0-9]{13}\b/#
        let text = writes.map { write in
            write.replacing("'\(id)'", with: "?1").replacing(operationID, with: "?2")
                .replacing(time, with: "?3") + "\n--\n"
        }
        try Data(text.joined().utf8).write(to: plan)
    }

    private func insert(_ id: String, _ proxy: Proxy) throws {
        let body = "{\"id\":\"\(id)\",\"text\":\"Todo, as long as they are\",\"complete\":false}"
        let answer = try HTTP.send("POST", proxy.table, fields: generation, body: body)
        guard answer.status == 201 else { throw Trouble("The insert gave \(answer.status).") }
    }
}

/// The field that makes a request one of the second generation.
let generation = ["ZUMO-API-VERSION": "2.0.0"]
