import HTTPMessage
import TablesProtocol
import Testing

// Expectations of every client of the family, for any backend.
extension Stage {
    /// One item in the client's form: status, type, names, dates, tag.
    @discardableResult
    func expectItem(
        _ told: ClientResponse, _ status: Int, id: String? = nil, _ columns: [String: String],
        _ place: SourceLocation = #_sourceLocation
    ) throws -> [String: String] {
        #expect(told.status == status, "\(told.text)", sourceLocation: place)
        let item = try #require(told.item, "\(told.text)", sourceLocation: place)
        if let id { #expect(item.string("id") == id, sourceLocation: place) }
        #expect(item.own == columns, "\(told.text)", sourceLocation: place)
        expectForm(item, place)
        let type =
            sdk.isFirst ? "application/json" : "application/json; charset=utf-8"
        #expect(told.field("Content-Type") == type, sourceLocation: place)
        #expect(told.response.bytes != nil, "streamed", sourceLocation: place)
        let version = item.string(sdk.version) ?? ""
        #expect(told.etag == "\"\(version)\"", sourceLocation: place)
        #expect(
            (told.field("Last-Modified") != nil) == sdk.isThird, sourceLocation: place)
        return item
    }

    /// An item's names, dates and types, in a list or alone.
    func expectForm(_ item: [String: String], _ place: SourceLocation = #_sourceLocation) {
        let spellings: Set = [
            "__createdAt", "__updatedAt", "__version", "__deleted", "createdAt", "updatedAt",
            "version", "deleted",
        ]
        #expect(
            spellings.intersection(item.keys) == Set(sdk.properties), sourceLocation: place)
        for name in sdk.properties where name.hasSuffix("At") {
            let text = item.string(name) ?? ""
            let date = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/
            #expect(text.wholeMatch(of: date) != nil, "\(name) \(text)", sourceLocation: place)
        }
        #expect(
            ["true", "false"].contains(item[sdk.deleted] ?? ""), sourceLocation: place)
        #expect(item.string(sdk.version)?.isEmpty == false, sourceLocation: place)
    }

    /// An error in the client's form.
    func expectError(
        _ told: ClientResponse, _ status: Int, _ place: SourceLocation = #_sourceLocation
    ) {
        #expect(told.status == status, "\(told.text)", sourceLocation: place)
        #expect(told.etag == nil, sourceLocation: place)
        let sentence = told.json["error"]?.string
        switch sdk.family {
        case .mobileServices:
            #expect(told.json["code"]?.integer == Int64(status), sourceLocation: place)
            #expect(sentence?.hasPrefix("Error: ") == true, sourceLocation: place)
        case .mobileApps, .datasync:
            #expect(sentence?.isEmpty == false, sourceLocation: place)
            #expect(told.json["code"] == nil, sourceLocation: place)
        case .toolkit:
            // It parses every body as the item: empty, or an object.
            #expect(told.text.isEmpty || told.item != nil, sourceLocation: place)
        }
    }

    /// The envelope of a list and the form of its items; returns what asks for the next page.
    func expectPage(
        _ told: ClientResponse, counted: Int? = nil, _ place: SourceLocation = #_sourceLocation
    ) -> String? {
        #expect(told.status == 200, "\(told.text)", sourceLocation: place)
        #expect(told.etag == nil, sourceLocation: place)
        for item in told.items { expectForm(item, place) }
        if sdk.isThird {
            #expect(told.json["items"]?.array != nil, sourceLocation: place)
            let count = counted.map { JSONValue.number(JSONNumber(Int64($0))) } ?? .null
            #expect(told.json["count"] == count, sourceLocation: place)
            let next = told.json["nextLink"]?.string
            guard let next else { return nil }
            // The toolkit appends it to its own path; Datasync asked for a path.
            if sdk.family == .toolkit {
                #expect(!next.contains("?") && !next.hasPrefix("/"), sourceLocation: place)
                return "/tables/\(sdk.table)/?\(next)"
            }
            #expect(next.hasPrefix("/tables/\(sdk.table)?"), sourceLocation: place)
            return next
        }
        if let counted {
            #expect(told.json["results"]?.array != nil, sourceLocation: place)
            #expect(told.json["count"]?.integer == Int64(counted), sourceLocation: place)
        } else {
            #expect(told.json.array != nil, sourceLocation: place)
        }
        guard let link = told.field("Link") else { return nil }
        // The one form that the managed, iOS, JavaScript and Android SDKs all read.
        let parts = link.wholeMatch(of: /(http:\/\/127\.0\.0\.1:\d+)(\/[^<>"]*); rel=next/)
        #expect(parts != nil, "\(link)", sourceLocation: place)
        return parts.map { String($0.2) }
    }
}
