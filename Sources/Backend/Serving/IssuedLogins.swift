import HTTPMessage
import HTTPTypes
import TablesProtocol

// Client-flow login: `POST /login/{provider}` (first generation) or `POST /.auth/login/{provider}`
// (later) with the provider's token; `GET /.auth/refresh` and `GET /.auth/logout` with this backend's
// own. A client that sends the access token `ana` to `facebook` is the user `facebook:ana`: no
// password is asked for.
struct IssuedLogins: Sendable {
    let rules: BackendRules
    let storage: any RowStorage
    let random: SharedRandom

    /// Answers a login, a refresh or a logout; nil for everything else.
    func answer(_ call: Call) throws -> Response? {
        let parts = call.request.path.split(separator: "/").map {
            PercentCoding.decodeLeniently($0, plusIsSpace: false)
        }
        let isFirst = rules.profile.generation == .mobileServices
        switch (call.method, parts.first, parts.count) {
        case (.post, "login", 2) where isFirst: return try login(call, provider: parts[1])
        case (.post, ".auth", 3) where parts[1] == "login" && !isFirst:
            return try login(call, provider: parts[2])
        case (.get, ".auth", 2) where parts[1] == "refresh" && !isFirst: return try refresh(call)
        case (.get, ".auth", 2) where parts[1] == "logout" && !isFirst: return try logout(call)
        default: return nil
        }
    }

    /// Takes the token back, and leads on as App Service does, whether there was one or not.
    private func logout(_ call: Call) throws -> Response {
        if let token = call.token(.mobileApps) ?? call.token(.datasync) {
            try storage.endLogin(token: token)
        }
        return Response(status: .found, headerFields: [.location: "/.auth/logout/complete"])
    }

    private func login(_ call: Call, provider: String) throws -> Response {
        let body = try? JSONValue(parsing: call.request.body)
        let given = body?["access_token"]?.string ?? body?["id_token"]?.string
        // PostgreSQL cannot keep U+0000.
        guard let given, !given.isEmpty, !"\(provider)\(given)".utf8.contains(0) else {
            return rules.refused(
                call, Refusal(401, "The \(provider) token is missing or cannot be read."))
        }
        return try signedIn("\(provider):\(given)", provider: provider)
    }

    private func refresh(_ call: Call) throws -> Response {
        let token = call.token(.mobileApps) ?? call.token(.datasync)
        guard let token, let user = try storage.user(ofToken: token) else {
            return rules.refused(call, Refusal(401, "Unauthorized"))
        }
        let provider = user.prefix { $0 != ":" }
        return try signedIn(user, provider: String(provider))
    }

    private func signedIn(_ user: String, provider: String) throws -> Response {
        let token = newToken(user, provider: provider)
        try storage.keepLogin(token: token, user: user)
        let answer = JSONValue.object([
            .init("user", .object([.init("userId", .string(user))])),
            .init("authenticationToken", .string(token)),
        ])
        return Response(
            status: .ok, headerFields: [.contentType: "application/json"],
            body: Array(answer.text.utf8))
    }

    /// A token in the form of a JWT. It is accepted because it was handed out, not for its signature.
    private func newToken(_ user: String, provider: String) -> String {
        let head = JSONValue.object([.init("alg", .string("HS256")), .init("typ", .string("JWT"))])
        let claims = JSONValue.object([
            .init("iss", .string("urn:understudy:reference-backend")),
            .init("aud", .string(provider)), .init("sub", .string(user)),
            .init("jti", .string(Base64.encoded(random.bytes(12)))),
        ])
        let parts = [Array(head.text.utf8), Array(claims.text.utf8), random.bytes(32)]
        return parts.map(Base64.encodedForURL).joined(separator: ".")
    }
}
