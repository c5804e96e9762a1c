import Foundation
public import HTTPMessage
public import HTTPTypes
public import TablesProtocol

/// A client's read that is sent to the backend: its table was not pulled yet, or the client sends custom
/// query pairs, which only the backend understands.
public struct ForwardedRead: Sendable {
    public enum Target: Sendable, Hashable {
        /// A list of at most `rows` rows; nil for the backend's default page size.
        case list(TableQuery, rows: Int?)
        case item(ItemID, includeDeleted: Bool)
    }
    public var table: TableName
    public var target: Target
    /// The client's custom query pairs, still encoded, sent unchanged.
    public var parameters: [String]
    /// Those of them that may select rows; nil for none.
    public var pairs: OwnPairs?
    /// The client's header fields that are sent unchanged.
    public var headers: HTTPFields
    public var trace: Trace?
    /// Whether no order is asked for, not even that of ids, because the backend refused it or its own link is
    /// followed. Then that link alone leads on.
    var isInBackendsOrder: Bool
    /// Whether the order ends with the id, as in the store, because a further page may come from there.
    var endsWithID: Bool
    /// The client's generation. It is tried first if the backend's is not known.
    public var generation: Generation

    public init(
        table: TableName, target: Target, parameters: [String] = [], pairs: OwnPairs? = nil,
        headers: HTTPFields = [:], trace: Trace? = nil, generation: Generation
    ) {
        self.table = table
        self.target = target
        self.parameters = parameters
        self.pairs = pairs
        self.headers = headers
        self.trace = trace
        self.generation = generation
        guard case .list(let query, _) = target else {
            (isInBackendsOrder, endsWithID) = (false, false)
            return
        }
        (isInBackendsOrder, endsWithID) = (query.next != nil, query.skip > 0)
    }
}

public enum ForwardedAnswer: Sendable {
    /// A page of items, with the backend's versions.
    case page(ItemPage)
    case item(Item)
    /// A success of another form, as the table's own script gives it. It becomes the client's answer as it
    /// came.
    case other(Response)
    /// A success without the row that a read by id asks for, which is no answer of a table.
    case withoutRow(reason: String)
    /// Any other answer of the backend, which becomes the client's answer: a refusal, a missing table or
    /// item, or a request to sign in.
    /// - spoken: the generation in which the backend was asked.
    case refused(Response, reason: String, spoken: Generation)
    /// No answer of a /tables server came.
    case unreachable(reason: String, retryAfter: Duration?)
    /// The backend's generation cannot express the query.
    case untranslatable
}

extension ForwardedRead {
    /// The request to a backend of a generation; nil if the generation cannot express the read, or if its
    /// rule for null would give other rows.
    ///
    /// `$select` is left out, because the answer is rendered from whole items. First generation backends send
    /// system properties only on request.
    func request(for spoken: Generation) -> RemoteRequest? {
        var path = "/tables/\(table)"
        var pairs: [String] = []
        switch target {
        case .list(let wanted, let rows):
            if let next = wanted.next {
                let page = PageQuery(
                    TableQuery(includeDeleted: wanted.includeDeleted), parameters: parameters,
                    link: next)
                guard let text = try? page.text(for: spoken) else { return nil }
                return request("\(path)?\(text)")
            }
            guard var query = wanted.translated(for: spoken) else { return nil }
            query.select = nil
            query.top = askedRows(rows, of: spoken)
            let id = Ordering(.column(.id))
            if endsWithID, !isInBackendsOrder,
                !query.orderBy.contains(where: { $0.expression == id.expression })
            {
                query.orderBy.append(id)
            }
            guard let text = try? query.text(for: spoken) else { return nil }
            if !text.isEmpty { pairs.append(text) }
        case .item(let id, let includeDeleted):
            path += "/\(PercentCoding.encode(id.text))"
            if includeDeleted { pairs.append("__includeDeleted=true") }
        }
        if spoken == .mobileServices { pairs.append("__systemproperties=*") }
        pairs += parameters
        return request(pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))")
    }

    private func request(_ target: String) -> RemoteRequest {
        var request = RemoteRequest(method: .get, target: target, fields: headers)
        trace?.add(to: &request.fields)
        return request
    }

    /// The same read, for at most so many rows of a list. One for more than a page asks whether the backend takes it.
    func asking(atMost rows: Int) -> ForwardedRead {
        guard case .list(let query, let asked?) = target, asked > rows,
            asked <= SyncLimits.pullPageRows
        else { return self }
        var read = self
        read.target = .list(query, rows: rows)
        return read
    }

    /// The same read for fewer rows, where the backend may have refused their number.
    func smaller(after answer: RemoteAnswer) -> (read: ForwardedRead, rows: Int)? {
        guard case .list(_, let asked?) = target, asked <= SyncLimits.pullPageRows,
            let rows = answer.smallerPage(than: asked)
        else { return nil }
        return (asking(atMost: rows), rows)
    }

    /// Whether a page has every row of the list that the client's own pairs select.
    func isWhole(_ page: RemotePage, of spoken: Generation) -> Bool {
        guard case .list(let query, let rows) = target else { return false }
        let asked = askedRows(rows, of: spoken) ?? .max
        return query.filter == nil && query.beyond == nil && query.skip == 0 && query.after == nil
            && !page.hasNext
            && page.elements.count < asked && page.elements.allSatisfy { $0.itemID != nil }
    }

    /// The same list in an order that ends with the id, where more rows follow a page that was not asked for so.
    func ordered(after answer: RemoteAnswer, of spoken: Generation) -> ForwardedRead? {
        guard case .rows(let page) = answer, case .list(let query, _) = target, !endsWithID,
            !isInBackendsOrder, hasMore(page, of: query, spoken)
        else { return nil }
        var read = self
        read.endsWithID = true
        return read
    }

    /// Whether more rows of a list follow a page.
    private func hasMore(_ page: RemotePage, of query: TableQuery, _ spoken: Generation) -> Bool {
        guard case .list(_, let rows) = target else { return false }
        let asked = askedRows(rows, of: spoken)
        let most = asked ?? SyncLimits.pullPageRows
        let isFull = page.elements.count > most || page.elements.count == asked
        return page.rows.prefix(most).count < query.top ?? .max && (page.hasNext || isFull)
    }

    /// Whether the client asks for a list in no order, so that the id alone is the order of the request.
    var hasOrderOfIDsAlone: Bool {
        if case .list(let query, _) = target {
            endsWithID && query.orderBy.isEmpty && query.next == nil
        } else {
            false
        }
    }

    /// The number of rows that a list asks a backend for; nil for as many as it gives.
    ///
    /// A first generation backend does not say that more rows follow, so it is asked for the client's page.
    /// A full page then means that more may follow.
    private func askedRows(_ rows: Int?, of spoken: Generation) -> Int? {
        rows ?? (spoken == .mobileServices && !isInBackendsOrder ? generation.pageRows : nil)
    }

    /// The client's answer for the backend's; nil if the answer is not from a /tables server or means "not
    /// now".
    ///
    /// - Parameter now: when the read was sent. No shown time is later: a client that syncs continues from
    ///   the last time that it saw, and rows from the store have later times.
    func answer(_ exchange: RemoteExchange, spoken: Generation, now: Instant) -> ForwardedAnswer? {
        switch (exchange.answer, target) {
        case (.rows(let page), .list(let query, let rows)):
            let asked = askedRows(rows, of: spoken)
            let most = asked ?? SyncLimits.pullPageRows
            let items = page.rows.prefix(most).map { $0.item(asOf: now) }
            let isWhole = page.elements.count <= most
            return .page(
                ItemPage(
                    items: items, count: query.count ? page.total : nil,
                    hasMore: hasMore(page, of: query, spoken),
                    hasOwnStamps: false, next: isInBackendsOrder && isWhole ? page.next : nil))
        case (.row(let row), .item(let id, _)) where row.id.isLike(id):
            return .item(row.item(asOf: now))
        case (.row, .item(let id, _)), (.rows, .item(let id, _)), (.empty, .item(let id, _)),
            (.unusable(status: 200..<300, .unexpectedShape), .item(let id, _)):
            return .withoutRow(reason: Self.withoutRow(id))
        case (let answer, _) where answer.isOfScript: return exchange.response.map { .other($0) }
        case (.row, _), (.rows, _), (.empty, _): return nil
        case (.unavailable, _), (.unreachable, _), (.failed(status: 408, _), _): return nil
        case (.unusable(_, .redirect), _): return nil
        // A gateway has no answer of the backend.
        case (.unusable(status: 511, _), _), (.failed(status: 511..., _), _): return nil
        // A success that is not JSON is not from a /tables server.
        case (.unusable(let status, _), _) where status < 400: return nil
        case (.conflict, _), (.missing, _), (.unauthorized, _), (.rejected, _), (.failed, _),
            (.unusable, _):
            guard let response = exchange.response else { return nil }
            return .refused(response, reason: reason(exchange.answer), spoken: spoken)
        }
    }

    /// Why a success is no answer to a read by id.
    private static func withoutRow(_ id: ItemID) -> String {
        "The backend answers the read of item \(id) with something else than that item."
    }

    /// Why a response that is passed on is no answer to a read by id; nil if it has the row, or is no success.
    public static func refusal(
        of response: Response, to id: ItemID, generation: Generation
    ) -> String? {
        let reader = AnswerReader(generation: generation, now: Instant(milliseconds: 0))
        if case .row(let row) = reader.write(response), row.id.isLike(id) { return nil }
        return response.head.status.kind == .successful ? withoutRow(id) : nil
    }

    /// Why the backend refuses, for a client that cannot read the backend's own answer: the backend's
    /// sentence, where it gave one.
    private func reason(_ answer: RemoteAnswer) -> String {
        let reason = Prover.failure(answer, table).reason
        guard case .rejected(_, let text) = answer, !text.isEmpty else { return reason }
        return "\(reason) The backend says: \(text)"
    }
}

extension ItemID {
    /// Whether a backend may hold two ids equal. Databases compare without case, trailing blanks, accents or
    /// width, and a column of UUIDs has one spelling for all.
    func isLike(_ other: ItemID) -> Bool {
        self == other || kind == other.kind && spelledAlike == other.spelledAlike
    }

    private var spelledAlike: String {
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) }
        // Upper case first: only that makes SS of ß.
        let folded = text[..<(end ?? text.startIndex)].uppercased().folding(
            options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
        let digits = folded.filter { !"-{}".contains($0) }
        return digits.count == 32 && digits.allSatisfy(\.isHexDigit) ? digits : folded
    }
}

extension RemoteRow {
    fileprivate func item(asOf now: Instant) -> Item {
        Item(
            id: id, columns: columns, createdAt: createdAt.flatMap { Instant(parsing: $0) },
            updatedAt: min(updatedAt.flatMap { Instant(parsing: $0) } ?? now, now),
            version: version ?? "", deleted: isDeleted)
    }
}
