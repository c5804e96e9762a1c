import HTTPMessage
public import HTTPTypes
import TablesProtocol

/// The answer to one request, before any decision.
enum RemoteAnswer: Sendable, Hashable {
    /// 2xx with one row.
    case row(RemoteRow)
    /// 2xx with a list.
    case rows(RemotePage)
    /// 2xx without a body.
    case empty
    /// 409 or 412, with the row if the body was one, else with the backend's sentence. Real servers echo the
    /// client's own item after a duplicate insert, so for an insert the row proves nothing.
    case conflict(status: Int, RemoteRow?, text: String = "")
    /// 404 or 410, with the backend's sentence.
    case missing(status: Int, text: String = "")
    /// 401.
    case unauthorized
    /// Any other 4xx that is not ``Later``, except 408: the backend understood the request and refuses it.
    case rejected(status: Int, text: String)
    /// 408, or a 5xx of the backend itself: it may have acted.
    case failed(status: Int, text: String)
    /// Not now (``Later``), with the wait if one was named.
    case unavailable(status: Int, retryAfter: Duration?)
    /// An answer that does not fit the request: HTML, a torn or foreign body, a redirect, or a refused
    /// protocol version. Never a verdict.
    case unusable(status: Int, Unusable)
    /// No complete response was received.
    case unreachable(TransportError)
}

enum Unusable: String, Sendable, Hashable {
    /// A page for people: a captive portal, or a server that does not speak /tables.
    case html
    /// The body is not JSON, or it is incomplete.
    case notJSON
    /// JSON, but neither a row nor a list.
    case unexpectedShape
    /// The backend refuses the protocol version.
    case otherVersion
    /// A list without the row that was asked for, which a read by its id does not confirm.
    case unconfirmed
    case redirect
}

extension RemoteAnswer {
    /// How many rows to ask for after a list of `asked` rows was refused: the number below it that the
    /// refusal names ("You cannot request more than 500 records"), else
    /// ``SyncLimits/fallbackPageRows``. Nil if the number of rows cannot be the reason.
    func smallerPage(than asked: Int) -> Int? {
        guard asked > SyncLimits.fallbackPageRows else { return nil }
        if case .unusable(status: 400, _) = self { return SyncLimits.fallbackPageRows }
        guard case .rejected(status: 400, let text) = self else { return nil }
        let numbers = text.filter { $0 != "," }.split { !$0.isASCII || !$0.isNumber }
        let named = numbers.compactMap { Int($0) }
        return named.filter { 0 < $0 && $0 < asked }.max() ?? SyncLimits.fallbackPageRows
    }

    var outcome: RequestOutcome {
        switch self {
        case .row, .rows, .empty: .succeeded
        case .conflict, .missing, .unauthorized, .rejected: .refused
        case .failed, .unavailable, .unusable: .failed
        case .unreachable: .unreachable
        }
    }

    /// Whether the request failed, so that there is neither a row nor a verdict.
    var isFailure: Bool {
        self == .unauthorized || outcome == .failed || outcome == .unreachable
    }

    /// Whether the answer is a list, which is how a row is read back.
    var isList: Bool { if case .rows = self { true } else { false } }

    /// 404 or 410.
    var isMissing: Bool { if case .missing = self { true } else { false } }

    /// Whether the answer to a read by id means that the table has no such row: 404 or 410. Express answers so, with
    /// a sentence of its own, where it has no such path, and so does a page.
    var isAbsence: Bool {
        guard case .missing(_, let text) = self else { return false }
        return !text.hasPrefix("Cannot GET ") && text != Unusable.html.words
    }

    /// Whether it is a success in JSON that is neither a list nor a row, as a table's own script may give it.
    /// Any server may answer so, so it proves nothing.
    var isOfScript: Bool {
        if case .unusable(let status, .unexpectedShape) = self { status < 400 } else { false }
    }

    /// Whether the backend refuses the protocol version of the request.
    var isOtherVersion: Bool {
        if case .unusable(_, .otherVersion) = self { true } else { false }
    }

    /// Whether the backend may have refused the generation of the request.
    var mayNeedOtherGeneration: Bool { isOtherVersion || isBadRequest }

    /// Whether the backend may have refused the order of a list. A 500 may be a failure of one moment: the
    /// same list without the order would be followed by pages in another order.
    var mayRefuseOrder: Bool {
        if case .failed(status: 501, _) = self { return true }
        if case .rejected(status: 400, _) = self { return true }
        return false
    }

    /// Whether the query may be the reason for a refusal, rather than the backend or a slow or torn
    /// connection.
    var mayBeOfQuery: Bool {
        if case .failed(let status, _) = self { return status != 408 }
        if case .unusable(let status, _) = self { return status >= 400 }
        if case .rejected = self { return true }
        return false
    }

    private var isBadRequest: Bool {
        if case .rejected(status: 400, _) = self { return true }
        if case .unusable(status: 400, _) = self { return true }
        return false
    }
}

struct RemotePage: Sendable, Hashable {
    /// The elements in the order received.
    var elements: [ListElement]
    /// Whether the backend says that more rows follow, by a `Link` header or a next link.
    var hasNext: Bool
    /// The query of the link to the next page, still encoded; nil if there is none that names the table.
    var next: String?
    /// Whether the rows came in the third generation's envelope.
    var isDatasync = false
    /// The total number of rows; nil if it was not requested or not given.
    var total: Int?
    /// When the backend sent the page, by its own clock; nil if it does not say.
    var sentAt: Instant?
    /// The latest `updatedAt` of the deleted rows that the backend no longer gives, as a site says it; nil if it
    /// does not say, or gives all.
    var deletionsAfter: Instant?

    var rows: [RemoteRow] { elements.compactMap(\.row) }
}

/// The answer to one request, and the response that it was read from.
struct RemoteExchange: Sendable {
    var answer: RemoteAnswer
    /// The whole response; nil if none was received.
    var response: Response?

    /// The status; nil if no response was received.
    var status: Int? { response?.head.status.code }
}

/// What an answer that says "later" is about.
public enum Later: Sendable, Hashable {
    /// The backend as a whole, which has not carried the request out: 429, 425, and 403 with `Retry-After`, as
    /// gateways answer beyond a quota.
    case backend
    /// Perhaps one table, and the request may have been carried out: 502, 503, 504.
    case table
    /// The way to the backend, which the request has not reached: 407, 421.
    case line

    init(status: Int) {
        switch status {
        case 403, 425, 429: self = .backend
        case 407, 421: self = .line
        default: self = .table
        }
    }

    /// Reads the head of an answer; nil if it does not say "later".
    init?(_ head: HTTPResponse) {
        switch head.status.code {
        case 407, 421, 425, 429, 502, 503, 504: break
        case 403 where RetryAfter.parse(head, now: Instant(milliseconds: 0)) != nil: break
        default: return nil
        }
        self.init(status: head.status.code)
    }

    /// Whether an answer is no answer of the backend to a client, but says "later", or is a gateway's: 511, 52x.
    public static func isOfGateway(_ head: HTTPResponse) -> Bool {
        Later(head) != nil || head.status.code >= 511
    }

    /// Why nothing can be sent now: one sentence.
    public static func reason(_ status: Int) -> String {
        switch status {
        case 403: "The backend's quota is used up (403)."
        case 407: "A proxy on the way asks for a sign-in of its own (407): see --backend-proxy."
        case 421: "The address leads to a server that does not answer for the backend (421)."
        case 425: "The backend is not ready for the request yet (425)."
        case 429: "The backend asks for fewer requests (429)."
        default: "The backend is not available (\(status))."
        }
    }
}

/// Reads `Retry-After` in both of its forms.
enum RetryAfter {
    /// How long the answer with this head asks to wait. A date is by the clock of the answer's own `Date`.
    static func parse(_ head: HTTPResponse, now: Instant) -> Duration? {
        let sent = head.headerFields[.date].flatMap { Instant(httpDate: $0) }
        return parse(head.headerFields[.retryAfter], now: sent ?? now)
    }

    /// How long to wait from `now`, given whole seconds or an HTTP date. Nil if the field is absent or
    /// unreadable. Never negative; at most ``SyncLimits/retryAfterSeconds``.
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

/// A row as the backend sent it. The system properties are separate and keep the backend's text, because
/// `updatedAt` and `version` are sent back unchanged.
struct RemoteRow: Sendable, Hashable {
    var id: ItemID
    /// The user's columns, in the order received.
    var columns: Columns
    var createdAt: String?
    var updatedAt: String?
    var version: String?
    /// Whether the row is deleted; nil if the backend does not say, because the table deletes hard.
    var deleted: Bool?
    /// Whether every row of the table has all its columns, null where none was written. This holds for
    /// servers that keep the table in SQL and add columns when they are first written.
    var sharesColumns = false
    /// Whether it is such a server's answer to a write, which may have columns that its script for reads leaves out.
    var answersWrite = false

    var isDeleted: Bool { deleted == true }

    /// Reads a JSON object of the wire; nil if it has no usable id.
    /// - Parameter etag: the version in the response's `ETag`, used if the body has none.
    init?(_ object: Columns, generation: Generation, etag: String? = nil) {
        var kept: [Columns.Column] = []
        var id: ItemID?
        var version = etag
        for column in object.all {
            if column.name == "id" {
                id = Self.id(column.value)
                continue
            }
            switch SystemProperty(named: column.name, in: generation) {
            case .createdAt: createdAt = column.value.string
            case .updatedAt: updatedAt = column.value.string
            case .version: version = column.value.string ?? version
            case .deleted: deleted = column.value.value.bool
            case nil: kept.append(column)
            }
        }
        guard let id else { return nil }
        self.id = id
        columns = Columns(unique: kept)
        self.version = version
    }

    init(
        id: ItemID, columns: Columns, createdAt: String? = nil, updatedAt: String? = nil,
        version: String? = nil, deleted: Bool? = nil
    ) {
        self.id = id
        self.columns = columns
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
        self.deleted = deleted
    }

    private static func id(_ value: JSONText) -> ItemID? {
        if let text = value.string { return try? ItemID(text) }
        return value.value.integer.map { ItemID($0) }
    }
}
