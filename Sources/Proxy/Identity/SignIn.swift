import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// The tokens of an identity for its engine. They are in memory only.
///
/// An identity has a token for each of its devices. The engine sends the latest one that is neither
/// expired, nor refused, nor signed out (``EngineTokens``).
final class SignIn: Sendable {
    private let state = Mutex(EngineTokens())
    /// Writes the file of the known tokens.
    private let executor: BlockingExecutor
    private let known: KnownTokens?
    private let now: @Sendable () -> Instant

    /// - Parameters:
    ///   - executor: writes the file of the known tokens.
    ///   - known: the tokens that the backend has accepted; refused ones are removed from it.
    init(
        executor: BlockingExecutor, known: KnownTokens? = nil,
        now: @escaping @Sendable () -> Instant
    ) {
        self.executor = executor
        self.known = known
        self.now = now
    }

    /// The credential of the engine's requests.
    var credential: Credential {
        let at = now()
        return state.withLock { tokens in
            tokens.token(at: at, isSignedOut: isSignedOut).map { .token($0.field) } ?? .missing
        }
    }

    private func isSignedOut(_ token: Token) -> Bool {
        known?.find(token)?.known.isSignedOut == true
    }

    /// Adds a token. The same text in another header field is another token.
    /// - Parameter isVerified: whether the backend has just accepted it, so that it becomes the latest.
    ///   Otherwise it came with a request, and is added as the oldest.
    /// - Returns: whether the engine has a new token to try.
    func take(_ token: Token, isVerified: Bool) -> Bool {
        let at = now()
        return state.withLock { tokens in
            let before = tokens.token(at: at, isSignedOut: isSignedOut)
            guard tokens.take(token, isVerified: isVerified, at: at) else { return false }
            let isTriedAnew = before == token && isVerified
            return isTriedAnew || tokens.token(at: at, isSignedOut: isSignedOut) != before
        }
    }

    /// Records that the backend refuses a token, and removes it from the known ones. The engine continues
    /// with the next token. If there is none, it continues with this one until another is added, since the
    /// backend may have been wrong.
    func refuse(_ token: Token) {
        guard state.withLock({ $0.refuse(token) }), let known else { return }
        known.end(token)
        // If it cannot be written, it holds until the process ends (``KnownTokens/save()``).
        executor.run { try? known.save() }
    }

    /// Removes all tokens, because the user has signed out.
    func removeTokens() { state.withLock { $0 = EngineTokens() } }
}

/// The tokens of one identity, and the choice of the one that its engine sends. A pure value.
struct EngineTokens: Sendable, Hashable {
    private struct Held: Sendable, Hashable {
        let token: Token
        let expiresAt: Instant?

        init(_ token: Token) {
            self.token = token
            expiresAt = token.expiresAt
        }

        func isExpired(at now: Instant) -> Bool { TokenStanding.isExpired(expiresAt, at: now) }
    }

    /// The tokens that the backend has not refused, the latest last.
    private var held: [Held] = []
    /// The token that it refused last.
    private var refused: Held?

    /// The token to send: the latest that is neither expired nor signed out. Of those that the backend has
    /// refused, the last one is sent where there is no other, since the backend may have been wrong.
    func token(at now: Instant, isSignedOut: (Token) -> Bool) -> Token? {
        func isGood(_ one: Held) -> Bool { !one.isExpired(at: now) && !isSignedOut(one.token) }
        return (held.last(where: isGood) ?? refused.flatMap { isGood($0) ? $0 : nil })?.token
    }

    /// Adds a token: as the latest if the backend has just accepted it, otherwise as the oldest.
    /// - Returns: false if nothing changes: the token is there already, or was refused and not accepted
    ///   since.
    mutating func take(_ token: Token, isVerified: Bool, at now: Instant) -> Bool {
        if held.last?.token == token { return false }
        guard isVerified || !held.contains(where: { $0.token == token }) && refused?.token != token
        else { return false }
        if refused?.token == token { refused = nil }
        held.removeAll { $0.token == token || $0.isExpired(at: now) }
        if isVerified {
            held.append(Held(token))
            if held.count > Limits.tokensPerIdentity { held.removeFirst() }
        } else if held.count < Limits.tokensPerIdentity {
            held.insert(Held(token), at: 0)
        }
        return true
    }

    /// Records that the backend refuses a token.
    /// - Returns: false if it is not there, or was refused before.
    mutating func refuse(_ token: Token) -> Bool {
        guard let index = held.firstIndex(where: { $0.token == token }) else { return false }
        refused = held.remove(at: index)
        return true
    }
}

/// The token, and if given the user's id, in an answer of the backend's login.
struct LoginAnswer: Sendable, Hashable {
    let token: Token
    let userID: String?

    /// Whether the answer to a request may be that of a login: `POST` of `/login/{provider}` or
    /// `/.auth/login/{provider}`, `GET` of `/.auth/refresh` or `/.auth/login/{provider}/token`, and a
    /// browser's login at `/login/{provider}`, `/.auth/login/{provider}` and their `callback`, whose
    /// redirects end at `…/login/done#token=…`.
    static func isExpected(of request: Request) -> Bool {
        var parts = segments(of: request)[...]
        let isAppService = parts.first == ".auth"
        if isAppService { parts = parts.dropFirst() }
        let method = request.head.method
        if parts.elementsEqual(["refresh"]) { return isAppService && method == .get }
        guard [.get, .post].contains(method), parts.first == "login",
            let provider = parts.dropFirst().first, isProvider(provider)
        else { return false }
        switch parts.dropFirst(2) {
        case [], ["callback"]: return true
        case ["token"]: return isAppService && method == .get
        default: return false
        }
    }

    /// Whether a segment may be a provider's name. `done` is the end of a login.
    private static func isProvider(_ segment: String) -> Bool {
        let isPlain = segment.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain && !segment.isEmpty && segment != "done"
    }

    /// Whether a user has signed out: the request was for `/.auth/logout`, and the backend did not refuse it.
    static func isSignOut(_ request: Request, _ response: Response) -> Bool {
        (200..<400).contains(response.head.status.code)
            && segments(of: request) == [".auth", "logout"]
    }

    /// The raw segments of the path in lower case. Empty ones count, so `//login/x` is no login.
    private static func segments(of request: Request) -> [String] {
        var segments = request.path.utf8.dropFirst()
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Substring($0).lowercased() }
        if segments.last == "" { segments.removeLast() }
        return segments
    }

    /// Reads the answer of a login; nil if it has no token.
    /// - Parameter backend: the backend that answered. A redirect to another server has no token.
    init?(_ response: Response, of backend: BackendAddress) {
        let json: JSONValue?
        switch response.head.status.code {
        case 200..<300: json = response.bytes.flatMap { try? JSONValue(parsing: $0) }
        case 300..<400:
            json = Self.fragment(response.head.headerFields[.location] ?? "", of: backend)
        default: json = nil
        }
        guard let text = json?["authenticationToken"]?.string, !text.isEmpty else { return nil }
        token = Token(login: text)
        userID = json?["user"]?["userId"]?.string
    }

    /// The JSON after `#token=` in the last redirect of a browser's login, which goes to `login/done` of the
    /// backend. Any other redirect may repeat such a text from its request.
    private static func fragment(_ location: String, of backend: BackendAddress) -> JSONValue? {
        let parts = location.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("token="),
            let path = path(of: parts[0].prefix { $0 != "?" }, at: backend),
            ["\(backend.prefix)/login/done", "\(backend.prefix)/.auth/login/done"].contains(path),
            let text = PercentCoding.decode(parts[1].dropFirst(6), plusIsSpace: false)
        else { return nil }
        return try? JSONValue(parsing: Array(text.utf8))
    }

    /// The path of an address without query and fragment; nil for an address of another server.
    private static func path(of address: Substring, at backend: BackendAddress) -> String? {
        guard let mark = address.firstRange(of: "://") else {
            return address.hasPrefix("//") ? nil : String(address)
        }
        let rest = address[mark.upperBound...]
        let authority = rest.prefix { $0 != "/" }
        guard authority.lowercased() == backend.authority else { return nil }
        return String(rest[authority.endIndex...])
    }
}
