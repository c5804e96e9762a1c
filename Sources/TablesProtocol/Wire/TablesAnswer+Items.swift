public import HTTPMessage
public import HTTPTypes

extension TablesAnswer {
    /// Answers a read, update or replacement with the item; a read whose `If-None-Match` names the
    /// version, or in the third generation whose `If-Modified-Since` is later, with 304, but in the
    /// second generation, whose servers never do.
    public func render(item: Item, status: HTTPResponse.Status = .ok) -> Response {
        if isKnown(item) {
            var fields = bodilessFields
            fields[.eTag] = ETag.quote(item.version)
            return Response(status: .notModified, headerFields: fields)
        }
        return respond(with: item, status, writer)
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
        let all = ItemWriter(generation: generation, properties: Set(SystemProperty.allCases))
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

    private func isKnown(_ item: Item) -> Bool {
        guard let call, case .get = call.verb, generation != .mobileApps, writer.showsVersion else {
            return false
        }
        switch call.ifNoneMatch {
        case .absent:
            guard let since = call.modifiedSince else { return false }
            return client == .toolkit ? item.updatedAt < since : item.updatedAt <= since
        case .invalid: return false
        case .any, .versions: return call.ifNoneMatch.accepts(item.version)
        }
    }
}
