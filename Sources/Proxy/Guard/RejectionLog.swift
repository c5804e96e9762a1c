import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

/// Counts what guard and server refused since the start, by reason, for the dashboard and the
/// metrics.
final class RejectionLog: Sendable {
    /// What is known of one reason.
    struct Entry: Sendable, Hashable {
        let reason: RejectionReason
        var count: Int
        var lastAt: Instant
        var lastDetail: String?
    }

    private let entries = Mutex<[RejectionReason: Entry]>([:])
    private let now: @Sendable () -> Instant

    /// Makes an empty log.
    init(now: @escaping @Sendable () -> Instant) {
        self.now = now
    }

    /// Counts a refusal of the guard.
    func count(_ refusal: Refusal) { count(.guarded(refusal.reason), detail: refusal.detail) }

    /// Counts a refusal of the server.
    func count(_ reason: RefusalReason) { count(.unread(reason), detail: nil) }

    private func count(_ reason: RejectionReason, detail: String?) {
        let at = now()
        entries.withLock { entries in
            let before = entries[reason]?.count ?? 0
            entries[reason] = Entry(
                reason: reason, count: before + 1, lastAt: at, lastDetail: detail)
        }
    }

    /// Every reason that occurred.
    var all: [Entry] {
        entries.withLock { entries in RejectionReason.all.compactMap { entries[$0] } }
    }

    /// All refusals together.
    var total: Int { all.reduce(0) { $0 + $1.count } }
}

/// Why a request was refused, by the guard or the server; counted and shown by its word.
enum RejectionReason: Sendable, Hashable {
    /// A step of the guard.
    case guarded(Refusal.Reason)
    /// The server, before the guard saw the request or while its body came.
    case unread(RefusalReason)

    /// All of them: first what no guard ever sees, then the guard's in the order of its steps.
    static let all: [RejectionReason] =
        RefusalReason.allCases.map { .unread($0) } + Refusal.Reason.allCases.map { .guarded($0) }

    /// A stable word for programs, such as `cross-origin`.
    var word: String {
        switch self {
        case .guarded(let reason): reason.rawValue
        case .unread(.bodyTooLarge): "too-large-body"
        case .unread(.target): "malformed-target"
        case .unread(.method): "malformed-method"
        case .unread(let reason): Self.hyphenated(reason.rawValue)
        }
    }

    /// The status of the answer. What libmicrohttpd answers by itself has one of several, mostly this.
    var status: Int {
        switch self {
        case .guarded(let reason): reason.status.code
        case .unread(let reason): reason.status.code
        }
    }

    /// What happened, for the operator, without the detail.
    var sentence: String {
        switch self {
        case .guarded(.address):
            "A client reached this server at an address that is not this machine's own."
        case .guarded(.method): "A client used a method that is not known here."
        case .guarded(.methodOverride): "A client wanted to override its method by a header."
        case .guarded(.serviceWorker):
            "A page at this address, one of the backend's, wanted a service worker of its own."
        case .guarded(.host):
            "A client called this server by another name. A web page may have led that name here. "
                + "If it is yours, start with --allow-host."
        case .guarded(.target): "A client asked for a path that could be read in two ways."
        case .guarded(.tooLarge): "A client announced a body that is too large."
        case .guarded(.origin):
            "A page of another origin tried to reach Understudy. If it is yours, start with "
                + "--allow-origin."
        case .guarded(.port):
            "Something was asked for at the other port: the dashboard has its own, --dashboard-listen."
        case .guarded(.capability):
            "A client came without an address of its own, or with one that was revoked. Make one "
                + "with `understudy access add NAME`."
        case .guarded(.signIn): "A client asked the operator API without being signed in."
        case .guarded(.contentType): "A client sent a body that does not say it is JSON."
        case .unread(.unreadable): "A client sent bytes that are not an HTTP request."
        case .unread(let reason): "A request was not read. \(reason.sentence)"
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
