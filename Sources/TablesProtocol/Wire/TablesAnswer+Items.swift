public import HTTPMessage
public import HTTPTypes

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
}
