import HTTPMessage
import HTTPTypes
import TablesProtocol

/// What an answer of the backend's login says: a token, and perhaps whose.
struct LoginAnswer: Sendable, Hashable {
    let token: Token
    let userID: String?

    /// Whether the answer to a request may be a login's: `POST /login/{provider}`,
    /// `POST /.auth/login/{provider}`, `GET /.auth/refresh`, `GET /.auth/login/{provider}/token`, and
    /// the redirects of a browser's login, which end at `…/login/done#token=…`.
    static func isExpected(of request: Request) -> Bool {
        var parts = segments(of: request)
        let isAppService = parts.first == ".auth"
        if isAppService { parts.removeFirst() }
        switch parts.first {
        case "login": return true
        case "refresh": return isAppService
        default: return false
        }
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
    init?(_ response: Response) {
        let json: JSONValue?
        switch response.head.status.code {
        case 200..<300: json = response.bytes.flatMap { try? JSONValue(parsing: $0) }
        case 300..<400: json = Self.fragment(response.head.headerFields[.location] ?? "")
        default: json = nil
        }
        guard let text = json?["authenticationToken"]?.string, !text.isEmpty else { return nil }
        token = Token(login: text)
        userID = json?["user"]?["userId"]?.string
    }

    /// The JSON behind `#token=` of a browser login's last redirect.
    private static func fragment(_ location: String) -> JSONValue? {
        guard let mark = location.firstRange(of: "/login/done#token="),
            let text = PercentCoding.decode(location[mark.upperBound...], plusIsSpace: false)
        else { return nil }
        return try? JSONValue(parsing: Array(text.utf8))
    }
}
