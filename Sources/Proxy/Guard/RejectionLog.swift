import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

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

    /// Makes an empty log.
    init(now: @escaping @Sendable () -> Instant) {
        self.now = now
    }

    /// Counts a refusal of the guard.
    func count(_ refusal: Refusal) { count(.byGuard(refusal.reason), detail: refusal.detail) }

    /// Counts a refusal of the server.
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

    /// The number of all refusals.
    var total: Int { all.reduce(0) { $0 + $1.count } }
}

/// Why a request was refused, by the guard or by the server.
enum RejectionReason: Sendable, Hashable {
    /// A check of the guard.
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
