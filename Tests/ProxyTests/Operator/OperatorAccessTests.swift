import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import Testing

@testable import Proxy

final class OperatorAccessTests: Sendable {
    private let clock = Mutex<Int64>(0)
    private let serial = Mutex(0)
    private let kept = Mutex<[OperatorAccess.Session]>([])
    private let gone = Mutex<[String]>([])

    private func nextSecret() -> String {
        serial.withLock { serial in
            serial += 1
            return "s\(serial)"
        }
    }

    private func access(_ sessions: [OperatorAccess.Session] = []) -> OperatorAccess {
        OperatorAccess(
            token: "secret", sessions: sessions,
            now: { Instant(milliseconds: self.clock.withLock { $0 } * 1000) },
            secret: { self.nextSecret() },
            persist: { sessions in self.kept.withLock { $0 = sessions } },
            onLinkExpired: { link in self.gone.withLock { $0.append(link) } })
    }

    private func request(cookie: String, value: String?) -> Request {
        var request = Request.make("GET", "/-/api/v1/status", ["Cookie": cookie])
        request.head.headerFields[own: .session] = value
        return request
    }

    @Test func `a link can be used once`() throws {
        let access = access()
        let link = access.makeLink()
        _ = try #require(access.signIn(link: link.value))
        #expect(access.signIn(link: link.value) == nil)
        #expect(access.signIn(link: "") == nil)
    }

    @Test func `a link that is not valid any more is reported once`() throws {
        let access = access()
        let (used, old) = (access.makeLink().value, access.makeLink().value)
        #expect(access.signIn(link: "wrong") == nil && gone.withLock { $0 } == [])
        _ = try #require(access.signIn(link: used))
        #expect(gone.withLock { $0 } == [used])
        clock.withLock { $0 = 30 * 60 }
        #expect(access.signIn(link: "wrong") == nil)
        #expect(gone.withLock { $0 } == [used, old])
        let many = (0...Limits.links).map { _ in access.makeLink().value }
        #expect(gone.withLock { $0 } == [used, old, many[0]])
        clock.withLock { $0 = 60 * 60 }
        _ = access.makeLink()
        #expect(gone.withLock { $0 } == [used, old] + many)
    }

    @Test func `a link is valid for half an hour`() {
        let access = access()
        let link = access.makeLink()
        clock.withLock { $0 = 30 * 60 }
        #expect(access.signIn(link: link.value) == nil)
    }

    @Test func `cookie and session value are needed together, and the cookie carries the port`()
        throws
    {
        let access = access()
        let session = try #require(access.signIn(link: access.makeLink().value))
        let cookie = "understudy_8080=\(session.cookie)"
        #expect(access.caller(request(cookie: cookie, value: session.value)) == .session(session))
        let others = "a=b; \(cookie); understudy_9090=x"
        #expect(access.caller(request(cookie: others, value: session.value)) == .session(session))
        #expect(access.caller(request(cookie: cookie, value: nil)) == nil)
        #expect(access.caller(request(cookie: cookie, value: "other")) == nil)
        #expect(access.caller(request(cookie: "", value: session.value)) == nil)
        let wrongPort = "understudy_8081=\(session.cookie)"
        #expect(access.caller(request(cookie: wrongPort, value: session.value)) == nil)
    }

    @Test func `a wrong bearer token is refused despite a session`() throws {
        let access = access()
        let session = try #require(access.signIn(link: access.makeLink().value))
        var request = request(
            cookie: "understudy_8080=\(session.cookie)", value: session.value)
        request.head.headerFields[.authorization] = "Bearer wrong"
        #expect(access.caller(request) == nil)
    }

    @Test func `a session ends with the sign-out and after its time`() throws {
        let access = access()
        let first = try #require(access.signIn(link: access.makeLink().value))
        let second = try #require(access.signIn(link: access.makeLink().value))
        access.signOut(first)
        func caller(_ session: OperatorAccess.Session) -> OperatorAccess.Caller? {
            access.caller(
                request(cookie: "understudy_8080=\(session.cookie)", value: session.value))
        }
        #expect(caller(first) == nil)
        #expect(caller(second) == .session(second))
        clock.withLock { $0 = Limits.sessionSeconds }
        #expect(caller(second) == nil)
    }

    @Test func `sessions are kept over a restart`() throws {
        let before = access()
        let session = try #require(before.signIn(link: before.makeLink().value))
        let after = access(kept.withLock { $0 })
        #expect(
            after.caller(
                request(cookie: "understudy_8080=\(session.cookie)", value: session.value))
                == .session(session))
    }

    @Test
    func `sessions are listed latest first until they end, by an id that reveals neither value`()
        throws
    {
        let access = access()
        let first = try #require(
            access.signIn(link: access.makeLink().value, browser: "Firefox"))
        clock.withLock { $0 = 60 }
        let second = try #require(
            access.signIn(
                link: access.makeLink().value, browser: String(repeating: "x", count: 999)))
        #expect(access.sessions == [second, first])
        #expect(first.browser == "Firefox" && second.browser.count == Limits.browserNameCharacters)
        #expect(first.startedAt.milliseconds == 0 && second.startedAt.milliseconds == 60_000)
        for session in access.sessions {
            #expect(!session.id.contains(session.cookie) && !session.id.contains(session.value))
        }
        clock.withLock { $0 = Limits.sessionSeconds }
        #expect(access.sessions == [second])
    }

    @Test func `only the session with the id is revoked`() throws {
        let access = access()
        let first = try #require(access.signIn(link: access.makeLink().value))
        let second = try #require(access.signIn(link: access.makeLink().value))
        #expect(access.revoke(first.id))
        #expect(!access.revoke(first.id))
        #expect(!access.revoke(""))
        #expect(access.sessions == [second])
        #expect(kept.withLock { $0 } == [second])
        let cookie = "understudy_8080=\(first.cookie)"
        #expect(access.caller(request(cookie: cookie, value: first.value)) == nil)
    }

    @Test(arguments: [
        "understudy_8080=evil; understudy_8080=COOKIE",
        "understudy_8080=COOKIE; understudy_8080=evil",
        "a=\u{600}; understudy_8080=COOKIE", "understudy_8080=\u{600};understudy_8080=COOKIE",
        "understudy_8080=COOKIE\t; b", ";; understudy_8080 = x;understudy_8080=COOKIE",
    ])
    func `all cookies with the name are compared`(cookies: String) throws {
        let access = access()
        let session = try #require(access.signIn(link: access.makeLink().value))
        let cookies = cookies.replacing("COOKIE", with: session.cookie)
        #expect(access.caller(request(cookie: cookies, value: session.value)) == .session(session))
        #expect(access.caller(request(cookie: cookies, value: "other")) == nil)
    }

    @Test func `a session is authorized until it ends`() throws {
        let access = access()
        let session = try #require(access.signIn(link: access.makeLink().value))
        #expect(access.isAuthorized(.token) && access.isAuthorized(.session(session)))
        access.signOut(session)
        #expect(access.isAuthorized(.token) && !access.isAuthorized(.session(session)))
    }

    @Test(arguments: [
        "Bearer secret", "bearer  secret", "BEARER\tsecret", "Bearer \t secret\t",
    ])
    func `the token is accepted after any blanks`(value: String) {
        #expect(access().caller(.make("GET", "/-/", ["Authorization": value])) == .token)
    }

    @Test func `fields with the token are removed, others stay`() {
        let fields: HTTPFields = Request.make(
            "GET", "/",
            [
                "Authorization": "Bearer secret", "Authorization": "Bearer other",
                "X-ZUMO-AUTH": "secret", "X-Own": "asecretb", "X-Other": "secre", "Accept": "*/*",
            ]
        ).head.headerFields
        let left = access().withoutToken(fields).map { "\($0.name): \($0.value)" }
        #expect(left == ["Authorization: Bearer other", "X-Other: secre", "Accept: */*"])
        let two = Request.make(
            "GET", "/", ["Authorization": "Bearer secret", "Authorization": "Bearer secret"])
        #expect(access().caller(two) == nil)
    }
}
