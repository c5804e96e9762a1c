import HTTPMessage
import HTTPTypes
import Platform
package import SyncCore
import TablesProtocol

/// Who may use what: sign-in of the dashboard, its sessions, and the clients' capability addresses.
package struct AccessRoutes: Sendable {
    let tenants: TenantRegistry
    let access: OperatorAccess
    let capabilities: Capabilities
    /// The addresses that this program listens on.
    let rules: CurrentRules
    let feed: EventFeed

    static let session = Route<Answers.Session>(
        .get, "/session", "session", .session, "Who the caller is", answers: "Signed in.",
        of: .program)
    static let signIn = Route<Answers.SignedIn>(
        .post, "/session", "signIn", .session, "Exchange a one-time link for a session",
        answers: "Signed in. The cookie `understudy_<port>` is set (HttpOnly, SameSite=Strict).",
        of: .link, body: [link], bodyName: "SignIn", status: .created, location: "The session.")
    static let signOut = Route<Answers.Nothing>(
        .delete, "/session", "signOut", .session, "End the session",
        answers: "Signed out; the cookie is cleared.", of: .program, status: .noContent)
    package static let sessions = Route<Page<Answers.DashboardSession>>(
        .get, "/sessions", "sessions", .session, "Browsers that are signed in",
        answers: "The latest first.", of: .program)
    package static let revokeSession = Route<Answers.Nothing>(
        .delete, "/sessions/{id}", "revokeSession", .session, "Sign a browser out",
        answers: "Signed out.", of: .program, names: ["id": "Id of the session."],
        status: .noContent)
    package static let list = Route<Page<Answers.Access>>(
        .get, "/access", "access", .session, "Capability addresses",
        answers: "By name; without the secrets, which are kept nowhere.", of: .program)
    package static let add = Route<Answers.AccessAdded>(
        .post, "/access", "addAccess", .session, "Make a capability address for a client",
        answers: "The address, told this once.", of: .program, body: [name],
        bodyName: "AddAccess", status: .created, location: "Where it is revoked.",
        also: [409: "Changed"])
    package static let revoke = Route<Answers.Nothing>(
        .delete, "/access/{name}", "revokeAccess", .session, "Make a capability address useless",
        answers: "Revoked.", of: .program, names: ["name": "Name of the address."],
        status: .noContent)
    package static let makeLink = Route<Answers.Link>(
        .post, "/links", "makeLink", .session,
        "Make a one-time link to the dashboard (bearer only)",
        answers: "Good once, for 30 minutes.", of: .token, body: [isReadOnly], status: .created,
        location: "The page that the link opens.")

    var routes: [OperatorRoute] {
        [
            .now(Self.session, session), .now(Self.signIn, signIn), .now(Self.signOut, signOut),
            .now(Self.sessions, sessions), .now(Self.revokeSession, revokeSession),
            .now(Self.list) { _ in Page(capabilities.all.map { Answers.Access($0) }) },
            .now(Self.add, add), .now(Self.revoke, revoke), .now(Self.makeLink, makeLink),
        ]
    }

    private static let link = Field<String>(
        "link", .anyText, "The value after `#link=` of the one-time link.", isRequired: true)
    package static let name = Field<String>(
        "name", .anyText, "What to call the client; history shows it.", isRequired: true,
        keywords: ["pattern": .string("^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")])
    package static let isReadOnly = Field<Bool>(
        "isReadOnly", .boolean, "Whether the browser that uses it sees all and changes nothing.")

    private func add(_ call: OperatorCall) throws -> Answered<Answers.AccessAdded> {
        let name = try call.body.required(Self.name)
        guard Capability.isName(name) else {
            throw Problem.invalid(
                "name must be 1 to \(Limits.capabilityNameBytes) letters, digits, - _ and ., a "
                    + "letter or digit first.", pointer: "/name")
        }
        switch try capabilities.make(name) {
        case .nameTaken:
            throw Problem(
                status: .conflict, code: "name-taken",
                detail: "There is an address of that name; revoke it first, or take another name.")
        case .made(let capability, let secret):
            let called = call.request.head.authority ?? ""
            let host = rules.addresses?.clientsAuthority(called) ?? called
            return Answered(
                .init(
                    name: capability.name, url: "http://\(host)/c/\(secret)",
                    madeAt: capability.madeAt), .created,
                location: call.location("access/\(PercentCoding.encode(name))"))
        }
    }

    private func revoke(_ call: OperatorCall) throws -> Response {
        let isRevoked: Bool
        do {
            isRevoked = try capabilities.revoke(call.parameter("name"))
        } catch {
            throw Problem.unavailable(
                "It is revoked until the next start only: \(error.description)")
        }
        guard isRevoked else { throw Problem.notFound("There is no address of that name.") }
        return Response(status: .noContent)
    }

    private func sessions(_ call: OperatorCall) -> Page<Answers.DashboardSession> {
        let caller = access.caller(call.request)
        return Page(
            access.sessions.map {
                Answers.DashboardSession($0, isCurrent: caller == .session($0))
            })
    }

    private func revokeSession(_ call: OperatorCall) throws -> Response {
        guard access.revoke(call.parameter("id")) else {
            throw Problem.notFound("There is no such session; it may have ended.")
        }
        feed.closeUnauthorized()
        return Response(status: .noContent)
    }

    private func session(_ call: OperatorCall) throws -> Answers.Session {
        let identities = tenants.identities
        return switch try access.known(call) {
        case .token: .init(kind: .bearer, expiresAt: nil, identities: identities)
        case .session(let session):
            .init(kind: .session, expiresAt: session.expiresAt, identities: identities)
        }
    }

    private func signIn(_ call: OperatorCall) throws -> Answered<Answers.SignedIn> {
        let browser = call.request.head.headerFields[.userAgent] ?? ""
        guard let session = access.signIn(link: try call.body.required(Self.link), browser: browser)
        else {
            throw Problem.signInRequired(
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
        return Answered(response)
    }

    private func signOut(_ call: OperatorCall) -> Response {
        if case .session(let session) = access.caller(call.request) { access.signOut(session) }
        feed.closeUnauthorized()
        var response = Response(status: .noContent)
        response.head.headerFields[.setCookie] =
            "\(OperatorAccess.cookieName(call.request))=; Path=/; HttpOnly; SameSite=Strict; "
            + "Max-Age=0"
        return response
    }

    private func makeLink(_ call: OperatorCall) throws -> Answered<Answers.Link> {
        guard access.caller(call.request) == .token else {
            throw Problem.signInRequired("Only the token of operator.token makes links.")
        }
        let link = access.makeLink(isReadOnly: call.body[Self.isReadOnly] ?? false)
        let called = call.request.head.authority ?? ""
        let host = rules.addresses?.dashboardAuthority(called) ?? called
        // Its location is the page that the link opens; its secret is in the body alone.
        return Answered(
            .init(url: Self.link(link.value, host: host), expiresAt: link.expiresAt), .created,
            location: "/-/")
    }

    /// The one-time link with `value`. The value is after `#`, so it is sent to no server and is in no log.
    /// The page removes it from the browser's address at once.
    static func link(_ value: String, host: String) -> String { "http://\(host)/-/#link=\(value)" }
}

extension OperatorAccess {
    /// The caller of a call; throws 401 for one that may not use the operator API.
    func known(_ call: OperatorCall) throws(Problem) -> Caller {
        guard let caller = caller(call.request) else { throw .signInRequired("Sign in first.") }
        return caller
    }
}

extension Problem {
    fileprivate static func signInRequired(_ detail: String) -> Problem {
        Problem(
            status: .unauthorized, code: "sign-in-required", detail: detail,
            fields: [.wwwAuthenticate: "Bearer realm=\"understudy\""])
    }
}
