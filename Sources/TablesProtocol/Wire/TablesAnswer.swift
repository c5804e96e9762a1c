public import HTTPMessage
public import HTTPTypes

/// Gives answers on `/tables` in the form that the caller's SDK reads: complete responses whose
/// body the server sends with `Content-Length`, as the managed SDKs demand.
public struct TablesAnswer: Sendable {
    /// The SDK that is answered.
    public let client: ClientFamily
    let call: TableCall?
    private(set) var writer: ItemWriter

    /// Answers a call that was understood.
    public init(to call: TableCall) {
        self.call = call
        client = call.client
        writer = ItemWriter(
            generation: call.generation, properties: call.systemProperties,
            select: call.verb.select)
    }

    /// Answers a call of the same client, as another one with the same select and system properties
    /// was.
    public init(to call: TableCall, like other: TablesAnswer) {
        self.call = call
        client = other.client
        writer = other.writer
    }

    /// Answers a request that was not understood, so only with errors.
    public init(client: ClientFamily) {
        self.client = client
        call = nil
        writer = ItemWriter(generation: client.generation, properties: [])
    }

    /// The same answer with all of `columns` in each whole item: null where a row was written before the
    /// column came, as the servers in JavaScript answer. To a write the first generation answers with
    /// what was written. The third generation's rows show what they have: its clients may have no place
    /// for a null.
    public func showing(_ columns: TableColumns?) -> TablesAnswer {
        switch (generation, call?.verb) {
        case (.datasync, _), (.mobileServices, .insert?), (.mobileServices, .update?),
            (.mobileServices, .replace?), (.mobileServices, .delete?),
            (.mobileServices, .undelete?):
            return self
        case (.mobileServices, .list?), (.mobileServices, .get?), (.mobileServices, nil),
            (.mobileApps, _):
            break
        }
        var answer = self
        answer.writer.columns = columns
        return answer
    }

    var generation: Generation { client.generation }

    /// The header fields of every answer with a body: its type, the server, no caching. Never an
    /// ETag, which SDKs take for the item's version, but on single items.
    var baseFields: HTTPFields {
        switch generation {
        case .mobileServices: Self.mobileServicesFields
        case .mobileApps: Self.mobileAppsFields
        case .datasync: Self.datasyncFields
        }
    }

    /// The header fields of an answer without a body.
    var bodilessFields: HTTPFields {
        var fields = baseFields
        fields[.contentType] = nil
        return fields
    }

    private static let mobileServicesFields: HTTPFields = {
        var fields: HTTPFields = [.contentType: "application/json", .cacheControl: "no-cache"]
        fields[.serverVersion] = "understudy"
        return fields
    }()

    private static let mobileAppsFields: HTTPFields = {
        var fields = datasyncFields
        fields[.expires] = "0"
        fields[.pragma] = "no-cache"
        fields[.serverVersion] = "understudy"
        return fields
    }()

    private static let datasyncFields: HTTPFields = [
        .contentType: "application/json; charset=utf-8", .cacheControl: "no-cache",
    ]
}

extension TablesAnswer {
    /// Answers a read, update or replacement with the item; a read by its conditions also with 304, or
    /// with 412 and the item.
    /// - Parameter backendVersion: another version under which the client may know the item as it is.
    public func render(
        item: Item, status: HTTPResponse.Status = .ok, backendVersion: String? = nil
    ) -> Response {
        switch verdict(on: item, backendVersion) {
        case .holds: return respond(with: item, status, writer)
        case .fails: return render(conflicting: item, status: .preconditionFailed)
        case .known:
            var fields = bodilessFields
            fields[.eTag] = ETag.quote(item.version)
            return Response(status: .notModified, headerFields: fields)
        }
    }

    /// Answers an insert: 201, the whole item, and where it is.
    public func render(inserted item: Item) -> Response {
        var response = respond(with: item, .created, writer)
        if let origin = call?.origin {
            response.head.headerFields[.location] = origin.location(of: item.id)
        }
        return response
    }

    /// Answers a deletion: 204 without body or ETag, which SDKs of every generation accept.
    public func renderDeleted() -> Response {
        Response(status: .noContent, headerFields: bodilessFields)
    }

    /// Answers an undeletion with the whole item: 201 in the second generation, else 200.
    public func render(undeleted item: Item) -> Response {
        respond(with: item, generation == .mobileApps ? .created : .ok, writer)
    }

    /// Answers a refused write with the item as it is, all system properties shown.
    func render(conflicting item: Item, status: HTTPResponse.Status) -> Response {
        var all = ItemWriter(generation: generation, properties: Set(SystemProperty.allCases))
        all.columns = writer.columns
        return respond(with: item, status, all)
    }

    private func respond(
        with item: Item, _ status: HTTPResponse.Status, _ writer: ItemWriter
    ) -> Response {
        var fields = baseFields
        if writer.showsVersion { fields[.eTag] = ETag.quote(item.version) }
        if generation == .datasync { fields[.lastModified] = item.updatedAt.httpDate }
        var bytes: [UInt8] = []
        writer.write(item, to: &bytes)
        return Response(status: status, headerFields: fields, body: bytes)
    }

    /// What the conditions of a read say. Those of writes were judged when they were made. A first
    /// generation client that did not ask for the version has none to name.
    private func verdict(on item: Item, _ backendVersion: String?) -> Conditions.Verdict {
        guard let call, case .get = call.verb, !call.conditions.isEmpty,
            generation != .mobileServices || writer.showsVersion
        else { return .holds }
        let versions = [item.version] + (backendVersion.map { [$0] } ?? [])
        return call.conditions.verdict(versions: versions, changed: item.updatedAt)
    }

    /// Answers with an error in the caller's form: `{"code","error"}` in the first generation,
    /// `{"error"}` in the others; for a write against another version or an id that is taken, the
    /// item as it is.
    public func render(error: TablesError) -> Response {
        let status = error.status(in: generation)
        if let item = error.item(shownTo: generation) {
            return render(conflicting: item, status: status)
        }
        var fields = baseFields
        if let seconds = error.retryAfterSeconds { fields[.retryAfter] = String(seconds) }
        if case .methodNotAllowed(let methods) = error {
            fields[.allow] = methods.joined(separator: ", ")
        }
        // The Community Toolkit takes any body of a 409 for the server's item.
        if case .conflict = error, client == .toolkit {
            return Response(status: status, headerFields: bodilessFields)
        }
        var bytes: [UInt8] = []
        let sentence = error.sentence(in: generation)
        switch generation {
        case .mobileServices:
            bytes += "{\"code\":\(status.code),\"error\":".utf8
            bytes.appendJSONString("Error: " + sentence)
        case .mobileApps, .datasync:
            bytes += "{\"error\":".utf8
            bytes.appendJSONString(sentence)
        }
        bytes.append(UInt8(ascii: "}"))
        return Response(status: status, headerFields: fields, body: bytes)
    }
}
