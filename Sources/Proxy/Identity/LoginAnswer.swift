import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

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
