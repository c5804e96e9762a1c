import HTTPMessage
import HTTPTypes
import TablesProtocol

// Logins where tokens are verified, in App Service's words:
//
// | request | answer |
// |---|---|
// | `POST /.auth/login/{provider}`, `POST /login/{provider}` with `id_token` or `access_token` | a token of this site |
// | `GET /.auth/refresh` with a token of this site | a new one |
// | `GET /.auth/me` with any good token | a list with its user and claims |
// | `GET /.auth/logout` | 302; a token holds until it expires |
struct VerifiedLogins: Sendable {
    let rules: BackendRules
    let access: AccessControl
    let clock: @Sendable () -> Instant
    let random: SharedRandom

    /// Answers what has to do with logins; nil for everything else.
    func answer(_ call: Call) -> Response? {
        let parts = call.request.path.split(separator: "/").map {
            PercentCoding.decodeLeniently($0, plusIsSpace: false)
        }
        switch (call.method, parts.first, parts.count) {
        case (.post, "login", 2): return login(call, provider: parts[1])
        case (.post, ".auth", 3) where parts[1] == "login":
            return login(call, provider: parts[2])
        case (.get, ".auth", 2) where parts[1] == "refresh": return refresh(call)
        case (.get, ".auth", 2) where parts[1] == "me": return me(call)
        case (.get, ".auth", 2) where parts[1] == "logout":
            return Response(status: .found, headerFields: [.location: "/.auth/logout/complete"])
        case (_, ".auth", _), (_, "login", _):
            return rules.refused(call, .noRoute(call, rules.profile))
        default: return nil
        }
    }

    private func login(_ call: Call, provider: String) -> Response {
        let body = try? JSONValue(parsing: call.request.body)
        guard let given = body?["id_token"]?.string ?? body?["access_token"]?.string else {
            return rules.refused(
                call, Refusal(401, "The \(provider) token is missing or cannot be read."))
        }
        return issued(call) { verifier, id throws(TokenRefusal) in
            try verifier.login(provider: provider, token: given, id: id, at: clock())
        }
    }

    private func refresh(_ call: Call) -> Response {
        guard let token = call.verifiableToken else { return access.unauthorized(call, .malformed) }
        return issued(call) { verifier, id throws(TokenRefusal) in
            guard let login = try verifier.refresh(token: token, id: id, at: clock()) else {
                throw .issuer
            }
            return login
        }
    }

    private func issued(
        _ call: Call,
        _ make: (any TokenVerifier, _ id: String) throws(TokenRefusal) -> VerifiedLogin?
    ) -> Response {
        do throws(TokenRefusal) {
            let id = Base64.encodedForURL(random.bytes(12))
            guard let verifier = access.verifier, let login = try make(verifier, id) else {
                return rules.refused(call, .noRoute(call, rules.profile))
            }
            return uncached(
                .object([
                    .init("user", .object([.init("userId", .string(login.user))])),
                    .init("authenticationToken", .string(login.token)),
                ]))
        } catch {
            return access.unauthorized(call, error)
        }
    }

    /// The user of the request, as App Service's `/.auth/me` says it.
    private func me(_ call: Call) -> Response {
        switch call.sender {
        case .anonymous: return access.unauthorized(call, .malformed)
        case .refused(let reason): return access.unauthorized(call, reason)
        case .user(let user):
            guard case .object(let members) = user.claims else {
                return access.unauthorized(call, .malformed)
            }
            let claims = members.map { member in
                JSONValue.object([
                    .init("typ", .string(member.name)),
                    .init("val", .string(member.value.string ?? member.value.text)),
                ])
            }
            return uncached(
                .array([
                    .object([
                        .init("provider_name", .string(user.provider)),
                        .init("user_id", .string(user.id)),
                        .init("user_claims", .array(claims)),
                    ])
                ]))
        }
    }

    /// JSON that no cache keeps.
    private func uncached(_ body: JSONValue) -> Response {
        Response(
            status: .ok,
            headerFields: [.contentType: "application/json", .cacheControl: "no-store"],
            body: Array(body.text.utf8))
    }
}
