import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

/// Why the guard refused a request.
struct Refusal: Sendable, Hashable {
    /// The check that failed. The raw value is counted and shown.
    enum Reason: String, Sendable, Hashable, CaseIterable {
        case address
        case method
        case methodOverride = "method-override"
        case serviceWorker = "service-worker"
        case host
        case target
        case tooLarge = "too-large"
        case origin = "cross-origin"
        case port = "wrong-port"
        case capability
        case signIn = "sign-in-required"
        case readOnly = "read-only"
        case contentType = "content-type"

        var status: HTTPResponse.Status {
            switch self {
            case .address, .serviceWorker, .origin, .readOnly: .forbidden
            case .port: .notFound
            case .method: .methodNotAllowed
            case .methodOverride, .target: .badRequest
            case .host: .misdirectedRequest
            case .tooLarge: .contentTooLarge
            case .capability, .signIn: .unauthorized
            case .contentType: .unsupportedMediaType
            }
        }
    }

    let reason: Reason
    /// One sentence for a person, with what to do.
    let sentence: String
    /// The refused Host or Origin for the operator: scheme and host, never a credential.
    let detail: String?

    init(_ reason: Reason, _ sentence: String, detail: String? = nil) {
        self.reason = reason
        self.sentence = sentence
        self.detail = detail.map {
            String(Self.schemeAndHost($0).prefix(Limits.refusalDetailCharacters))
        }
    }

    var status: HTTPResponse.Status { reason.status }

    /// The scheme and the host of an address, or the host alone. The rest may contain the secret of a
    /// capability address, also in an invalid address, so it is not shown.
    private static func schemeAndHost(_ address: String) -> Substring {
        let mark = address.firstRange(of: "://")
        if let mark, !address[..<mark.lowerBound].utf8.allSatisfy(PercentCoding.isUnreserved) {
            return ""
        }
        let host = address[(mark?.upperBound ?? address.startIndex)...].prefix {
            !"/\\?#".contains($0)
        }
        return address[..<host.endIndex]
    }

    /// The refusal as an error of `/tables`; nil for checks before the space is known, and for checks of the
    /// operator API.
    func tablesError(_ limitBytes: Int) -> TablesError? {
        switch reason {
        case .origin, .readOnly: .forbidden(sentence)
        case .methodOverride: .methodOverride
        case .tooLarge: .bodyTooLarge(limitBytes: limitBytes)
        case .contentType: .unsupportedContentType
        case .address, .method, .serviceWorker, .port, .host, .target, .capability, .signIn: nil
        }
    }
}

/// Counts the requests that the guard and the server have refused since the start, by reason.
final class RejectionLog: Sendable {
    /// The refusals for one reason.
    struct Entry: Sendable, Hashable {
        let reason: RejectionReason
        var count: Int
        var lastAt: Instant
        var lastDetail: String?
    }

    private let entries = Mutex<[RejectionReason: Entry]>([:])
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant) {
        self.now = now
    }

    func count(_ refusal: Refusal) { count(.byGuard(refusal.reason), detail: refusal.detail) }

    func count(_ reason: RefusalReason) { count(.byServer(reason), detail: nil) }

    private func count(_ reason: RejectionReason, detail: String?) {
        let at = now()
        entries.withLock { entries in
            let before = entries[reason]?.count ?? 0
            entries[reason] = Entry(
                reason: reason, count: before + 1, lastAt: at, lastDetail: detail)
        }
    }

    /// The reasons that have occurred.
    var all: [Entry] {
        entries.withLock { entries in RejectionReason.all.compactMap { entries[$0] } }
    }

    var total: Int { all.reduce(0) { $0 + $1.count } }
}

/// Why a request was refused, by the guard or by the server.
enum RejectionReason: Sendable, Hashable {
    case byGuard(Refusal.Reason)
    /// The server, before the guard's checks or while the body was read.
    case byServer(RefusalReason)

    /// All reasons: those of the server, then those of the guard in the order of its checks.
    static let all: [RejectionReason] =
        RefusalReason.allCases.map { .byServer($0) } + Refusal.Reason.allCases.map { .byGuard($0) }

    /// A stable word for programs, such as `cross-origin`.
    var word: String {
        switch self {
        case .byGuard(let reason): reason.rawValue
        case .byServer(.bodyTooLarge): "too-large-body"
        case .byServer(.target): "malformed-target"
        case .byServer(.method): "malformed-method"
        case .byServer(let reason): Self.hyphenated(reason.rawValue)
        }
    }

    /// The status of the answer. An answer of libmicrohttpd itself may have another one.
    var status: Int {
        switch self {
        case .byGuard(let reason): reason.status.code
        case .byServer(let reason): reason.status.code
        }
    }

    /// One sentence for the operator, without the detail.
    var sentence: String {
        switch self {
        case .byGuard(.address):
            "A client reached this server at an address that is not this machine's own."
        case .byGuard(.method): "A client used a method that is not known here."
        case .byGuard(.methodOverride): "A client wanted to override its method by a header."
        case .byGuard(.serviceWorker):
            "A page at this address, one of the backend's, wanted a service worker of its own."
        case .byGuard(.host):
            "A client called this server by another name. A web page may have led that name here. "
                + "If it is yours, start with --allow-host."
        case .byGuard(.target): "A client asked for a path that could be read in two ways."
        case .byGuard(.tooLarge): "A client announced a body that is too large."
        case .byGuard(.origin):
            "A page of another origin tried to reach Understudy. If it is yours, start with "
                + "--allow-origin."
        case .byGuard(.port):
            "Something was asked for at the other port: the dashboard has its own, --dashboard-listen."
        case .byGuard(.capability):
            "A client came without an address of its own, or with one that was revoked. Make one "
                + "with `understudy access add NAME`."
        case .byGuard(.signIn): "A client asked the operator API without being signed in."
        case .byGuard(.readOnly): "A browser with a read-only sign-in tried to change something."
        case .byGuard(.contentType): "A client sent a body that does not say it is JSON."
        case .byServer(.unreadable): "A client sent bytes that are not an HTTP request."
        case .byServer(let reason): "A request was not read. \(reason.sentence)"
        }
    }

    /// `repeatedField` as `repeated-field`.
    private static func hyphenated(_ word: String) -> String {
        word.reduce(into: "") { result, letter in
            if letter.isUppercase { result += "-" }
            result += letter.lowercased()
        }
    }
}
