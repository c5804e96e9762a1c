public import HTTPMessage
import HTTPTypes

extension TableCall {
    /// Parses a request on `/tables/…`, as ``parse(_:_:defaultGeneration:)`` does.
    public static func parse(
        _ request: Request, defaultGeneration: Generation
    ) throws(TablesError) -> TableCall {
        let path = TablePath.read(request.path) ?? .failure(.unknownTable(String(request.path)))
        return try parse(request, path, defaultGeneration: defaultGeneration)
    }

    /// Parses a request on `/tables/…`. The body of a read or delete is ignored, because SDKs send one.
    /// - Parameters:
    ///   - request: the request as received, with an undecoded target.
    ///   - path: its path, which was read before.
    ///   - defaultGeneration: the generation of a request that shows none.
    /// - Throws: ``TablesError`` for an invalid request.
    public static func parse(
        _ request: Request, _ path: Result<TablePath, TablesError>, defaultGeneration: Generation
    ) throws(TablesError) -> TableCall {
        let fields = request.head.headerFields
        let parameters = try split(request.query)
        let client = ClientFamily.detect(request.head, parameters, default: defaultGeneration)
        try checkVersion(fields, parameters)
        try checkNames(parameters, generation: client.generation)
        if fields[.methodOverride] != nil { throw .methodOverride }
        let path = try path.get()
        // The first generation's servers do not know the field.
        let includeDeleted =
            client != .mobileServices && fields[.options]?.trimmed == "include:deleted"
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
                    from: parameters, of: request.head, default: defaultGeneration)))
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

    private static func split(
        _ query: Substring?
    ) throws(TablesError) -> [QueryParameter] {
        do throws(ODataError) { return try QueryParameter.split(query) } catch {
            throw .badQuery(error)
        }
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
    static func listed(_ value: String) throws(TablesError) -> Set<SystemProperty> {
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
    var systemProperty: SystemProperty? {
        if case .system(let property) = self { property } else { nil }
    }
}
