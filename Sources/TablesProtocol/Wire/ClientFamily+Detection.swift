public import HTTPMessage
import HTTPTypes

extension ClientFamily {
    /// Tells which SDK sent a request.
    ///
    /// 1. `ZUMO-API-VERSION` in the header, else in the query: 2 is the second generation, 3 the
    ///    third. 2. Without it, the marks that only the first generation sends: an application key,
    ///    a `ZUMO/` user agent, `X-ZUMO-VERSION`, `__systemproperties`. 3. Then those of the
    ///    Community Toolkit: a `Datasync/` user agent, PUT, `$count`. 4. Else `generation`.
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
        let agent = fields[.userAgent] ?? ""
        let names = parameters.map { $0.name.lowercased() }
        if fields[.application] != nil || fields[.version] != nil || agent.hasPrefix("ZUMO/")
            || names.contains("__systemproperties")
        {
            return .mobileServices
        }
        if agent.hasPrefix("Datasync/") || head.method == .put || names.contains("$count") {
            return family(of: .datasync, fields)
        }
        return family(of: generation, fields)
    }

    /// The value of `ZUMO-API-VERSION`, in the header or else in the query, whatever its case.
    static func apiVersion(_ fields: HTTPFields, _ parameters: [QueryParameter]) -> String? {
        fields[.apiVersion]
            ?? parameters.first { $0.name.lowercased() == "zumo-api-version" }?.value
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

    /// Whether the client follows next links that are a path with a query.
    static func wantsPathLinks(_ fields: HTTPFields) -> Bool {
        fields[.options]?.contains("nextLink=path") ?? false
    }
}

extension Generation {
    /// Tells which generation a request is of; see ``ClientFamily/detect(_:default:)``.
    public static func detect(_ request: Request, default generation: Generation) -> Generation {
        ClientFamily.detect(request, default: generation).generation
    }
}
