import HTTPMessage
import TablesProtocol

/// What came of one request, with everything that the verdict needs and nothing decided yet.
enum RemoteAnswer: Sendable, Hashable {
    /// 2xx with one row.
    case row(RemoteRow)
    /// 2xx with a list.
    case rows(RemotePage)
    /// 2xx without a body.
    case empty
    /// 409 or 412; the row if the body was one. Real servers echo the client's own item on a
    /// duplicate insert, so for inserts the row proves nothing.
    case conflict(status: Int, RemoteRow?)
    /// 404 or 410, in JSON or without a body.
    case missing(status: Int)
    /// 401.
    case unauthorized
    /// Any other 4xx but 408 and 429: the backend understood and refuses.
    case rejected(status: Int, text: String)
    /// 408 or a 5xx that is the backend's own: it may have acted.
    case failed(status: Int, text: String)
    /// 429, 502, 503 or 504: not now, and perhaps when again.
    case unavailable(status: Int, retryAfter: Duration?)
    /// An answer that is none: HTML, a torn or foreign body, a redirect. Never a verdict.
    case unusable(status: Int, Unusable)
    /// No complete response came.
    case unreachable(TransportError)
}

/// Why an answer is no verdict.
enum Unusable: String, Sendable, Hashable {
    /// A page for people: a captive portal or a server that is not /tables.
    case html
    /// JSON was expected and something else or half of it came.
    case notJSON
    /// JSON, but no row or list.
    case unexpectedShape
    /// The backend refuses the version of the protocol that was spoken.
    case otherVersion
    case redirect
}

/// One answer to a list.
struct RemotePage: Sendable, Hashable {
    /// What came, in its order.
    var elements: [ListElement]
    /// The backend says that more follow, by a `Link` header or a next link.
    var hasNext: Bool
    /// The rows came in the third generation's envelope.
    var isDatasync = false
    /// How many rows the query has in all, when it was asked and the backend says so.
    var total: Int?

    /// The elements that are rows.
    var rows: [RemoteRow] { elements.compactMap(\.row) }
}

/// One request and what came of it, as the record of an attempt needs it.
struct Exchange: Sendable {
    var answer: RemoteAnswer
    /// What came, whole; nil when nothing did.
    var response: Response?
    /// The status, when a response came.
    var status: Int?
    /// The beginning of the response body, at most ``SyncLimits/excerptBytes``.
    var excerpt: String?
    /// The answer's header fields, see ``RecordedFields``.
    var fields: [String]

    init(
        answer: RemoteAnswer, response: Response? = nil, status: Int? = nil,
        excerpt: String? = nil, fields: [String] = []
    ) {
        self.answer = answer
        self.response = response
        self.status = status
        self.excerpt = excerpt
        self.fields = fields
    }
}

/// Reads `Retry-After` in both its forms.
enum RetryAfter {
    /// How long to wait from `now`: whole seconds, or an HTTP date. Nil when the field is absent or
    /// unreadable; never negative, at most ``SyncLimits/retryAfterSeconds``.
    static func parse(_ field: String?, now: Instant) -> Duration? {
        guard let field else { return nil }
        let text = field.filter { $0 != " " }
        if let seconds = Int64(text) { return bounded(.seconds(max(seconds, 0))) }
        guard let instant = Instant(httpDate: field) else { return nil }
        return bounded(.milliseconds(max(instant.milliseconds - now.milliseconds, 0)))
    }

    private static func bounded(_ duration: Duration) -> Duration {
        min(duration, .seconds(SyncLimits.retryAfterSeconds))
    }
}
