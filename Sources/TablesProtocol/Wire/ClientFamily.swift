public import HTTPMessage
import HTTPTypes

/// The generation of SDKs and servers. It decides the form of bodies, names and errors.
public enum Generation: Int, Sendable, Hashable, CaseIterable {
    /// Azure Mobile Services: system properties begin with `__`, sent only on request.
    case mobileServices = 1
    /// Azure Mobile Apps, `ZUMO-API-VERSION: 2.0.0`.
    case mobileApps = 2
    /// Datasync (v5, v6, and the Community Toolkit), `ZUMO-API-VERSION: 3.0.0`.
    case datasync = 3

    /// Rows in one answer to a client that gives no `$top`. A store may give more (`PageSize` in SyncCore).
    public var pageRows: Int {
        switch self {
        case .mobileServices, .mobileApps: Limits.pageRows
        case .datasync: Limits.datasyncPageRows
        }
    }
}

/// The SDK of a request, as far as the form of the answer depends on it.
public enum ClientFamily: Sendable, Hashable, CaseIterable {
    /// The first generation.
    case mobileServices
    /// The second generation.
    case mobileApps
    /// The third generation, `Microsoft.Datasync.Client`: accepts a next link that is a path.
    case datasync
    /// The third generation, Community Toolkit: expects a next link that is only a query.
    case toolkit

    public var generation: Generation {
        switch self {
        case .mobileServices: .mobileServices
        case .mobileApps: .mobileApps
        case .datasync, .toolkit: .datasync
        }
    }
}

extension ClientFamily {
    /// Detects the SDK of a request.
    ///
    /// 1. `ZUMO-API-VERSION` in the header, else in the query: 2 is the second generation, 3 the third.
    /// 2. Without it, a user agent or an `X-ZUMO-VERSION` that begins with `Datasync/`: the third generation.
    /// 3. Then whatever only the first generation sends: an application key, a `ZUMO/` user agent, another
    ///    `X-ZUMO-VERSION`, `__systemproperties`.
    /// 4. Then whatever only the third sends: PUT, `$count`.
    /// 5. Else `generation`.
    ///
    /// - Parameter generation: the generation of a request that shows none.
    public static func detect(_ request: Request, default generation: Generation) -> ClientFamily {
        // An invalid query shows no generation; parsing the call refuses it.
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
        let version = fields[.zumoVersion]?.lowercased() ?? ""
        if agent.hasPrefix("datasync/") || version.hasPrefix("datasync/") {
            return family(of: .datasync, fields)
        }
        let names = parameters.map { $0.name.lowercased() }
        if fields[.zumoApplication] != nil || fields[.zumoVersion] != nil
            || agent.hasPrefix("zumo/")
            || names.contains("__systemproperties")
        {
            return .mobileServices
        }
        if head.method == .put || names.contains("$count") {
            return family(of: .datasync, fields)
        }
        return family(of: generation, fields)
    }

    /// The value of `ZUMO-API-VERSION`, in the header or else in the query, in any case.
    static func apiVersion(_ fields: HTTPFields, _ parameters: [QueryParameter]) -> String? {
        fields[.zumoAPIVersion] ?? parameters.first(where: isAPIVersion)?.value
    }

    private static func isAPIVersion(_ parameter: QueryParameter) -> Bool {
        parameter.name.lowercased() == "zumo-api-version"
    }

    /// The pairs of a request's query that the link to its next page contains.
    ///
    /// A client sends its header fields again when it follows the link, so a pair with the name of such a
    /// field (`ZUMO-API-VERSION`, `X-ZUMO-…`) is left out. The version stays if nothing else would show the
    /// family of the next request.
    func nextLinkParameters(
        from parameters: [QueryParameter], of head: HTTPRequest,
        default generation: Generation
    ) -> [QueryParameter] {
        let others = parameters.filter {
            !Self.isAPIVersion($0) && !$0.name.lowercased().hasPrefix("x-zumo-")
        }
        if others.count == parameters.count { return parameters }
        guard Self.detect(head, others, default: generation) != self else { return others }
        return parameters.filter { Self.isAPIVersion($0) || others.contains($0) }
    }

    /// The generation of an API version such as `2.0.0` or `3.0`; nil if it is unknown.
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
            wantsPathLinks(fields) || fields[.zumoVersion] != nil ? .datasync : .toolkit
        }
    }

    /// Whether the client accepts next links that are a path with a query: `nextLink=path` in its options,
    /// in any case.
    static func wantsPathLinks(_ fields: HTTPFields) -> Bool {
        fields[.zumoOptions]?.lowercased().contains("nextlink=path") ?? false
    }
}

extension Generation {
    /// Detects the generation of a request; see ``ClientFamily/detect(_:default:)``.
    public static func detect(_ request: Request, default generation: Generation) -> Generation {
        ClientFamily.detect(request, default: generation).generation
    }
}
