import HTTPMessage
import HTTPTypes
import TablesProtocol

extension Answerer {
    /// The `Link` field; nil when no page follows.
    func linkField(_ page: RowPage) -> String? {
        switch page.continuation == nil ? profile.nextPage : .link {
        case .link:
            guard profile.generation != .datasync, hasNext(page) else { return nil }
            let target =
                "\(call.request.path)?\(query(page) { Self.encoded($0, leaving: "$:/,") })"
            return "\(scheme)://\(authority)\(target); rel=next"
        case .nodeLink: return nodeLink(page)
        case .none, .nextLink, .nextQuery: return nil
        }
    }

    /// The `nextLink` of a third generation page; nil when no page follows.
    func nextLink(_ page: RowPage) -> String? {
        guard hasNext(page) else { return nil }
        let query = query(page) { Self.encoded($0, leaving: "$:/,") }
        switch profile.nextPage {
        case .nextQuery: return query
        case .nextLink:
            let target = "\(call.request.path)?\(query)"
            let isPath =
                call.field("X-ZUMO-Options")?.lowercased().contains("nextlink=path") ?? false
            return isPath ? target : "\(scheme)://\(authority)\(target)"
        case .none, .link, .nodeLink: return nil
        }
    }

    private func hasNext(_ page: RowPage) -> Bool {
        page.hasMore && (page.top.map { $0 > page.rows.count } ?? true)
    }

    /// The Node server links whenever a page is full and less than asked for, taking a missing
    /// `$top` for the highest, and forgets path and port. The port of a public address stays.
    private func nodeLink(_ page: RowPage) -> String? {
        guard let top = page.top ?? profile.maxTop, top > page.rows.count,
            page.rows.count == profile.pageRows
        else { return nil }
        var page = page
        page.top = top
        let host = options.publicAddress?.authority ?? String(authority.prefix { $0 != ":" })
        return "\(scheme)://\(host)/?\(query(page) { Self.encoded($0) }); rel=next"
    }

    /// The pairs of the request with `$skip` moved on and `$top` reduced by what was given.
    private func query(_ page: RowPage, _ encode: (String) -> String) -> String {
        var pairs = call.parameters
        let skip = String(page.skip + page.rows.count)
        if let top = page.top { set("$top", String(top - page.rows.count), in: &pairs) }
        if let continuation = page.continuation {
            set(RowPage.continuationName, continuation, in: &pairs)
        } else {
            set("$skip", skip, in: &pairs)
        }
        return pairs.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
    }

    private func set(_ name: String, _ value: String, in pairs: inout [Call.Parameter]) {
        if let index = pairs.firstIndex(where: { $0.name == name }) {
            pairs[index].value = value
        } else {
            pairs.append(Call.Parameter(name: name, value: value))
        }
    }
}
