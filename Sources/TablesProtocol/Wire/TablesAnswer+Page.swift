public import HTTPMessage
import HTTPTypes

/// The items of one answer to a list as JSON text, written one by one.
public struct PageText: ListedPage {
    /// How many items match the filter regardless of skip and top; nil when not asked for.
    public var count: Int?
    /// True when more items match within the client's own top.
    public var hasMore = false
    /// How many items are on the page.
    private(set) var rows = 0
    /// Whether it has no items.
    public var isEmpty: Bool { rows == 0 }
    /// When the last of them last changed, by the store's own stamp.
    private(set) var lastChange: Instant?
    private let writer: ItemWriter
    private var bytes: [UInt8] = []

    init(_ writer: ItemWriter) { self.writer = writer }

    init(_ writer: ItemWriter, _ page: ItemPage) {
        self.writer = writer
        count = page.count
        hasMore = page.hasMore
        rows = page.items.count
        lastChange = page.hasOwnStamps ? page.items.last?.updatedAt : nil
        reserve(rows: rows)
        for item in page.items {
            bytes.append(UInt8(ascii: ","))
            writer.write(item, to: &bytes)
        }
    }

    /// Reserves memory for this many items of a usual size.
    package mutating func reserve(rows: Int) {
        bytes.reserveCapacity(Limits.reservedItemBytes * rows + 64)
    }

    /// Appends an item.
    package mutating func add(_ item: some StoredItem, idKind: IDKind) {
        rows += 1
        lastChange = item.updatedAt
        bytes.append(UInt8(ascii: ","))
        writer.write(item, idKind, to: &bytes)
    }

    /// The JSON array of the items, after `prefix`.
    consuming func array(after prefix: String = "") -> [UInt8] {
        if bytes.isEmpty { return Array((prefix + "[]").utf8) }
        bytes[0] = UInt8(ascii: "[")
        bytes.append(UInt8(ascii: "]"))
        return prefix.isEmpty ? bytes : Array(prefix.utf8) + bytes
    }
}

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
