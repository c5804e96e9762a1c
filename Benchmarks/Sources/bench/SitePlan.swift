import Foundation

/// What rows 15 to 17 ask a backend for.
enum SiteRequest: String, CaseIterable {
    case item, list, insert

    /// The item that is asked for, or made, while the backend is listened to.
    private static let tapped = itemID(7)
    private static let body = "{\"text\":\"Todo, as long as they are\",\"complete\":false}"

    /// Sends it once.
    func send(to table: String) throws -> HTTP.Answer {
        let answer =
            switch self {
            case .item: try HTTP.send("GET", "\(table)/\(Self.tapped)", fields: generation)
            case .list: try HTTP.send("GET", table + Wrk.listQuery, fields: generation)
            case .insert: try HTTP.send("POST", table, fields: generation, body: Self.body)
            }
        guard answer.status == (self == .insert ? 201 : 200) else {
            throw Trouble("The \(rawValue) of \(table) gave \(answer.status).")
        }
        return answer
    }

    /// The id in its answer; nil for a list.
    func id(_ answer: HTTP.Answer) throws -> String? {
        struct Item: Decodable { var id: String }
        if self == .list { return nil }
        return try JSONDecoder().decode(Item.self, from: answer.body).id
    }
}

/// Writes the plan of bare-backend: the statements of each request, as the backend itself runs them.
///
/// The first request of a connection also prepares statements and reads the table; so the second is listened
/// to. Ids, and the times of an insert, become tokens.
func writeSitePlan(_ site: Site, to plan: URL, in stage: Stage) throws {
    try FileManager.default.createDirectory(at: plan, withIntermediateDirectories: true)
    let tap = stage.places.scratch.appending(path: "tapped.sql")
    try Data().write(to: tap)
    try site.withNode(
        on: site.copy(), preload: stage.places.shim("query-tap"),
        environment: ["QUERY_TAP": tap.path]
    ) { node in
        for request in SiteRequest.allCases {
            _ = try request.send(to: node.table)
            try Data().write(to: tap)
            let answer = try request.send(to: node.table)
            let statements = try String(contentsOf: tap, encoding: .utf8)
            guard statements.contains("FROM items") || statements.contains("INTO items") else {
                throw Trouble("The backend ran no statement for the \(request): \(statements)")
            }
            let text = tokens(statements, request, id: try request.id(answer))
            try Data(text.utf8).write(to: plan.appending(path: "\(request.rawValue).sql"))
            try Data(headers(answer).utf8)
                .write(to: plan.appending(path: "\(request.rawValue).headers"))
        }
    }
}

/// The statements with tokens for what differs between requests.
private func tokens(_ statements: String, _ request: SiteRequest, id: String?) -> String {
    var text = statements
    if let id { text = text.replacing("'\(id)'", with: "{id}") }
    guard request == .insert else { return text }
    // Ticks of 100 ns since year 1, and milliseconds since 1970.
    return text.replacing(#/'[0-9]{18}'|\b[0-9]{18}\b/#, with: "{ticks}")
        .replacing(#/'[0-9]{13}'|\b[0-9]{13}\b/#, with: "{ms}")
}

/// The fields of an answer but for those that a server sets itself, and the item's own.
private func headers(_ answer: HTTP.Answer) -> String {
    let others = ["date", "connection", "content-length", "etag", "location"]
    return answer.fields.filter { !others.contains($0.key.lowercased()) }
        .sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }.joined()
}
