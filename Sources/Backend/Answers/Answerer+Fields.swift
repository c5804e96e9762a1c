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
        if isAsked, table?.isPlain(profile.generation) != true, hasVersions {
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

    private var hasVersions: Bool { table.flatMap { options.table($0.name) }?.hasVersions ?? true }

    /// The writer of rows for this request.
    var rowWriter: RowWriter {
        RowWriter(
            profile: profile, stamps: options.stamps, hasVersions: hasVersions, table: table,
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

extension Answerer {
    /// Adds what Express and the Node server put on their answers: nothing may be kept in caches
    /// where the table was reached, and a weak tag of its own where no version is.
    func withNodeFields(_ response: Response, _ outcome: Outcome) -> Response {
        guard profile.isNode else { return response }
        var response = response
        if reachesTable(outcome) {
            response.head.headerFields[.cacheControl] = "no-cache"
            response.head.headerFields.set("Expires", "0")
            response.head.headerFields.set("Pragma", "no-cache")
        }
        return taggedByExpress(response)
    }

    /// Adds Express' weak tag: the length in hexadecimal and a digest. Clients that take any tag for
    /// the version are misled by it, as by the real one; only the digest is another.
    func taggedByExpress(_ response: Response) -> Response {
        let isPage = response.head.headerFields[.contentSecurityPolicy] != nil
        guard profile.isNode, !isPage, response.head.headerFields[.eTag] == nil,
            let bytes = response.bytes, !bytes.isEmpty
        else { return response }
        var digest: [UInt8] = []
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for round in 0..<3 {
            for byte in bytes + [UInt8(round)] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            digest += (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
        }
        var tagged = response
        let text = Base64.encoded(digest.prefix(20)).dropLast()
        tagged.head.headerFields[.eTag] = "W/\"\(String(bytes.count, radix: 16))-\(text)\""
        return tagged
    }

    private func reachesTable(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .list, .found, .inserted, .changed, .unchanged, .deleted, .deletedAll, .undeleted: true
        case .missing: call.method == .get
        case .notModified, .exists, .preconditionFailed, .versionConflict, .gone, .refused,
            .overtaken:
            false
        }
    }
}

/// The answers to a browser before and after a request from another origin, as both Node servers give
/// them: pages on `localhost` may use the tables.
enum CrossOrigin {
    /// Adds the fields that let the page of an allowed origin read the answer. The first generation's
    /// server lets it read no field.
    static func add(to response: inout Response, _ call: Call, _ profile: Profile) {
        guard let origin = call.field(.origin), isLocal(origin) else { return }
        response.head.headerFields[.accessControlAllowOrigin] = origin
        if profile.generation != .mobileServices {
            response.head.headerFields[.accessControlExposeHeaders] = "Link,Etag"
        }
        if let names = call.field(.accessControlRequestHeaders), areNames(names) {
            response.head.headerFields[.accessControlAllowHeaders] = names
        }
        guard call.method == .options else { return }
        response.head.headerFields[.accessControlAllowMethods] =
            "GET, PUT, PATCH, POST, DELETE, OPTIONS"
        response.head.headerFields[.accessControlMaxAge] = "300"
    }

    /// A scheme of pages, the host `localhost`, any port, and no path but `/`.
    private static func isLocal(_ origin: String) -> Bool {
        let pattern = /(?i:https?|ms-appx-web):\/\/(?i:localhost)(?::\d*)?\/?/
        return origin.wholeMatch(of: pattern) != nil
    }

    private static func areNames(_ text: String) -> Bool {
        text.utf8.count <= Limits.requestedNamesBytes
            && text.wholeMatch(of: /[A-Za-z0-9\-,\s]+/) != nil
    }
}

extension Answerer {
    /// The answer to a preflight; the fields for other origins come on top.
    func preflight() -> Response {
        if profile.generation == .mobileServices { return empty(204) }
        let methods = "GET,HEAD,POST,PATCH,DELETE"
        var fields = commonFields
        fields[.allow] = methods
        fields[.contentType] = "text/html; charset=utf-8"
        let response = Response(status: .ok, headerFields: fields, body: Array(methods.utf8))
        return taggedByExpress(response)
    }
}

// Answers to writes of a sender who may not read the table: the status that a reader gets, without the row.
//
// A write that took effect is answered with the id, the columns that were sent, and the version, which the
// sender's next write names. Any other is answered with a sentence alone.
extension Answerer {
    /// The answer to a sender who may not read the table; nil for readers, and where the usual answer shows no
    /// row.
    func unreadable(_ outcome: Outcome) -> Response? {
        guard !mayRead else { return nil }
        switch outcome {
        case .inserted(let row, let sent, _):
            var response = receipt(201, row, sent)
            if !profile.isNode { response.head.headerFields[.location] = location(row) }
            return response
        case .changed(let row, let sent, _): return receipt(200, row, sent)
        case .deleted(let row): return profile.deleteAnswersRow ? receipt(200, row) : empty(204)
        case .deletedAll(let rows):
            return json(200, RowWriter.list(rows.map { rowWriter.receipt($0, sent: []) }))
        case .undeleted(let row):
            guard case .post(let status) = profile.undelete else { return receipt(200, row) }
            return receipt(status, row)
        case .exists: return refused(Refusal(409, "An item with this id exists."))
        case .preconditionFailed: return refused(Refusal(412, Self.conflictSentence))
        case .versionConflict: return refused(Refusal(409, Self.conflictSentence))
        case .list, .found, .notModified, .unchanged, .missing, .gone, .refused, .overtaken:
            return nil
        }
    }

    private static let conflictSentence =
        "The item is not as the request says. You may not read it."

    /// Whether the sender may see what the table holds.
    private var mayRead: Bool {
        guard options.tokens == .verified, let name = call.tableName else { return true }
        return options.permission(.read, call, on: name) == .given
    }

    private func receipt(_ status: Int, _ row: Row, _ sent: Columns = Columns()) -> Response {
        var writer = rowWriter
        writer.asked.formUnion(conditional(status))
        let names = Set(sent.names.map { $0.lowercased() })
        var response = json(status, writer.receipt(row, sent: names))
        addValidators(&response, row, writer)
        return response
    }
}
