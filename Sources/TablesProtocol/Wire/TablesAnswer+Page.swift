public import HTTPMessage
import HTTPTypes

extension TablesAnswer {
    /// An empty page for the rows of a list; nil where rows have to be looked into, for a select.
    public var emptyPage: PageText? { writer.showsWholeItems ? PageText(writer) : nil }

    /// Answers a list with these items.
    public func render(page: ItemPage) -> Response { render(page: PageText(writer, page)) }

    /// Answers a list: in the first and second generation an array, or `{"results","count"}` where
    /// a count was asked for, with a `Link` header; in the third `{"items","count","nextLink"}`.
    public func render(page: PageText) -> Response {
        var fields = baseFields
        var bytes: [UInt8]
        let (count, rows) = (page.count, page.rows)
        let next =
            page.hasMore ? call?.nextQuery(afterRows: rows, lastChange: page.lastChange) : nil
        switch generation {
        case .mobileServices, .mobileApps:
            if let count {
                bytes = page.array(after: "{\"results\":")
                bytes += ",\"count\":\(count)}".utf8
            } else {
                bytes = page.array()
            }
            if let next, let origin = call?.origin {
                fields[.link] = "\(origin.url)?\(next); rel=next"
            }
        case .datasync:
            bytes = page.array(after: "{\"items\":")
            bytes += ",\"count\":\(count.map(String.init) ?? "null"),\"nextLink\":".utf8
            if let next { bytes.appendJSONString(nextLink(next)) } else { bytes += "null".utf8 }
            bytes.append(UInt8(ascii: "}"))
        }
        return Response(status: .ok, headerFields: fields, body: bytes)
    }

    /// The Community Toolkit appends the link to its own path and `?`; Datasync takes an absolute
    /// address, or a path where it asked for one.
    private func nextLink(_ query: String) -> String {
        guard client == .datasync, let origin = call?.origin else { return query }
        let path = "\(origin.tablePath)?\(query)"
        return origin.wantsPathLinks ? path : "\(origin.scheme)://\(origin.authority)\(path)"
    }
}

extension TableCall {
    /// The query of the next page: the client's own, `$skip` advanced by what was returned and
    /// `$top`, where it came, lowered by it. In the order of change it also says after which change it
    /// goes on. Nil when `$top` is used up, and for anything but a list.
    func nextQuery(afterRows returned: Int, lastChange: Instant?) -> String? {
        guard case .list(let query) = verb, query.top ?? .max > returned else { return nil }
        var pairs: [String] = []
        var hasTop = false
        for parameter in origin.parameters {
            switch QueryOption(name: parameter.name, generation: generation) {
            case .skip, .after: continue
            case .top:
                guard !hasTop, let top = query.top else { continue }
                hasTop = true
                pairs.append("$top=\(top - returned)")
            case .filter, .orderBy, .select, .inlineCount, .count, .includeDeleted,
                .systemProperties, nil:
                pairs.append(parameter.raw)
            }
        }
        if query.isInOrderOfChange, let lastChange {
            pairs.append("__after=\(lastChange.text)")
        }
        pairs.append("$skip=\(query.skip + returned)")
        return pairs.joined(separator: "&")
    }
}

extension CallOrigin {
    /// The address of the table.
    var url: String { "\(scheme)://\(authority)\(tablePath)" }

    /// The address of an item of the table.
    func location(of id: ItemID) -> String { "\(url)/\(PercentCoding.encode(id.text))" }
}
