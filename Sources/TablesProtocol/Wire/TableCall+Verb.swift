import HTTPMessage
import HTTPTypes

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
}

extension TableCall.Verb {
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
