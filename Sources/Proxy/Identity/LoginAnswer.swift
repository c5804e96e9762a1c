import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// What an answer of the backend's login says: a token, and perhaps whose.
struct LoginAnswer: Sendable, Hashable {
    let token: Token
    let userID: String?

    /// Whether the answer to a request may be a login's: `POST` of `/login/{provider}` or
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

    /// Whether a segment may be a provider's name. `done` is where a login ends.
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

    /// Whether the answer to a request says that its user has signed out: `/.auth/logout`, where the
    /// backend does not refuse it.
    static func isSignOut(_ request: Request, _ response: Response) -> Bool {
        (200..<400).contains(response.head.status.code)
            && segments(of: request) == [".auth", "logout"]
    }

    /// The raw segments of the path in lower case, empty ones included: `//login/x` is no login.
    private static func segments(of request: Request) -> [String] {
        var segments = request.path.utf8.dropFirst()
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Substring($0).lowercased() }
        if segments.last == "" { segments.removeLast() }
        return segments
    }

    /// Reads a token out of a login's answer; nil when there is none.
    /// - Parameter backend: whose answer it is: a redirect to another place proves nothing.
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

    /// The JSON behind `#token=` of a browser login's last redirect, which leads to `login/done` of the
    /// backend itself. A redirect that repeats its request may have such a text anywhere else.
    private static func fragment(_ location: String, of backend: BackendAddress) -> JSONValue? {
        let parts = location.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("token="),
            let path = path(of: parts[0].prefix { $0 != "?" }, at: backend),
            ["\(backend.prefix)/login/done", "\(backend.prefix)/.auth/login/done"].contains(path),
            let text = PercentCoding.decode(parts[1].dropFirst(6), plusIsSpace: false)
        else { return nil }
        return try? JSONValue(parsing: Array(text.utf8))
    }

    /// The path of an address without query and fragment; nil for that of another server.
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
