import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

struct IdentityTests {
    /// `{"iss":"i","sub":"s"}` and the like, as the middle part of a JWT.
    private static func token(_ claims: String) -> Token {
        Token(login: "e30.\(Base64.encodedForURL(claims.utf8)).sig")
    }

    @Test(arguments: [
        (#"{"iss":"i","sub":"s","uid":"u"}"#, #"{"sub":"s","iss":"i","jti":"2"}"#, true),
        (#"{"iss":"i","sub":"s"}"#, #"{"iss":"j","sub":"s"}"#, false),
        (#"{"iss":"i","sub":"s"}"#, #"{"iss":"i","sub":"t"}"#, false),
        (#"{"iss":"i","uid":"u"}"#, #"{"iss":"i","uid":"u","ver":2}"#, true),
        (#"{"iss":"i","uid":"x"}"#, #"{"iss":"i","sub":"x"}"#, false),
        (#"{"iss":"i","sub":"A b"}"#, #"{"iss":"i","sub":"a-b"}"#, false),
        (#"{"iss":"ia","sub":"b"}"#, #"{"iss":"i","sub":"ab"}"#, false),
        (#"{"iss":"i"}"#, #"{"iss":"i","n":1}"#, false),
    ])
    func `an identity is the same for the same issuer and subject`(
        one: String, other: String, isSame: Bool
    ) {
        let keys = [one, other].map { Identity(Self.token($0)).key }
        #expect((keys[0] == keys[1]) == isSame, "\(keys)")
    }

    @Test func `without claims the login's user id names the identity, otherwise the token`() {
        let opaque = Token(login: "opaque")
        let other = Token(login: "opaque2")
        #expect(
            Identity(opaque, userID: "sid:1").key == Identity(other, userID: "sid:1").key)
        #expect(Identity(opaque).key == Identity(Token(login: "opaque")).key)
        #expect(Identity(opaque).key != Identity(other).key)
        #expect(Identity(opaque).key != Identity(opaque, userID: "opaque").key)
    }

    @Test(arguments: [
        "../../etc", "a/b", "\u{0}", "Ünïcode", "", ".", String(repeating: "x", count: 500),
    ])
    func `every key is a valid folder name`(subject: String) {
        let key = Identity(Token(login: "t"), userID: subject).key
        #expect(key.utf8.count < 80)
        #expect(
            key.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0)
            })
        #expect(key != Identity.anonymousKey)
    }

    @Test(
        arguments: [
            (["X-ZUMO-AUTH": "a"], Generation.mobileServices, "a"),
            (["X-ZUMO-AUTH": "a"], .datasync, "a"),
            (["X-ZUMO-AUTH": "a", "Authorization": "Bearer b"], .datasync, "a"),
            (["Authorization": "bearer  b "], .datasync, "b"),
            (["Authorization": "Bearer b"], .mobileApps, nil),
            (["Authorization": "Basic b"], .datasync, nil),
            (["Authorization": "Bearer "], .datasync, nil),
            ([:], .datasync, nil),
        ] as [([String: String], Generation, String?)])
    func `a token is read from the field of the generation`(
        fields: [String: String], generation: Generation, text: String?
    ) {
        var head = HTTPFields()
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { head[name] = value }
        }
        #expect(Token(head, generation: generation)?.text == text)
    }

    @Test(arguments: [
        ("POST", "/login/facebook", true), ("POST", "/.auth/login/aad", true),
        ("GET", "/.auth/refresh", true), ("GET", "/.auth/login/aad/token?x=1", true),
        ("POST", "//login/facebook", false), ("POST", "/.auth//login/aad", false),
        ("POST", "/login;a/aad", false), ("POST", "/LOGIN/aad/", true),
        ("GET", "/login/facebook?code=x", true), ("GET", "/.auth/login/aad/callback?code=x", true),
        ("GET", "/login", false), ("GET", "/login/", false), ("GET", "/login/a/b", false),
        ("GET", "/login/done", false), ("GET", "/login/done%23token=x", false),
        ("GET", "/.auth/refresh/x", false), ("POST", "/.auth/refresh", false),
        ("DELETE", "/login/facebook", false), ("GET", "/login/aad/token", false),
        ("GET", "/.auth/me", false), ("POST", "/api/login", false), ("GET", "/refresh", false),
    ])
    func `logins are recognised by their paths`(method: String, path: String, isLogin: Bool) {
        #expect(LoginAnswer.isExpected(of: .make(method, path)) == isLogin)
    }

    @Test
    func `a token is read from a login's answer and from the last redirect of a browser's login`()
        throws
    {
        let backend = try #require(BackendAddress("https://x/app"))
        func read(_ status: HTTPResponse.Status, _ body: String, at place: String? = nil)
            -> LoginAnswer?
        {
            var fields = HTTPFields()
            fields[.location] = place
            return LoginAnswer(
                Response(status: status, headerFields: fields, body: Array(body.utf8)), of: backend)
        }
        let body = #"{"user":{"userId":"u"},"authenticationToken":"t"}"#
        let answer = read(.ok, body)
        #expect(answer?.token.text == "t")
        #expect(answer?.userID == "u")
        let done = "login/done#token=" + PercentCoding.encode(body)
        for place in ["https://X/app/\(done)", "/app/.auth/\(done)"] {
            #expect(read(.found, "", at: place) == answer)
        }
        // From another server, to another path, or in a redirect that repeats its request.
        for place in [
            "https://y/app/\(done)", "//x/app/\(done)", "https://x/\(done)", "/app/api/\(done)",
            "https://x/app/login/q?x=/\(done)", "/app/login/q#x=/\(done)",
        ] {
            #expect(read(.movedPermanently, "", at: place) == nil, "\(place)")
        }
        for status in [HTTPResponse.Status.unauthorized, .internalServerError] {
            #expect(read(status, body) == nil)
        }
        #expect(read(.ok, "<html>") == nil)
    }

    @Test func `known tokens count only for their own backend`() throws {
        let folder = "/tmp/understudy-tests/\(ThisProcess.secret())"
        try Files.makeFolder(folder)
        defer { try? Files.removeFolder(folder) }
        let one = try #require(BackendAddress("http://one.test"))
        let two = try #require(BackendAddress("http://two.test"))
        let token = Token(login: "secret")
        let known = KnownTokens(file: "\(folder)/tokens", backend: one) { ThisProcess.now }
        #expect(known.owner(of: token) == nil)
        known.learn(token, of: Identity(key: "ana"))
        for number in 0...Limits.knownTokens {
            if number % 500 == 0 {
                known.learn(Token(login: "t\(number)"), of: Identity(key: "ben"))
            }
        }
        #expect(known.owner(of: token)?.key == "ana")
        try known.save()
        let again = KnownTokens(file: "\(folder)/tokens", backend: one) { ThisProcess.now }
        #expect(again.owner(of: token)?.key == "ana")
        #expect(again.owner(of: Token(login: "t500"))?.key == "ben")
        let other = KnownTokens(file: "\(folder)/tokens", backend: two) { ThisProcess.now }
        #expect(other.owner(of: token) == nil)
        let bytes = try #require(try Files.read("\(folder)/tokens"))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
        #expect(Files.status("\(folder)/tokens")?.permissions == 0o600)
    }

    @Test(arguments: [
        ("todoitem=revalidate+write-through+merge", true), ("todoitem=local", true),
        ("a=remote-first+unconditional-client+public", true), ("todoitem", false),
        ("todoitem=", false), ("todoitem=fast", false), ("1=local", false),
        ("todoitem=local+", false), ("todoitem=standard", true), ("*=local", true),
        ("*=remote-first+write-through", true), ("*=merge", false), ("*=local+public", false),
        ("*=", false), ("**=local", false),
    ])
    func `policies are words joined by plus`(text: String, isGood: Bool) {
        #expect((PolicySetting(text) != nil) == isGood)
    }
}
