import HTTPMessage
import HTTPTypes
import TablesProtocol

extension Answerer {
    /// The fields on every answer of the flavour.
    var commonFields: HTTPFields {
        var fields = HTTPFields()
        switch profile.flavour {
        case .mobileServices:
            fields[.cacheControl] = "no-cache"
            fields.set("x-zumo-server-version", "nodev1-1.0.1")
        case .node, .express:
            fields.set("X-Powered-By", "Express")
            fields.set("x-zumo-server-version", "node-3.0.0")
        case .dotnet:
            fields.set("x-zumo-server-version", "net-1.0.0.0")
            if call.method == .get {
                fields[.cacheControl] = "no-cache"
                fields.set("Expires", "0")
                fields.set("Pragma", "no-cache")
            }
        case .mobileApps, .datasync, .toolkit: break
        }
        return fields
    }

    /// `ETag`, and `Last-Modified` in the third generation. The first generation says the version
    /// only to a client that asked for it, which `writer` knows; nil tells it to all.
    func addValidators(_ response: inout Response, _ row: Row, _ writer: RowWriter?) {
        let isAsked = profile.generation != .mobileServices || writer?.asks(.version) ?? true
        if isAsked, table?.isPlain(profile.generation) != true {
            response.head.headerFields[.eTag] = ETag.quote(row.version)
        }
        if profile.generation == .datasync, options.stamps != .none {
            response.head.headerFields[.lastModified] = row.updatedAt.httpDate
        }
    }

    /// Whether lists are `{items, count, nextLink}`; the older of the third generation's servers
    /// answers clients of the second as those expect.
    var hasItemsEnvelope: Bool {
        switch profile.flavour {
        case .datasync: !(call.apiVersion ?? "3").hasPrefix("2")
        case .toolkit: true
        case .mobileServices, .mobileApps, .node, .express, .dotnet: false
        }
    }

    /// What writes rows for this request.
    var rowWriter: RowWriter {
        RowWriter(
            profile: profile, stamps: options.stamps, table: table,
            asked: (try? RowWriter.asked(call, profile)) ?? [])
    }
}

extension HTTPFields {
    /// Sets a field by the text of its name.
    mutating func set(_ name: String, _ value: String) {
        if let name = HTTPField.Name(name) { self[name] = value }
    }
}

extension Call {
    /// The `ZUMO-API-VERSION`, from the field or the query.
    var apiVersion: String? {
        [field("ZUMO-API-VERSION"), parameter(anyCase: "ZUMO-API-VERSION")]
            .compactMap { $0 }.first { !$0.isEmpty }
    }
}
