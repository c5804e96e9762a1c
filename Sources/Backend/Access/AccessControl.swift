import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

// What a request may do on a backend whose users' tokens are verified (`BackendOptions.Tokens.verified`).
//
// | request | who may |
// |---|---|
// | `/tables/…` | as the table says; 401 with a token that is not accepted |
// | `/tables` and paths below it of no table | everybody; the answer is 404 |
// | logins, `/.auth/…` | everybody; the token in the request is looked at there |
// | `OPTIONS`, `/-/livez`, `/-/readyz` | everybody |
// | everything else | the administrator |
final class AccessControl: Sendable {
    private let rules: BackendRules
    private let meter: RequestMeter
    private let clock: @Sendable () -> Instant
    private let current = Mutex<(any TokenVerifier)?>(nil)

    init(_ rules: BackendRules, _ meter: RequestMeter, clock: @escaping @Sendable () -> Instant) {
        (self.rules, self.meter, self.clock) = (rules, meter, clock)
    }

    /// Whose tokens are accepted; nil while none is.
    var verifier: (any TokenVerifier)? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// A request with its user.
    func withSender(_ call: Call) -> Call {
        var call = call
        guard rules.verifiesTokens, call.method != .options else { return call }
        guard call.isUnderTables || call.isUnder(".auth"), let token = call.verifiableToken else {
            return call
        }
        call.sender = sender(token)
        return call
    }

    private func sender(_ token: String) -> Call.Sender {
        guard let verifier else { return .refused(.issuer) }
        do {
            return .user(try verifier.user(of: token, at: clock()))
        } catch {
            return .refused(error)
        }
    }

    /// The answer to a request that may not be made; nil for all others. The page of an allowed origin can
    /// read it.
    func refusal(_ call: Call) -> Response? {
        denial(call).map { rules.readable($0, call) }
    }

    private func denial(_ call: Call) -> Response? {
        guard rules.verifiesTokens, call.method != .options else { return nil }
        // A balancer may have looked at the method of the request line alone.
        if let name = Self.methodOverrides.first(where: { call.field($0) != nil }) {
            return rules.refused(call, Refusal(400, "\(name) is not supported."))
        }
        if call.isUnderTables {
            // A path of no table is answered 404 to everybody.
            guard call.tableName != nil, case .refused(let reason) = call.sender else {
                return nil
            }
            return unauthorized(call, reason)
        }
        if call.isUnder(".auth") || call.isUnder("login") || isAdmin(call) { return nil }
        if rules.options.servesHealth, let health = HealthSubject(call), health != .metrics {
            return nil
        }
        var response = rules.refused(
            call, Refusal(401, "Send the administrator's token as Authorization: Bearer."))
        response.head.headerFields[.wwwAuthenticate] = "Bearer"
        return response
    }

    /// The fields by which a request overrides its method at some servers.
    private static let methodOverrides = [
        "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override",
    ]

    /// The answer to a token that is not accepted.
    func unauthorized(_ call: Call, _ reason: TokenRefusal) -> Response {
        meter.count(reason)
        var response = rules.refused(call, .badToken(rules.profile))
        response.head.headerFields[.wwwAuthenticate] =
            "Bearer error=\"invalid_token\", error_description=\"\(reason.rawValue)\""
        return response
    }

    private func isAdmin(_ call: Call) -> Bool {
        guard let token = call.bearerToken, let verifier else { return false }
        return verifier.isAdministrator(token)
    }
}

extension Call {
    /// The sender of a request, where tokens are verified.
    enum Sender: Sendable, Hashable {
        /// It has no token.
        case anonymous
        case user(VerifiedUser)
        case refused(TokenRefusal)
    }

    /// The user; nil for an anonymous request.
    var user: VerifiedUser? {
        if case .user(let user) = sender { user } else { nil }
    }

    /// Whether the first part of the path is this one.
    func isUnder(_ part: String) -> Bool {
        request.path.split(separator: "/").first.map { $0 == part } ?? false
    }
}
