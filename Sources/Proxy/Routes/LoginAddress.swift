import TablesProtocol

/// An address for logins. Mobile Services has `/login/{provider}`. App Service, where Mobile Apps and
/// Datasync servers run, has `/.auth/login/{provider}` and other paths below `/.auth`.
struct LoginAddress: Sendable, Hashable {
    /// The servers that have the address.
    enum Form: Sendable, Hashable {
        case mobileServices, appService

        /// The form of a generation's servers.
        init(of generation: Generation) {
            switch generation {
            case .mobileServices: self = .mobileServices
            case .mobileApps, .datasync: self = .appService
            }
        }

        var other: Form {
            switch self {
            case .mobileServices: .appService
            case .appService: .mobileServices
            }
        }

        /// The path at which a browser's login ends. Clients wait for it.
        var donePath: String {
            switch self {
            case .mobileServices: "/login/done"
            case .appService: "/.auth/login/done"
            }
        }
    }

    let form: Form
    /// The raw segments after `/login` or `/.auth`.
    private let segments: [Substring]
    /// The raw query pairs.
    private let pairs: [Substring]

    /// Reads a request target; nil if it is no address for logins.
    init?(target: String) {
        let halves = target.split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var segments = halves[0].split(separator: "/")
        switch segments.first?.lowercased() {
        case "login": form = .mobileServices
        case ".auth": form = .appService
        default: return nil
        }
        segments.removeFirst()
        self.segments = segments
        pairs = halves.count > 1 ? halves[1].split(separator: "&") : []
    }

    /// The target in a form.
    /// - Parameter isBrowser: whether the request begins a browser's login, not a client's login with a
    ///   token.
    /// - Throws: ``TablesError`` with the reason if the form has no such address.
    func target(in form: Form, isBrowser: Bool) throws(TablesError) -> String {
        switch (self.form, form) {
        case (.mobileServices, .appService): return appService(isBrowser: isBrowser)
        case (.appService, .mobileServices): return try mobileServices()
        case (.mobileServices, .mobileServices): return Self.target("/login", segments, pairs)
        case (.appService, .appService): return Self.target("/.auth", segments, pairs)
        }
    }

    /// The App Service form of a Mobile Services address.
    ///
    /// 1. Without a provider Mobile Services uses a Microsoft account.
    /// 2. The two have different names for Azure Active Directory.
    /// 3. A browser's login ends with a token only if it begins with `session_mode=token`.
    private func appService(isBrowser: Bool) -> String {
        var segments = segments
        if segments.isEmpty { segments = ["microsoftaccount"] }
        if segments[0].lowercased() == "windowsazureactivedirectory" { segments[0] = "aad" }
        let isStart = isBrowser && segments.count == 1 && segments[0] != "done"
        let hasMode = pairs.contains { $0.hasPrefix("session_mode=") }
        let mode: [Substring] = isStart && !hasMode ? ["session_mode=token"] : []
        return Self.target("/.auth/login", segments, pairs + mode)
    }

    private func mobileServices() throws(TablesError) -> String {
        switch segments.first?.lowercased() {
        case "login": break
        case "refresh":
            throw .badRequest(
                "The backend is of Mobile Services, which cannot renew a token: sign in again.")
        default:
            throw .untranslatable(
                "The backend is of Mobile Services, which has nothing like this address.")
        }
        let isCodeFlow = pairs.contains {
            $0.hasPrefix("code_challenge") || $0.hasPrefix("post_login_redirect_url=")
        }
        if isCodeFlow || segments.count > 2 {
            throw .untranslatable(
                "The backend is of Mobile Services, which hands out no authorization codes: sign in "
                    + "with the provider's own SDK and send its token.")
        }
        return Self.target(
            "/login", segments.dropFirst(), pairs.filter { !$0.hasPrefix("session_mode=") })
    }

    private static func target(
        _ root: String, _ segments: some Sequence<Substring>, _ pairs: [Substring]
    ) -> String {
        let path = ([root[...]] + segments).joined(separator: "/")
        return pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))"
    }
}
