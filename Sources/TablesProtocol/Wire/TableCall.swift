public import HTTPMessage
import HTTPTypes

/// What a request on `/tables/…` asks for, taken from the wire form of any generation.
public struct TableCall: Sendable {
    /// What is to be done.
    public enum Verb: Sendable {
        case list(TableQuery)
        /// The query's select alone counts.
        case get(ItemID, TableQuery)
        case insert(ItemBody)
        /// PATCH: only the columns in the body change; its mark `deleted` deletes or brings back.
        case update(ItemID, ItemBody)
        /// PUT: columns that the body leaves out go.
        case replace(ItemID, ItemBody)
        case delete(ItemID)
        case undelete(ItemID)
    }

    /// The table, as the client spelled it.
    public var table: TableName
    /// What is to be done.
    public var verb: Verb
    /// What the request makes the state of its item a condition of; none for lists and inserts.
    public var conditions: Conditions
    /// The SDK that asks; it decides the shape of the answer.
    public var client: ClientFamily
    /// System properties that the answer shows: those asked for in the first generation, else all.
    public var systemProperties: Set<SystemProperty>
    /// Whether deleted items are meant as well.
    public var includeDeleted: Bool
    /// The client's own query pairs, in order as they came, to be sent on.
    public var parameters: [QueryParameter]
    /// How the client addressed the table; links in the answer are made of it.
    public var origin: CallOrigin

    /// The generation of the client.
    public var generation: Generation { client.generation }
}

extension TableCall {
    /// What method, path and body ask for.
    static func verb(
        _ request: Request, _ path: TablePath, _ parameters: [QueryParameter],
        _ generation: Generation
    ) throws(TablesError) -> Verb {
        switch (request.head.method, path.id) {
        case (.get, nil), (.head, nil): return .list(try query(parameters, generation))
        case (.get, let id?), (.head, let id?):
            return .get(id, try query(parameters.filter(countsForOne), generation))
        case (.post, nil):
            var body = try body(request, generation)
            if let number = body.id?.number, body.id?.kind == .integer, number < 0 { body.id = nil }
            return .insert(body)
        case (.post, let id?) where generation != .datasync: return .undelete(id)
        case (.patch, nil) where generation == .mobileApps:
            let body = try body(request, generation, isPatch: true)
            guard let id = body.id else { throw .badRequest("The body has no id.") }
            return .update(id, body)
        case (.patch, let id?):
            return .update(id, try body(request, generation, for: id, isPatch: true))
        case (.put, let id?) where generation != .mobileServices:
            return .replace(id, try body(request, generation, for: id))
        case (.delete, let id?): return .delete(id)
        case (_, let id):
            throw .methodNotAllowed(allow: methods(onItem: id != nil, generation))
        }
    }

    static func methods(onItem: Bool, _ generation: Generation) -> [String] {
        switch (onItem, generation) {
        case (false, .mobileServices), (false, .datasync): ["GET", "POST"]
        case (false, .mobileApps): ["GET", "POST", "PATCH"]
        case (true, .mobileServices): ["GET", "POST", "PATCH", "DELETE"]
        case (true, .mobileApps): ["GET", "POST", "PATCH", "PUT", "DELETE"]
        case (true, .datasync): ["GET", "PATCH", "PUT", "DELETE"]
        }
    }

    private static func query(
        _ parameters: [QueryParameter], _ generation: Generation
    ) throws(TablesError) -> TableQuery {
        do throws(ODataError) {
            return try TableQuery.parse(parameters, generation: generation)
        } catch { throw .badQuery(error) }
    }

    /// Of the options only select and the inclusion of deleted items count for a single item.
    private static func countsForOne(_ parameter: QueryParameter) -> Bool {
        ["$select", "__includedeleted"].contains(parameter.name.lowercased())
    }

    private static func body(
        _ request: Request, _ generation: Generation, for id: ItemID? = nil, isPatch: Bool = false
    ) throws(TablesError) -> ItemBody {
        let type = request.head.headerFields[.contentType]
        guard ContentType.isJSON(type) else { throw .unsupportedContentType }
        let body =
            isPatch && ContentType.isJSONPatch(type)
            ? try ItemBody.parse(patch: request.body, generation: generation)
            : try ItemBody.parse(request.body, generation: generation)
        if let id, let stated = body.id, stated != id { throw .idMismatch }
        return body
    }
}

extension TableCall.Verb {
    /// The columns that a read selects; nil for all.
    var select: [Expression.Column]? {
        switch self {
        case .list(let query), .get(_, let query): query.select
        case .insert, .update, .replace, .delete, .undelete: nil
        }
    }

    /// Says the same in the query as in the call.
    mutating func setIncludeDeleted(_ includeDeleted: Bool) {
        switch self {
        case .list(var query):
            query.includeDeleted = includeDeleted
            self = .list(query)
        case .get(let id, var query):
            query.includeDeleted = includeDeleted
            self = .get(id, query)
        case .insert, .update, .replace, .delete, .undelete: break
        }
    }
}

extension TableCall {
    /// The methods that a path on `/tables` takes from the client that asks, as `Allow` of an answer to
    /// OPTIONS lists them: those that name a verb, HEAD where GET is one, and OPTIONS itself. The version
    /// of the protocol is not judged, as on the Node server.
    /// - Parameters:
    ///   - request: any request to the path, its target undecoded.
    ///   - defaultGeneration: what a request without any mark of its SDK is taken for.
    /// - Throws: ``TablesError`` for a path that names neither a table nor an item.
    public static func allowedMethods(
        _ request: Request, defaultGeneration: Generation
    ) throws(TablesError) -> [String] {
        let path = try TablePath(request.path)
        let client = ClientFamily.detect(request, default: defaultGeneration)
        let verbs = methods(onItem: path.id != nil, client.generation)
        return verbs.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] } + ["OPTIONS"]
    }
}
