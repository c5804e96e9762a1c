import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import TablesProtocol

// Capability addresses and sessions.
extension OperatorAPI {
    /// `GET /access`: lists the capability addresses.
    func accessList(_: OperatorCall) -> Response {
        .json(Page(capabilities.all.map { Answers.Access($0) }))
    }

    /// `POST /access`: makes a capability address for a client.
    func addAccess(_ call: OperatorCall) throws(Problem) -> Response {
        guard let name = call.body["name"]?.string, Capability.isName(name) else {
            throw .invalid(
                "name must be 1 to \(Limits.capabilityNameBytes) letters, digits, - _ and ., a "
                    + "letter or digit first.", pointer: "/name")
        }
        let making: Capabilities.Creation
        do {
            making = try capabilities.make(name)
        } catch {
            throw .unavailable(error.description)
        }
        switch making {
        case .nameTaken:
            throw Problem(
                status: .conflict, code: "name-taken",
                detail: "There is an address of that name; revoke it first, or take another name.")
        case .made(let capability, let secret):
            let called = call.request.head.authority ?? ""
            let host = rules.addresses?.clientsAuthority(called) ?? called
            return .json(
                Answers.AccessAdded(
                    name: capability.name, url: "http://\(host)/c/\(secret)",
                    madeAt: capability.madeAt), status: .created,
                location: call.location("access/\(PercentCoding.encode(name))"))
        }
    }

    /// `DELETE /access/{name}`: makes a capability address useless.
    func revokeAccess(_ call: OperatorCall) throws(Problem) -> Response {
        let isRevoked: Bool
        do {
            isRevoked = try capabilities.revoke(call.parameter("name"))
        } catch {
            throw .unavailable("It is revoked until the next start only: \(error.description)")
        }
        guard isRevoked else { throw .notFound("There is no address of that name.") }
        return Response(status: .noContent)
    }

    /// `GET /sessions`: lists the browsers that are signed in.
    func sessionList(_ call: OperatorCall) -> Response {
        let caller = access.caller(call.request)
        return .json(
            Page(
                access.sessions.map {
                    Answers.DashboardSession($0, isCurrent: caller == .session($0))
                }))
    }

    /// `DELETE /sessions/{id}`: signs a browser out.
    func revokeSession(_ call: OperatorCall) throws(Problem) -> Response {
        guard access.revoke(call.parameter("id")) else {
            throw .notFound("There is no such session; it may have ended.")
        }
        feed.closeUnauthorized()
        return Response(status: .noContent)
    }
}

// Sign-in of the dashboard.
extension OperatorAPI {
    /// `GET /session`: says who the caller is.
    func session(_ call: OperatorCall) throws(Problem) -> Response {
        let kind: Answers.Session.Kind
        let expiresAt: Instant?
        switch access.caller(call.request) {
        case .token: (kind, expiresAt) = (.bearer, nil)
        case .session(let session): (kind, expiresAt) = (.session, session.expiresAt)
        case nil: throw Self.signInRequired("Sign in first.")
        }
        return .json(
            Answers.Session(
                kind: kind, expiresAt: expiresAt, identities: tenants.identities))
    }

    /// `POST /session`: exchanges a one-time link for a session.
    func signIn(_ call: OperatorCall) throws(Problem) -> Response {
        guard let link = call.body["link"]?.string else {
            throw .invalid("link must be the value after #link= of the one-time link.")
        }
        let browser = call.request.head.headerFields[.userAgent] ?? ""
        guard let session = access.signIn(link: link, browser: browser) else {
            throw Self.signInRequired(
                "This link was used or is too old; make a new one with `understudy open`.")
        }
        var response = Response.json(
            Answers.SignedIn(
                session: session.value, expiresAt: session.expiresAt,
                isReadOnly: session.isReadOnly),
            status: .created, location: call.location("session"))
        response.head.headerFields[.setCookie] =
            "\(OperatorAccess.cookieName(call.request))=\(session.cookie); Path=/; HttpOnly; "
            + "SameSite=Strict; Max-Age=\(Limits.sessionSeconds)"
        // A page of the backend that the browser kept without a sandbox would run in the dashboard's origin.
        response.head.headerFields[.clearSiteData] = "\"cache\""
        return response
    }

    /// `DELETE /session`: ends the caller's session.
    func signOut(_ call: OperatorCall) -> Response {
        if case .session(let session) = access.caller(call.request) { access.signOut(session) }
        feed.closeUnauthorized()
        var response = Response(status: .noContent)
        response.head.headerFields[.setCookie] =
            "\(OperatorAccess.cookieName(call.request))=; Path=/; HttpOnly; SameSite=Strict; "
            + "Max-Age=0"
        return response
    }

    /// `POST /links`: makes a one-time link to the dashboard.
    func makeLink(_ call: OperatorCall) throws(Problem) -> Response {
        guard access.caller(call.request) == .token else {
            throw Self.signInRequired("Only the token of operator.token makes links.")
        }
        let link = access.makeLink(isReadOnly: call.body["isReadOnly"]?.bool ?? false)
        let called = call.request.head.authority ?? ""
        let host = rules.addresses?.dashboardAuthority(called) ?? called
        return .json(
            Answers.Link(url: Self.link(link.value, host: host), expiresAt: link.expiresAt),
            // The page that the link opens; its secret is in the body alone.
            status: .created, location: "/-/")
    }

    /// The one-time link with `value`. The value is after `#`, so it is sent to no server and is in no log.
    /// The page removes it from the browser's address at once.
    static func link(_ value: String, host: String) -> String { "http://\(host)/-/#link=\(value)" }

    static func signInRequired(_ detail: String) -> Problem {
        Problem(
            status: .unauthorized, code: "sign-in-required", detail: detail,
            fields: [.wwwAuthenticate: "Bearer realm=\"understudy\""])
    }
}
