public import HTTPMessage
import HTTPTypes

/// A request on `/tables/…`, independent of the generation.
public struct TableCall: Sendable {
    public enum Verb: Sendable {
        case list(TableQuery)
        /// Only the select of the query counts.
        case get(ItemID, TableQuery)
        case insert(ItemBody)
        /// PATCH: only the columns in the body change. `deleted` in the body deletes or undeletes the item.
        case update(ItemID, ItemBody)
        /// PUT: columns that the body leaves out are removed.
        case replace(ItemID, ItemBody)
        case delete(ItemID)
        case undelete(ItemID)

        /// Whether it changes an item.
        public var isWrite: Bool {
            switch self {
            case .list, .get: false
            case .insert, .update, .replace, .delete, .undelete: true
            }
        }
    }

    /// The table, in the client's spelling.
    public var table: TableName
    public var verb: Verb
    /// The conditions on the item's state; none for lists and inserts.
    public var conditions: Conditions
    /// The client's SDK, which decides the form of the answer.
    public var client: ClientFamily
    /// The system properties that the answer shows: in the first generation the requested ones, later all.
    public var systemProperties: Set<SystemProperty>
    /// Whether deleted items are included.
    public var includeDeleted: Bool
    /// The client's custom query pairs, in order and undecoded, which are sent to the backend.
    public var parameters: [QueryParameter]
    /// How the client addressed the table, for the links in the answer.
    public var origin: CallOrigin

    public var generation: Generation { client.generation }
}

extension TableCall {
    /// The operation of a method, path and body.
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
            return try TableQuery.parse(parameters, generation: generation, keepsBeyond: true)
        } catch { throw .badQuery(error) }
    }

    /// Whether an option counts for a single item: only select and the inclusion of deleted items do.
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

    /// Sets the flag in the query of a read.
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

/// The head of a request on `/tables`, read once: its path, its query pairs, and its client.
public struct TablesHead: Sendable {
    public let path: Result<TablePath, TablesError>
    public let client: ClientFamily
    let parameters: Result<[QueryParameter], ODataError>
    let defaultGeneration: Generation

    /// - Parameters:
    ///   - request: the request as received, with an undecoded target.
    ///   - path: its path; see ``TablePath/read(_:)``.
    ///   - defaultGeneration: the generation of a request that shows none.
    public init(
        _ request: Request, _ path: Result<TablePath, TablesError>, defaultGeneration: Generation
    ) {
        self.path = path
        self.defaultGeneration = defaultGeneration
        do throws(ODataError) {
            parameters = .success(try QueryParameter.split(request.query))
        } catch {
            parameters = .failure(error)
        }
        client = ClientFamily.detect(
            request.head, (try? parameters.get()) ?? [], default: defaultGeneration)
    }

    /// The methods that the path accepts from the client, for the `Allow` field of an answer to OPTIONS: those
    /// with a verb, HEAD beside GET, and OPTIONS. As on the Node server, the protocol version is not checked.
    public func allowedMethods() throws(TablesError) -> [String] {
        let verbs = TableCall.methods(onItem: try path.get().id != nil, client.generation)
        return verbs.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] } + ["OPTIONS"]
    }
}

/// The content types of a body on `/tables`.
enum ContentType {
    /// Whether a body of this type is a JSON Patch (RFC 6902).
    static func isJSONPatch(_ field: String?) -> Bool {
        field.map { MediaType($0).name == "application/json-patch+json" } ?? false
    }

    /// Whether a body of this type is JSON in UTF-8. A missing or empty type counts as JSON, as on the real
    /// servers.
    static func isJSON(_ field: String?) -> Bool {
        guard let field, !field.trimmed.isEmpty else { return true }
        let type = MediaType(field)
        return type.isJSON
            && type.charsets.allSatisfy { ["utf-8", "\"utf-8\"", "utf8", "us-ascii"].contains($0) }
    }
}

extension TableCall {
    /// Parses a request on `/tables/…`, as ``parse(_:_:)`` does.
    public static func parse(
        _ request: Request, defaultGeneration: Generation
    ) throws(TablesError) -> TableCall {
        let path = TablePath.read(request.path) ?? .failure(.unknownTable(String(request.path)))
        return try parse(
            request, TablesHead(request, path, defaultGeneration: defaultGeneration))
    }

    /// Parses a request on `/tables/…`. The body of a read or delete is ignored, because SDKs send one.
    /// - Parameter head: its head, which was read before.
    /// - Throws: ``TablesError`` for an invalid request.
    public static func parse(
        _ request: Request, _ head: TablesHead
    ) throws(TablesError) -> TableCall {
        let fields = request.head.headerFields
        let client = head.client
        let parameters: [QueryParameter]
        do throws(ODataError) { parameters = try head.parameters.get() } catch {
            throw .badQuery(error)
        }
        try checkVersion(fields, parameters)
        try checkNames(parameters, generation: client.generation)
        if fields[.methodOverride] != nil { throw .methodOverride }
        let path = try head.path.get()
        guard path.below.isEmpty else { throw .unknownTable(String(request.path)) }
        // The first generation's servers do not know the field.
        let includeDeleted =
            client != .mobileServices && fields[.zumoOptions]?.trimmed == "include:deleted"
            || parameters.contains {
                $0.name.lowercased() == "__includedeleted" && $0.value.lowercased() == "true"
            }
        var verb = try verb(request, path, parameters, client.generation)
        verb.setIncludeDeleted(includeDeleted)
        var call = TableCall(
            table: path.table, verb: verb, conditions: Conditions(), client: client,
            systemProperties: try SystemProperty.requested(
                parameters, select: verb.select, generation: client.generation),
            includeDeleted: includeDeleted,
            parameters: parameters.filter { isCustom($0, client.generation) },
            origin: CallOrigin(
                request, path,
                client.nextLinkParameters(
                    from: parameters, of: request.head, default: head.defaultGeneration)))
        try call.readConditions(fields)
        return call
    }

    private static func checkVersion(
        _ fields: HTTPFields, _ parameters: [QueryParameter]
    ) throws(TablesError) {
        if let version = ClientFamily.apiVersion(fields, parameters),
            ClientFamily.generation(ofVersion: version) == nil
        {
            throw .unsupportedVersion
        }
    }

    /// The first generation's server refuses unknown parameter names that begin with `$` or `__`, for every
    /// verb (azure-mobile-services-node, `runtime/request/request.js`). Names with one underscore are
    /// allowed.
    private static func checkNames(
        _ parameters: [QueryParameter], generation: Generation
    ) throws(TablesError) {
        guard generation == .mobileServices else { return }
        for name in parameters.map(\.name) where name.hasPrefix("$") || name.hasPrefix("__") {
            guard QueryOption(name: name, generation: generation) == nil else { continue }
            throw .badRequest(
                "Invalid query parameter name '\(name)'. "
                    + "Custom query parameter names must not start with $ or __.")
        }
    }

    private static func isCustom(_ parameter: QueryParameter, _ generation: Generation) -> Bool {
        !parameter.name.hasPrefix("$") && !parameter.name.hasPrefix("__")
            && parameter.name.lowercased() != "zumo-api-version"
            && QueryOption(name: parameter.name, generation: generation) == nil
    }

}

extension SystemProperty {
    /// The system properties that an answer shows: in the first generation those in `__systemproperties`
    /// and `$select`, later all.
    static func requested(
        _ parameters: [QueryParameter], select: [Expression.Column]?, generation: Generation
    ) throws(TablesError) -> Set<SystemProperty> {
        guard generation == .mobileServices else { return Set(allCases) }
        var properties = Set((select ?? []).compactMap(\.systemProperty))
        for parameter in parameters where parameter.name.lowercased() == "__systemproperties" {
            properties.formUnion(try listed(parameter.value))
        }
        return properties
    }

    /// Parses `__systemproperties` as azure-mobile-services-node does (`runtime/core.js`). A single `*`
    /// means all. Otherwise it is a list with commas: each name in any case, with or without `__` and white
    /// space around it; empty parts are ignored.
    /// - Throws: ``TablesError/unknownSystemProperty(_:)`` for any other part, also for `*` among others.
    package static func listed(_ value: String) throws(TablesError) -> Set<SystemProperty> {
        let parts = value.split(separator: ",", omittingEmptySubsequences: false)
        if parts.count == 1, value.withoutOuterSpace == "*" { return Set(allCases) }
        var properties: Set<SystemProperty> = []
        for part in parts {
            let name = part.withoutOuterSpace
            if name.isEmpty { continue }
            let full = name.hasPrefix("__") ? name : "__" + name
            guard let property = SystemProperty(named: full, in: .mobileServices) else {
                throw .unknownSystemProperty(String(part))
            }
            properties.insert(property)
        }
        return properties
    }
}

extension Expression.Column {
    /// The column's system property; nil for the id and a user's column.
    package var systemProperty: SystemProperty? {
        if case .system(let property) = self { property } else { nil }
    }
}
