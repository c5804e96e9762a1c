import HTTPMessage
import HTTPTypes
import TablesProtocol

// Sign-in of the dashboard.
extension OperatorAPI {
    func session(_ call: OperatorCall) throws(Problem) -> Response {
        let kind: String
        let expiresAt: Instant?
        switch access.caller(call.request) {
        case .token: (kind, expiresAt) = ("bearer", nil)
        case .session(let session): (kind, expiresAt) = ("session", session.expiresAt)
        case nil: throw Self.signInRequired("Sign in first.")
        }
        return .json(
            .members(
                ("kind", .string(kind)), ("expiresAt", .time(expiresAt)),
                ("identities", .array(tenants.identities.map { .string($0) }))))
    }

    func signIn(_ call: OperatorCall) throws(Problem) -> Response {
        guard let link = try call.body()["link"]?.string else {
            throw .invalid("link must be the value after #link= of the one-time link.")
        }
        let browser = call.request.head.headerFields[.userAgent] ?? ""
        guard let session = access.signIn(link: link, browser: browser) else {
            throw Self.signInRequired(
                "This link was used or is too old; make a new one with `understudy open`.")
        }
        var response = Response.json(
            .members(
                ("session", .string(session.value)), ("expiresAt", .time(session.expiresAt))),
            status: .created)
        response.head.headerFields[.setCookie] =
            "\(OperatorAccess.cookieName(call.request))=\(session.cookie); Path=/; HttpOnly; "
            + "SameSite=Strict; Max-Age=\(Limits.sessionSeconds)"
        // A page that the browser kept before it was sandboxed would run as one of the dashboard's.
        response.head.headerFields[.clearSiteData] = "\"cache\""
        return response
    }

    func signOut(_ call: OperatorCall) -> Response {
        if case .session(let session) = access.caller(call.request) { access.signOut(session) }
        feed.endForbidden()
        var response = Response(status: .noContent)
        response.head.headerFields[.setCookie] =
            "\(OperatorAccess.cookieName(call.request))=; Path=/; HttpOnly; SameSite=Strict; "
            + "Max-Age=0"
        return response
    }

    func makeLink(_ call: OperatorCall) throws(Problem) -> Response {
        guard access.caller(call.request) == .token else {
            throw Self.signInRequired("Only the token of operator.token makes links.")
        }
        let link = access.makeLink()
        let called = call.request.head.authority ?? ""
        let host = rules.addresses?.dashboardAuthority(called) ?? called
        return .json(
            .members(
                ("url", .string(Self.link(link.value, host: host))),
                ("expiresAt", .time(link.expiresAt))), status: .created)
    }

    /// The address that signs a browser in. The value is behind `#`, so it is sent to no server and
    /// stands in no log; the page takes it out of the address at once.
    static func link(_ value: String, host: String) -> String { "http://\(host)/-/#link=\(value)" }

    static func signInRequired(_ detail: String) -> Problem {
        Problem(
            status: .unauthorized, code: "sign-in-required", detail: detail,
            fields: [.wwwAuthenticate: "Bearer realm=\"understudy\""])
    }
}
