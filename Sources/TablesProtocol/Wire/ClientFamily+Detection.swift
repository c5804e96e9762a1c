public import HTTPMessage
import HTTPTypes

extension ClientFamily {
    /// Tells which SDK sent a request.
    ///
    /// 1. `ZUMO-API-VERSION` in the header, else in the query: 2 is the second generation, 3 the
    ///    third. 2. Without it, a `Datasync/` user agent, or the same in `X-ZUMO-VERSION`: the third.
    ///    3. Then the marks that only the first generation sends: an application key, a `ZUMO/` user
    ///    agent, another `X-ZUMO-VERSION`, `__systemproperties`. 4. Then those of the third: PUT,
    ///    `$count`. 5. Else `generation`.
    /// - Parameter generation: what a request without any mark is taken for.
    public static func detect(_ request: Request, default generation: Generation) -> ClientFamily {
        // A query that cannot be split marks nothing; parsing the call refuses it.
        let parameters = (try? QueryParameter.split(request.query)) ?? []
        return detect(request.head, parameters, default: generation)
    }

    static func detect(
        _ head: HTTPRequest, _ parameters: [QueryParameter], default generation: Generation
    ) -> ClientFamily {
        let fields = head.headerFields
        if let version = apiVersion(fields, parameters) {
            return family(of: Self.generation(ofVersion: version) ?? generation, fields)
        }
        let agent = fields[.userAgent]?.lowercased() ?? ""
        let version = fields[.version]?.lowercased() ?? ""
        if agent.hasPrefix("datasync/") || version.hasPrefix("datasync/") {
            return family(of: .datasync, fields)
        }
        let names = parameters.map { $0.name.lowercased() }
        if fields[.application] != nil || fields[.version] != nil || agent.hasPrefix("zumo/")
            || names.contains("__systemproperties")
        {
            return .mobileServices
        }
        if head.method == .put || names.contains("$count") {
            return family(of: .datasync, fields)
        }
        return family(of: generation, fields)
    }

    /// The value of `ZUMO-API-VERSION`, in the header or else in the query, whatever its case.
    static func apiVersion(_ fields: HTTPFields, _ parameters: [QueryParameter]) -> String? {
        fields[.apiVersion] ?? parameters.first(where: isAPIVersion)?.value
    }

    private static func isAPIVersion(_ parameter: QueryParameter) -> Bool {
        parameter.name.lowercased() == "zumo-api-version"
    }

    /// The pairs of a request's query that a link to its next page carries.
    ///
    /// What a client says in header fields it says again when it follows the link, so a pair with the
    /// name of such a field (`ZUMO-API-VERSION`, `X-ZUMO-…`) is left out. The version stays where
    /// nothing else would tell that the next request is of this family.
    func linked(
        _ parameters: [QueryParameter], of head: HTTPRequest, default generation: Generation
    ) -> [QueryParameter] {
        let others = parameters.filter {
            !Self.isAPIVersion($0) && !$0.name.lowercased().hasPrefix("x-zumo-")
        }
        guard Self.detect(head, others, default: generation) != self else { return others }
        return parameters.filter { Self.isAPIVersion($0) || others.contains($0) }
    }

    /// The generation of an API version such as `2.0.0` or `3.0`; nil when there is none.
    static func generation(ofVersion version: String) -> Generation? {
        switch version.split(separator: ".", omittingEmptySubsequences: false).first {
        case "2": .mobileApps
        case "3": .datasync
        case _: nil
        }
    }

    private static func family(of generation: Generation, _ fields: HTTPFields) -> ClientFamily {
        switch generation {
        case .mobileServices: .mobileServices
        case .mobileApps: .mobileApps
        case .datasync:
            wantsPathLinks(fields) || fields[.version] != nil ? .datasync : .toolkit
        }
    }

    /// Whether the client follows next links that are a path with a query: `nextLink=path` among its
    /// options, in any case.
    static func wantsPathLinks(_ fields: HTTPFields) -> Bool {
        fields[.options]?.lowercased().contains("nextlink=path") ?? false
    }
}

extension Generation {
    /// Tells which generation a request is of; see ``ClientFamily/detect(_:default:)``.
    public static func detect(_ request: Request, default generation: Generation) -> Generation {
        ClientFamily.detect(request, default: generation).generation
    }
}
