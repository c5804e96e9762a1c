import Digests
import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

/// The callers that may use the operator API: those with the token of the data folder, and browsers that have
/// exchanged a one-time link for a session.
///
/// A session has two values. The cookie alone is not enough: browsers send cookies to every port of a host,
/// so another server on this machine could read it. The other value is in the page's storage, which belongs
/// to the port.
final class OperatorAccess: Sendable {
    enum Caller: Sendable, Hashable {
        case token
        case session(Session)
    }

    struct Session: Sendable, Hashable {
        let cookie: String
        /// The value of the header `Understudy-Session`.
        let value: String
        let expiresAt: Instant
        /// The browser's `User-Agent` at the sign-in.
        var browser = ""
        /// Whether it sees all and changes nothing.
        var isReadOnly = false

        /// The id of the session in lists. It reveals neither value.
        var id: String { String(SHA256.hex(cookie).prefix(12)) }

        var startedAt: Instant { expiresAt.adding(seconds: -Limits.sessionSeconds) }
    }

    private struct Link: Hashable {
        let value: String
        let expiresAt: Instant
        let isReadOnly: Bool
    }

    private struct State {
        var links: [Link] = []
        var sessions: [Session]

        /// Changes the links.
        /// - Returns: the result of `change`, and the values of the links that it has removed.
        mutating func changingLinks<Value>(
            _ change: (inout State) -> Value
        ) -> (Value, gone: [String]) {
            let before = links
            let value = change(&self)
            let left = Set(links)
            return (value, before.filter { !left.contains($0) }.map(\.value))
        }
    }

    private let token: String
    private let tokenEncodings: SecretEncodings
    private let state: Mutex<State>
    private let now: @Sendable () -> Instant
    private let secret: @Sendable () -> String
    private let persist: @Sendable ([Session]) -> Void
    private let onLinkExpired: @Sendable (String) -> Void

    /// - Parameters:
    ///   - token: the bearer token; never empty.
    ///   - sessions: the sessions of an earlier run.
    ///   - secret: makes unguessable text.
    ///   - persist: writes the sessions for the next run.
    ///   - onLinkExpired: called with the value of each link that is not valid any more.
    init(
        token: String, sessions: [Session] = [], now: @escaping @Sendable () -> Instant,
        secret: @escaping @Sendable () -> String,
        persist: @escaping @Sendable ([Session]) -> Void = { _ in },
        onLinkExpired: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        precondition(!token.isEmpty, "an empty token would fit every request")
        self.token = token
        tokenEncodings = SecretEncodings(token)
        self.now = now
        self.secret = secret
        self.persist = persist
        self.onLinkExpired = onLinkExpired
        state = Mutex(State(sessions: sessions))
    }

    /// The caller of a request; nil if it may not use the operator API.
    func caller(_ request: Request) -> Caller? {
        let fields = request.head.headerFields
        // A browser sends a name and password that another server asked for; those are ignored.
        if let given = fields[.authorization].flatMap({ BearerCredential.token($0) }) {
            return Self.isSame(given, token) ? .token : nil
        }
        guard let value = fields[own: .session] else { return nil }
        let cookies = Self.cookies(named: Self.cookieName(request), in: fields)
        let now = now()
        return state.withLock { state in
            state.sessions.first { session in
                cookies.contains { Self.isSame(session.cookie, $0) }
                    && Self.isSame(session.value, value) && session.expiresAt > now
            }
        }.map { .session($0) }
    }

    func isAuthorized(_ caller: Caller) -> Bool {
        switch caller {
        case .token: true
        case .session(let session): sessions.contains(session)
        }
    }

    /// The fields without those whose value contains the operator's token, plain or in base64. Not only
    /// `Authorization` is checked, so that no other field passes the token to the backend.
    func withoutToken(_ fields: HTTPFields) -> HTTPFields { tokenEncodings.removed(from: fields) }

    /// Whether a raw target contains the operator's token, plain or percent-encoded once or twice.
    func isTokenIn(_ target: String) -> Bool {
        guard tokenEncodings.mayBeIn(target) else { return false }
        if tokenEncodings.isIn(target) { return true }
        let once = PercentCoding.decodeLeniently(target.utf8)
        return [once, PercentCoding.decodeLeniently(once)].contains {
            tokenEncodings.isIn(String(decoding: $0, as: UTF8.self))
        }
    }

    /// Makes a one-time link.
    /// - Parameter isReadOnly: whether the browser that uses it may change nothing.
    /// - Returns: its secret value, and the end of its validity.
    func makeLink(isReadOnly: Bool = false) -> (value: String, expiresAt: Instant) {
        let now = now()
        let link = Link(
            value: secret(), expiresAt: now.adding(seconds: Limits.linkSeconds),
            isReadOnly: isReadOnly)
        let (_, gone) = state.withLock { state in
            state.changingLinks { state in
                state.links.removeAll { $0.expiresAt <= now }
                state.links = state.links.suffix(Limits.links - 1) + [link]
            }
        }
        for value in gone { onLinkExpired(value) }
        return (link.value, link.expiresAt)
    }

    /// Exchanges a link for a session; nil if the link is not valid.
    /// - Parameter browser: the browser's `User-Agent`.
    func signIn(link: String, browser: String = "") -> Session? {
        let now = now()
        var session = Session(
            cookie: secret(), value: secret(),
            expiresAt: now.adding(seconds: Limits.sessionSeconds),
            browser: String(browser.prefix(Limits.browserNameCharacters)))
        let (sessions, gone) = state.withLock { state in
            state.changingLinks { state -> [Session]? in
                state.links.removeAll { $0.expiresAt <= now }
                let found = state.links.firstIndex { Self.isSame($0.value, link) }
                guard let found else { return nil }
                session.isReadOnly = state.links.remove(at: found).isReadOnly
                state.sessions.removeAll { $0.expiresAt <= now }
                state.sessions = state.sessions.suffix(Limits.sessions - 1) + [session]
                return state.sessions
            }
        }
        for value in gone { onLinkExpired(value) }
        guard let sessions else { return nil }
        persist(sessions)
        return session
    }

    func signOut(_ session: Session) {
        let sessions = state.withLock { state in
            state.sessions.removeAll { $0 == session }
            return state.sessions
        }
        persist(sessions)
    }

    /// The valid sessions, the latest first.
    var sessions: [Session] {
        let now = now()
        return state.withLock { state in
            state.sessions.filter { $0.expiresAt > now }.reversed()
        }
    }

    /// Ends the session with an id; false if there is none.
    func revoke(_ id: String) -> Bool {
        guard let session = sessions.first(where: { $0.id == id }) else { return false }
        signOut(session)
        return true
    }

    /// The name of the cookie. It has the port in it, since browsers send cookies to all ports of a host.
    static func cookieName(_ request: Request) -> String {
        "\(cookiePrefix)\(request.connection.localPort)"
    }

    /// Whether a name is that of a cookie of this program, at any port.
    static func isOwnCookie(_ name: String) -> Bool { name.lowercased().hasPrefix(cookiePrefix) }

    private static let cookiePrefix = "understudy_"

    /// The values of all cookies with a name. A server at another port may have set one with the same name;
    /// the browser sends both.
    private static func cookies(named name: String, in fields: HTTPFields) -> [String] {
        BackendCookies.pairs(of: fields).filter { BackendCookies.name(of: $0) == name }.map {
            pair in String(Substring(pair.utf8.drop { $0 != UInt8(ascii: "=") }.dropFirst()))
        }
    }

    /// Compares in constant time for texts of equal length.
    static func isSame(_ left: String, _ right: String) -> Bool {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension Instant {
    /// This instant and some seconds more.
    func adding(seconds: Int64) -> Instant {
        Instant(milliseconds: milliseconds + seconds * 1000)
    }
}
