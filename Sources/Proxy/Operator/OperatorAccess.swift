import Crypto
import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

/// Which callers may use the operator API: one that has the token of the data folder, or a browser that
/// exchanged a one-time link for a session.
///
/// A session has two halves. The cookie alone is not enough, because browsers send cookies to every
/// port of a host, so another server on this machine could collect it; the session value lives in
/// the page's own storage, which belongs to the port.
final class OperatorAccess: Sendable {
    /// The caller of a request.
    enum Caller: Sendable, Hashable {
        case token
        case session(Session)
    }

    /// A signed-in browser.
    struct Session: Sendable, Hashable {
        /// The value of the cookie.
        let cookie: String
        /// The value of the header `Understudy-Session`.
        let value: String
        /// When it ends.
        let expiresAt: Instant
        /// What the browser called itself when it signed in.
        var browser = ""

        /// What the session is called where it is listed; it gives neither half away.
        var id: String { String(SHA256.hex(cookie).prefix(12)) }

        /// When the browser signed in.
        var startedAt: Instant { expiresAt.adding(seconds: -Limits.sessionSeconds) }
    }

    private struct Link: Hashable {
        let value: String
        let expiresAt: Instant
    }

    private struct State {
        var links: [Link] = []
        var sessions: [Session]

        /// Does what changes the links.
        /// - Returns: what it returned, and the values of the links that are no longer good.
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
    private let linkGone: @Sendable (String) -> Void

    /// Makes an access list.
    /// - Parameters:
    ///   - token: the bearer token; never empty.
    ///   - sessions: those kept from an earlier run.
    ///   - secret: makes unguessable text.
    ///   - persist: keeps the sessions for the next run.
    ///   - linkGone: is told the value of each link that is no longer good.
    init(
        token: String, sessions: [Session] = [], now: @escaping @Sendable () -> Instant,
        secret: @escaping @Sendable () -> String,
        persist: @escaping @Sendable ([Session]) -> Void = { _ in },
        linkGone: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        precondition(!token.isEmpty, "an empty token would fit every request")
        self.token = token
        tokenEncodings = SecretEncodings(token)
        self.now = now
        self.secret = secret
        self.persist = persist
        self.linkGone = linkGone
        state = Mutex(State(sessions: sessions))
    }

    /// The caller that a request comes from; nil when it may not use the operator API.
    func caller(_ request: Request) -> Caller? {
        let fields = request.head.headerFields
        // A browser that was asked for a name and password sends them everywhere: they say nothing here.
        if let given = fields[.authorization].flatMap({ BearerCredential.token($0) }) {
            return Self.isSame(given, token) ? .token : nil
        }
        guard let value = fields[.understudySession] else { return nil }
        let cookies = Self.cookies(named: Self.cookieName(request), in: fields)
        let now = now()
        return state.withLock { state in
            state.sessions.first { session in
                cookies.contains { Self.isSame(session.cookie, $0) }
                    && Self.isSame(session.value, value) && session.expiresAt > now
            }
        }.map { .session($0) }
    }

    /// Whether a caller that was authorized still is.
    func isAuthorized(_ caller: Caller) -> Bool {
        switch caller {
        case .token: true
        case .session(let session): sessions.contains(session)
        }
    }

    /// The fields without those that hold the operator's token, wherever in them it stands, as it is or
    /// in base64: two fields of one name, a second space, a password and a field of the backend's all
    /// would carry it past this program.
    func withoutToken(_ fields: HTTPFields) -> HTTPFields { tokenEncodings.removed(from: fields) }

    /// Whether a raw target holds the operator's token, as it is or percent-encoded, once or twice.
    func isTokenIn(_ target: String) -> Bool {
        if tokenEncodings.isIn(target) { return true }
        let once = PercentCoding.decodeLeniently(target.utf8)
        return [once, PercentCoding.decodeLeniently(once)].contains {
            tokenEncodings.isIn(String(decoding: $0, as: UTF8.self))
        }
    }

    /// Makes a one-time link's value.
    func makeLink() -> (value: String, expiresAt: Instant) {
        let now = now()
        let link = Link(value: secret(), expiresAt: now.adding(seconds: Limits.linkSeconds))
        let (_, gone) = state.withLock { state in
            state.changingLinks { state in
                state.links.removeAll { $0.expiresAt <= now }
                state.links = state.links.suffix(Limits.links - 1) + [link]
            }
        }
        for value in gone { linkGone(value) }
        return (link.value, link.expiresAt)
    }

    /// Exchanges a link for a session; nil when the link was used, is too old or never was.
    /// - Parameter browser: what the browser calls itself.
    func signIn(link: String, browser: String = "") -> Session? {
        let now = now()
        let session = Session(
            cookie: secret(), value: secret(),
            expiresAt: now.adding(seconds: Limits.sessionSeconds),
            browser: String(browser.prefix(Limits.browserNameCharacters)))
        let (sessions, gone) = state.withLock { state in
            state.changingLinks { state -> [Session]? in
                state.links.removeAll { $0.expiresAt <= now }
                let found = state.links.firstIndex { Self.isSame($0.value, link) }
                guard let found else { return nil }
                state.links.remove(at: found)
                state.sessions.removeAll { $0.expiresAt <= now }
                state.sessions = state.sessions.suffix(Limits.sessions - 1) + [session]
                return state.sessions
            }
        }
        for value in gone { linkGone(value) }
        guard let sessions else { return nil }
        persist(sessions)
        return session
    }

    /// Ends a session.
    func signOut(_ session: Session) {
        let sessions = state.withLock { state in
            state.sessions.removeAll { $0 == session }
            return state.sessions
        }
        persist(sessions)
    }

    /// The sessions that hold, the latest first.
    var sessions: [Session] {
        let now = now()
        return state.withLock { state in
            state.sessions.filter { $0.expiresAt > now }.reversed()
        }
    }

    /// Ends the session of an id; false when there is none.
    func revoke(_ id: String) -> Bool {
        guard let session = sessions.first(where: { $0.id == id }) else { return false }
        signOut(session)
        return true
    }

    /// The cookie's name: it carries the port, since cookies do not know ports.
    static func cookieName(_ request: Request) -> String {
        "\(cookiePrefix)\(request.connection.localPort)"
    }

    /// Whether a name is one that this program gives its cookies, at whatever port.
    static func isOwnCookie(_ name: String) -> Bool { name.lowercased().hasPrefix(cookiePrefix) }

    private static let cookiePrefix = "understudy_"

    /// The values of all cookies of a name. Another port of this machine may have set one of the same
    /// name, and the browser sends both.
    private static func cookies(named name: String, in fields: HTTPFields) -> [String] {
        BackendCookies.pairs(of: fields).filter { BackendCookies.name(of: $0) == name }.map {
            pair in String(Substring(pair.utf8.drop { $0 != UInt8(ascii: "=") }.dropFirst()))
        }
    }

    /// Compares without stopping at the first difference, so that time tells nothing.
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
