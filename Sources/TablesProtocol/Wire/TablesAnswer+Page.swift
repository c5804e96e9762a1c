public import HTTPMessage
import HTTPTypes

extension TablesAnswer {
    /// The answer to a list. First and second generation: an array, or `{"results","count"}` if the count
    /// was requested, with a `Link` field. Third: `{"items","count","nextLink"}`.
    public func render(page: ItemPage) -> Response {
        var fields = baseFields
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Limits.reservedItemBytes * page.items.count + 64)
        let next = page.hasMore ? call?.nextQuery(after: page) : nil
        switch generation {
        case .mobileServices, .mobileApps:
            if let count = page.count {
                bytes += "{\"results\":".utf8
                write(page.items, to: &bytes)
                bytes += ",\"count\":\(count)}".utf8
            } else {
                write(page.items, to: &bytes)
            }
            if let next, let origin = call?.origin {
                fields[.link] = "\(origin.url)?\(next); rel=next"
            }
        case .datasync:
            bytes += "{\"items\":".utf8
            write(page.items, to: &bytes)
            bytes += ",\"count\":\(page.count.map(String.init) ?? "null"),\"nextLink\":".utf8
            if let next { bytes.appendJSONString(nextLink(next)) } else { bytes += "null".utf8 }
            bytes.append(UInt8(ascii: "}"))
        }
        return Response(status: .ok, headerFields: fields, body: bytes)
    }

    private func write(_ items: [Item], to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        for (place, item) in items.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            writer.write(item, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// The next link in the client's form. The Community Toolkit appends it to its own path and `?`.
    /// Datasync expects an absolute address, or a path if it asked for one.
    private func nextLink(_ query: String) -> String {
        guard client == .datasync, let origin = call?.origin else { return query }
        let path = "\(origin.tablePath)?\(query)"
        return origin.wantsPathLinks ? path : "\(origin.scheme)://\(origin.authority)\(path)"
    }
}

extension TableCall {
    /// The query of the next page: the client's own, with `$skip` increased and `$top` decreased by the
    /// number of returned rows. In the order of change it also contains `__after`. A page in the backend's own
    /// order continues by `__next` alone. Nil if `$top` is used
    /// up, and for a call that is not a list.
    func nextQuery(after page: ItemPage) -> String? {
        let returned = page.items.count
        let lastChange = page.hasOwnStamps ? page.items.last?.updatedAt : nil
        guard case .list(let query) = verb, query.top ?? .max > returned else { return nil }
        var pairs: [String] = []
        var hasTop = false
        for parameter in origin.parameters {
            switch QueryOption(name: parameter.name, generation: generation) {
            case .skip, .after, .next: continue
            case .top:
                guard !hasTop, let top = query.top else { continue }
                hasTop = true
                pairs.append("$top=\(top - returned)")
            case .filter, .orderBy, .select, .inlineCount, .count, .includeDeleted,
                .systemProperties, nil:
                pairs.append(parameter.linked)
            }
        }
        if let next = page.next {
            return (pairs + ["__next=\(PercentCoding.encode(next))"]).joined(separator: "&")
        }
        if query.isInOrderOfChange, let lastChange {
            pairs.append("__after=\(lastChange.text)")
        }
        pairs.append("$skip=\(query.skip + returned)")
        return pairs.joined(separator: "&")
    }
}

extension QueryParameter {
    /// The pair as a link has it: with characters beyond ASCII encoded, also those that the client did not
    /// encode.
    fileprivate var linked: String {
        guard raw.utf8.contains(where: { $0 >= 0x80 }) else { return raw }
        return raw.unicodeScalars.map { scalar in
            scalar.isASCII ? String(scalar) : PercentCoding.encode(String(scalar))
        }.joined()
    }
}

extension CallOrigin {
    /// The table's address.
    var url: String { "\(scheme)://\(authority)\(tablePath)" }

    /// The address of an item in the table.
    func location(of id: ItemID) -> String { "\(url)/\(PercentCoding.encode(id.text))" }
}
