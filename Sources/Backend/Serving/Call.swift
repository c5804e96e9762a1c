import HTTPMessage
import HTTPTypes
import TablesProtocol

/// A parsed request: it is split first, and each part is decoded once.
struct Call: Sendable {
    /// The meaning of a path.
    enum Route: Sendable, Hashable {
        case table(TableName)
        case item(TableName, String)
        case faults
        case effects
        case other
    }

    /// The request.
    var request: Request
    /// The meaning of its path.
    var route: Route
    /// The pairs of the query in their order.
    var parameters: [QueryParameter]
    /// The sender, where tokens are verified.
    var sender = Sender.anonymous
    /// How long the storage may take for its list.
    var listTime = RowQuery.Time.whole

    /// Parses a request.
    init(_ request: Request) {
        self.request = request
        route = Self.route(request.path)
        parameters = QueryParameter.lenient(request.query ?? "")
    }

    /// Whether the path is that of the tables or below it.
    var isUnderTables: Bool {
        request.path.split(separator: "/").first?.lowercased() == "tables"
    }

    /// Whether it is one of the backend's own paths, where faults are set and effects are read.
    var isControl: Bool { route == .faults || route == .effects }

    /// The method.
    var method: HTTPRequest.Method { request.head.method }

    /// The media type of the Content-Type field; nil without one.
    var mediaType: MediaType? { field(.contentType).map(MediaType.init) }

    /// Whether it reads a list.
    var isListRead: Bool {
        guard case .table = route else { return false }
        return method == .get || method == .head
    }

    /// The table that it is about; nil for every other path.
    var tableName: TableName? {
        switch route {
        case .table(let name), .item(let name, _): name
        case .faults, .effects, .other: nil
        }
    }

    /// Whether the head says that the body is encoded, or in another charset than UTF-8.
    var hasEncodedBody: Bool {
        let codings = (field(.contentEncoding) ?? "").lowercased().split(separator: ",")
        let isPlain = codings.allSatisfy { $0.filter { !" \t".contains($0) } == "identity" }
        let charsets = mediaType?.charsets ?? []
        return !isPlain || !charsets.allSatisfy { Self.charsets.contains($0) }
    }

    /// The charsets whose bytes are UTF-8, as they stand in a Content-Type.
    private static let charsets: Set = ["utf-8", "\"utf-8\"", "utf8", "us-ascii"]

    /// The value of a header field.
    func field(_ name: HTTPField.Name) -> String? { request.head.headerFields[name] }

    /// The value of a header field by its text; nil when there is none.
    func field(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { request.head.headerFields[$0] }
    }

    /// The value of the first pair with exactly this name.
    func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The value of the first pair with this name in any case.
    func parameter(anyCase name: String) -> String? {
        parameters.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    private static func route(_ path: Substring) -> Route {
        let parts = path.split(separator: "/").map {
            PercentCoding.decodeLeniently($0, plusIsSpace: false)
        }
        switch parts.count {
        case 2 where parts == ["-", "faults"]: return .faults
        case 2 where parts == ["-", "effects"]: return .effects
        case 2 where parts[0].lowercased() == "tables":
            return TableName(parts[1]).map(Route.table) ?? .other
        case 3 where parts[0].lowercased() == "tables":
            return TableName(parts[1]).map { .item($0, parts[2]) } ?? .other
        default: return .other
        }
    }
}

extension Call {
    /// The token of the request in the field where servers of the generation look for it.
    func token(_ generation: Generation) -> String? {
        generation == .datasync ? bearerToken : field("X-ZUMO-AUTH")
    }

    /// The token in the field of any generation.
    var verifiableToken: String? {
        field("X-ZUMO-AUTH").flatMap { $0.isEmpty ? nil : $0 } ?? bearerToken
    }

    /// The token of `Authorization: Bearer` (RFC 6750, section 2.1).
    var bearerToken: String? {
        guard let value = field(.authorization) else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}
