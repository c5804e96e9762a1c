import Platform
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

struct TokenStandingTests {
    private static let now = Instant(milliseconds: 1_800_000_000_000)
    private static let grace: Int64 = 10 * 24 * 3600

    /// The standing of a token, by the seconds since its confirmation and until its expiry.
    private func standing(
        _ backend: BackendStatusCache.Reach, confirmed seconds: Int64, expires: Int64? = nil,
        isSignedOut: Bool = false
    ) -> TokenStanding {
        TokenStanding.of(
            KnownToken(
                identity: Identity(key: "ana"), confirmedAt: Self.now.adding(seconds: -seconds),
                isSignedOut: isSignedOut),
            expiresAt: expires.map { Self.now.adding(seconds: $0) }, backend: backend, at: Self.now,
            graceSeconds: Self.grace)
    }

    private func until(_ seconds: Int64) -> Instant {
        Self.now.adding(seconds: Self.grace - seconds)
    }

    @Test func `with a reachable backend a token is good, and due for verification after an hour`()
    {
        #expect(standing(.reachable, confirmed: 0) == .good(isDue: false))
        #expect(standing(.reachable, confirmed: 3600) == .good(isDue: false))
        #expect(standing(.reachable, confirmed: 3601) == .good(isDue: true))
        #expect(standing(.reachable, confirmed: Self.grace + 1) == .good(isDue: true))
    }

    @Test(arguments: [BackendStatusCache.Reach.reachable, .unasked])
    func `an expired token is doubtful, apart from the clock skew`(
        reach: BackendStatusCache.Reach
    ) {
        let skew = Limits.tokenClockSkewSeconds
        #expect(standing(reach, confirmed: 60, expires: -skew - 1) == .doubtful)
        #expect(standing(reach, confirmed: 60, expires: -skew) != .doubtful)
        #expect(standing(reach, confirmed: 60, expires: 3600) != .doubtful)
    }

    @Test func `with an unreachable backend a known token is accepted until the end of the grace`()
    {
        for expires in [nil, -7200, 7200] as [Int64?] {
            #expect(
                standing(.away, confirmed: 60, expires: expires) == .unconfirmed(until: until(60)))
            #expect(
                standing(.away, confirmed: Self.grace, expires: expires)
                    == .unconfirmed(until: Self.now))
            #expect(standing(.away, confirmed: Self.grace + 1, expires: expires) == .ended)
        }
    }

    @Test
    func `before the backend was asked, a token is unconfirmed, and doubtful after the grace`() {
        #expect(standing(.unasked, confirmed: 60) == .unconfirmed(until: until(60)))
        #expect(standing(.unasked, confirmed: Self.grace + 1) == .doubtful)
    }

    @Test(arguments: BackendStatusCache.Reach.allCases)
    func `a token that was signed out is never good`(reach: BackendStatusCache.Reach) {
        #expect(standing(reach, confirmed: 0, expires: 3600, isSignedOut: true) == .ended)
    }

    @Test(
        arguments: [
            (#"{"exp":1800000000}"#, 1_800_000_000_000), (#"{"exp":"soon"}"#, nil), (#"{}"#, nil),
            (#"{"exp":99999999999999999}"#, nil),
            (#"{"exp":1000}"#, 1_000_000), (#"{"exp":1000.5}"#, 1_000_000),
            (#"{"exp":1e3}"#, 1_000_000), (#"{"exp":"1000"}"#, nil),
        ] as [(String, Int64?)])
    func `a token expires by its claim exp, in whole seconds`(claims: String, milliseconds: Int64?)
    {
        let token = Token(login: "e30.\(Base64.encodedForURL(claims.utf8)).sig")
        #expect(token.expiresAt?.milliseconds == milliseconds)
    }

    @Test func `removed and signed out tokens stay so after a restart`() throws {
        let folder = "/tmp/understudy-tests/\(ThisProcess.secret())"
        try Files.makeFolder(folder)
        defer { try? Files.removeFolder(folder) }
        let backend = try #require(BackendAddress("http://one.test"))
        func open() -> KnownTokens {
            KnownTokens(file: "\(folder)/tokens", backend: backend) { Self.now }
        }
        let known = open()
        let (ana, ben) = (Identity(key: "ana"), Identity(key: "ben"))
        for text in ["a1", "a2", "a3"] { known.learn(Token(login: text), of: ana) }
        known.learn(Token(login: "b"), of: ben)
        known.end(Token(login: "a1"))
        known.signOut(ana)
        known.end(Token(login: "a2"))
        try known.save()
        for tokens in [known, open()] {
            #expect(tokens.find(Token(login: "a1")) == nil)
            let signedOut = KnownToken(identity: ana, confirmedAt: Self.now, isSignedOut: true)
            #expect(tokens.find(Token(login: "a2"))?.known == signedOut)
            #expect(tokens.find(Token(login: "a3"))?.known == signedOut)
            #expect(
                tokens.find(Token(login: "b"))?.known
                    == KnownToken(identity: ben, confirmedAt: Self.now))
        }
        // A verification that was running at the sign-out changes nothing, a login does.
        known.learn(Token(login: "a3"), of: ana)
        try known.save()
        #expect(open().find(Token(login: "a3"))?.known.isSignedOut == true)
        known.learn(Token(login: "a3"), of: ana, byLogin: true)
        try known.save()
        #expect(
            open().find(Token(login: "a3"))?.known
                == KnownToken(identity: ana, confirmedAt: Self.now))
    }
}
