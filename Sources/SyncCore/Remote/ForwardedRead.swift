public import HTTPMessage
public import HTTPTypes
public import TablesProtocol

/// A client's read that the backend itself is asked: its table is not copied yet, or the client sends
/// pairs of its own, which only the backend understands.
public struct ForwardedRead: Sendable {
    /// What is asked for.
    public enum Target: Sendable, Hashable {
        /// A list of at most so many rows; nil for as many as the backend gives to a client that names no
        /// number.
        case list(TableQuery, rows: Int?)
        case item(ItemID, includeDeleted: Bool)
    }
    /// The table.
    public var table: TableName
    /// What is asked for.
    public var target: Target
    /// The client's own query pairs, still encoded, sent as they came.
    public var parameters: [String]
    /// Header fields of the client's own, sent as they came.
    public var headers: HTTPFields
    /// Whose client asks: a backend of which nothing is known yet is asked in its words.
    public var generation: Generation

    /// Makes a read.
    public init(
        table: TableName, target: Target, parameters: [String] = [], headers: HTTPFields = [:],
        generation: Generation
    ) {
        self.table = table
        self.target = target
        self.parameters = parameters
        self.headers = headers
        self.generation = generation
    }
}

/// What came of a forwarded read.
public enum ForwardedAnswer: Sendable {
    /// Rows, with the backend's own versions.
    case page(ItemPage)
    case item(Item)
    /// The backend answered something else, which is the answer to the client: it refuses, the table or
    /// the item is not there, or it wants a sign-in.
    /// - spoken: the generation in whose words the backend was asked.
    case refused(Response, reason: String, spoken: Generation)
    /// Nothing came that is an answer of /tables.
    case unreachable(reason: String, retryAfter: Duration?)
    /// The backend's generation has no words for the query.
    case untranslatable
}

extension ForwardedRead {
    /// The request to a backend of a generation; nil for what the generation cannot be asked, and for what
    /// its rule for null would give other rows for.
    ///
    /// `$select` is left out: the answer is rendered from whole items. An order ends with the id, as the
    /// store's does: the next page may be the store's. First generation backends show system properties
    /// only where they are asked for.
    func request(for spoken: Generation) -> RemoteRequest? {
        var path = "/tables/\(table)"
        var pairs: [String] = []
        switch target {
        case .list(let wanted, let rows):
            guard var query = wanted.translated(for: spoken) else { return nil }
            query.select = nil
            query.top = rows
            let id = Ordering(.column(.id))
            if !query.orderBy.isEmpty,
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
        let target = pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))"
        return RemoteRequest(method: .get, target: target, fields: headers)
    }

    /// What the backend's answer to the request means for the client; nil where it is no answer of
    /// /tables but the network's, or "not now".
    ///
    /// - Parameter now: when the read was sent; shown times are never later. A client that syncs goes on from the last time that
    ///   it saw, and the rows that it then gets from the store have later ones.
    func answer(_ exchange: Exchange, spoken: Generation, now: Instant) -> ForwardedAnswer? {
        switch (exchange.answer, target) {
        case (.rows(let page), .list(let query, let rows)):
            let most = rows ?? SyncLimits.pullPageRows
            let items = page.rows.prefix(most).map { $0.item(asOf: now) }
            let isFull = page.elements.count > most || page.elements.count == rows
            let hasMore = items.count < query.top ?? .max && (page.hasNext || isFull)
            return .page(
                ItemPage(
                    items: items, count: query.count ? page.total : nil, hasMore: hasMore,
                    hasOwnStamps: false))
        case (.row(let row), .item(let id, _)) where row.id.isLike(id):
            return .item(row.item(asOf: now))
        case (.row, _), (.rows, _), (.empty, _): return nil
        case (.unavailable, _), (.unreachable, _), (.failed(status: 408, _), _): return nil
        case (.unusable(_, .redirect), _): return nil
        // A success without rows is something else's answer, whatever it is made of.
        case (.unusable(let status, _), _) where status < 400: return nil
        case (.conflict, _), (.missing, _), (.unauthorized, _), (.rejected, _), (.failed, _),
            (.unusable, _):
            guard let response = exchange.response else { return nil }
            return .refused(
                response, reason: Prover.failure(exchange.answer, table).reason, spoken: spoken)
        }
    }
}

extension ItemID {
    /// Whether a backend that compares ids without case takes two for one.
    func isLike(_ other: ItemID) -> Bool {
        self == other || text.lowercased().utf8.elementsEqual(other.text.lowercased().utf8)
    }
}

extension RemoteRow {
    /// The row as an item that is not kept here.
    fileprivate func item(asOf now: Instant) -> Item {
        Item(
            id: id, columns: columns, createdAt: createdAt.flatMap { Instant(parsing: $0) },
            updatedAt: min(updatedAt.flatMap { Instant(parsing: $0) } ?? now, now),
            version: version ?? "", deleted: isDeleted)
    }
}
