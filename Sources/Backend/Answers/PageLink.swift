import HTTPMessage
import HTTPTypes
import TablesProtocol

/// Where the page after a page is, as the server of the flavour says it.
struct PageLink {
    let call: Call
    let profile: Profile
    let options: BackendOptions
    /// Whether lists are `{items, count, nextLink}`.
    let isInBody: Bool

    /// The `nextLink`, or the value of the `Link` field; nil when no page follows.
    func text(after page: RowPage) -> String? {
        let next = page.continuation == nil ? profile.nextPage : .link
        if next == .nodeLink, !isInBody { return nodeLink(page) }
        guard page.hasMore, page.top.map({ $0 > page.rows.count }) ?? true else { return nil }
        let query = query(page) { Self.encoded($0, leaving: "$:/,") }
        let path = "\(call.request.path)?\(query)"
        let address = "\(call.scheme(options))://\(call.authority(options))\(path)"
        switch (profile.nextPage, isInBody) {
        case (.nextQuery, true): return query
        case (.nextLink, true):
            let isPath =
                call.field("X-ZUMO-Options")?.lowercased().contains("nextlink=path") ?? false
            return isPath ? path : address
        case (_, true): return nil
        case (_, false):
            return next == .link && profile.generation != .datasync ? "\(address); rel=next" : nil
        }
    }

    /// The Node server links whenever a page is full and less than asked for, taking a missing
    /// `$top` for the highest, and forgets path and port. The port of a public address stays.
    private func nodeLink(_ page: RowPage) -> String? {
        guard let top = page.top ?? profile.maxTop, top > page.rows.count,
            page.rows.count == profile.pageRows
        else { return nil }
        var page = page
        page.top = top
        let host =
            options.publicAddress?.authority ?? String(call.authority(options).prefix { $0 != ":" })
        return "\(call.scheme(options))://\(host)/?\(query(page) { Self.encoded($0) }); rel=next"
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

    private func set(_ name: String, _ value: String, in pairs: inout [QueryParameter]) {
        let pair = QueryParameter(name: name, value: value, raw: "")
        if let index = pairs.firstIndex(where: { $0.name == name }) {
            pairs[index] = pair
        } else {
            pairs.append(pair)
        }
    }

    /// The text as `encodeURIComponent` of JavaScript encodes it; `more` are characters that stay too.
    static func encoded(_ text: String, leaving more: String = "") -> String {
        PercentCoding.encode(text, leaving: "!*'()" + more)
    }
}

extension Call {
    /// The scheme by which clients reach the backend.
    func scheme(_ options: BackendOptions) -> String {
        options.publicAddress?.scheme ?? request.head.scheme ?? "http"
    }

    /// The host and port by which clients reach the backend.
    func authority(_ options: BackendOptions) -> String {
        options.publicAddress?.authority ?? request.head.authority ?? "localhost"
    }
}
