import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol

/// A backend for which ids that differ in case or in blanks at their end are one, as SQL Server compares them.
/// It answers with the spelling of the insert, or, where its column is a uuid, with lower case.
struct EqualIDs: HTTPTransport {
    let base: any HTTPTransport
    let backend: TablesBackend
    let isLowerCase: Bool

    /// The one spelling of all ids that are one.
    static func folded(_ id: String) -> String {
        let trimmed = id.reversed().drop { $0 == " " }.reversed()
        return String(trimmed).lowercased()
    }

    func send(_ request: Request) async throws(TransportError) -> Response {
        var request = request
        var spelled: [String: String] = [:]
        if let table = TableName(request.table) {
            for item in (try? await backend.items(in: table)) ?? [] {
                spelled[Self.folded(item.id.text)] = item.id.text
            }
        }
        func spelling(_ id: String) -> String {
            let folded = Self.folded(id)
            return spelled[folded] ?? (isLowerCase ? folded : id)
        }
        let path = request.head.path ?? ""
        let query = path.firstIndex(of: "?").map { String(path[$0...]) } ?? ""
        if let id = request.itemID {
            let segment = PercentCoding.encode(spelling(id))
            request.head.path = "/tables/\(request.table)/\(segment)\(query)"
        } else if let id = request.readID, let begin = path.firstRange(of: "id%20eq%20'") {
            let end = path[begin.upperBound...].firstIndex(of: "'") ?? path.endIndex
            request.head.path =
                path[..<begin.upperBound] + PercentCoding.encode(spelling(id)) + path[end...]
        }
        if var body = try? Columns(parsing: request.body), let id = body["id"]?.string {
            body["id"] = .string(spelling(id))
            request.body = Array(body.text.utf8)
        }
        return try await base.send(request)
    }
}
