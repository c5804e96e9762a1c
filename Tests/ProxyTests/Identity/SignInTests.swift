import HTTPTypes
import Platform
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

struct SignInTests {
    private static let now = Instant(milliseconds: 1_800_000_000_000)
    private let executor = BlockingExecutor(worker: 0)

    private func make(known: KnownTokens? = nil) -> SignIn {
        SignIn(executor: executor, known: known) { Self.now }
    }

    private func take(_ signIn: SignIn, _ text: String, isVerified: Bool = true) -> Bool {
        signIn.take(Token(login: text), isVerified: isVerified)
    }

    private func spoken(_ signIn: SignIn) -> String? {
        if case .token(let field) = signIn.credential { field.value } else { nil }
    }

    @Test func `a refused token is sent until there is another one`() {
        let signIn = make()
        #expect(take(signIn, "t"))
        signIn.refuse(Token(login: "t"))
        // The backend may have been wrong.
        #expect(spoken(signIn) == "t")
        #expect(take(signIn, "u"))
        #expect(spoken(signIn) == "u")
    }

    @Test func `a refused token is new again only when the backend has accepted it again`() {
        let signIn = make()
        _ = take(signIn, "t")
        signIn.refuse(Token(login: "t"))
        #expect(!take(signIn, "t", isVerified: false))
        #expect(take(signIn, "t"))
        #expect(!take(signIn, "t"))
    }

    @Test func `the 401 of an earlier token does not affect a new one`() {
        let signIn = make()
        _ = take(signIn, "t")
        _ = take(signIn, "u")
        signIn.refuse(Token(login: "t"))
        #expect(spoken(signIn) == "u")
    }

    @Test func `when the latest token is refused, the next one is sent`() {
        let signIn = make()
        _ = take(signIn, "tablet")
        #expect(take(signIn, "phone"))
        // A token that comes with a request is added as the oldest, and is not a new one to send.
        #expect(!take(signIn, "desk", isVerified: false))
        for (refused, next) in [("phone", "tablet"), ("tablet", "desk"), ("desk", "desk")] {
            signIn.refuse(Token(login: refused))
            #expect(spoken(signIn) == next)
        }
        #expect(take(signIn, "desk"))
    }

    @Test func `signing out removes all tokens`() throws {
        let signIn = make()
        let fields: HTTPFields = [.authorization: "Bearer t"]
        _ = take(signIn, "u")
        _ = signIn.take(try #require(Token(fields, generation: .datasync)), isVerified: true)
        #expect(spoken(signIn) == "Bearer t")
        signIn.removeTokens()
        #expect(signIn.credential == .missing)
    }

    @Test func `the tokens that an earlier version kept are removed at the start`() async throws {
        try await TestApp.run(configure: { configuration in
            for name in ["sign-ins", "sign-ins.key"] {
                let file = "\(configuration.folder.path)/\(name)"
                #expect(throws: Never.self) { try Files.write(file, [1]) }
            }
        }) { test in
            #expect(!Files.names(in: test.folder.path).contains { $0.hasPrefix("sign-ins") })
        }
    }

    @Test func `a token that was signed out is not sent`() throws {
        let folder = "/tmp/understudy-tests/\(ThisProcess.secret())"
        try Files.makeFolder(folder)
        defer { try? Files.removeFolder(folder) }
        let backend = try #require(BackendAddress("http://one.test"))
        let known = KnownTokens(file: "\(folder)/tokens", backend: backend) { Self.now }
        let signIn = make(known: known)
        let ana = Identity(key: "ana")
        known.learn(Token(login: "t"), of: ana)
        _ = take(signIn, "t")
        known.signOut(ana)
        #expect(signIn.credential == .missing)
        #expect(!take(signIn, "t", isVerified: false))
        #expect(signIn.credential == .missing)
    }
}

struct SpokenTokensTests {
    private static let now = Instant(milliseconds: 1_800_000_000_000)

    /// A token that expires in `seconds`.
    private static func token(_ seconds: Int64, _ number: Int = 0) -> Token {
        let at = now.milliseconds / 1000 + seconds
        return Token(login: "h.\(Base64.encodedForURL(#"{"exp":\#(at),"n":\#(number)}"#.utf8)).s")
    }

    private func chosen(_ spoken: EngineTokens, _ seconds: Int64 = 0) -> Token? {
        spoken.token(at: Self.now.adding(seconds: seconds)) { _ in false }
    }

    @Test func `an expired token is replaced by an earlier one, or by none`() {
        var spoken = EngineTokens()
        let (long, short) = (Self.token(7200), Self.token(3600))
        for token in [long, short] { _ = spoken.take(token, isVerified: true, at: Self.now) }
        let skew = Limits.tokenClockSkewSeconds
        #expect(chosen(spoken, 3600 + skew) == short)
        #expect(chosen(spoken, 3601 + skew) == long)
        #expect(chosen(spoken, 7201 + skew) == nil)
        // A refused token does not replace an expired one.
        _ = spoken.refuse(long)
        #expect(chosen(spoken, 3601 + skew) == long)
        #expect(chosen(spoken, 7201 + skew) == nil)
    }

    @Test func `at most the limit of tokens is kept, the latest ones without expired ones`() {
        var spoken = EngineTokens()
        let tokens = (0...Limits.tokensPerIdentity).map { Self.token(3600, $0) }
        for token in tokens { _ = spoken.take(token, isVerified: true, at: Self.now) }
        _ = spoken.take(Self.token(3600, -1), isVerified: false, at: Self.now)
        for token in tokens.dropFirst().reversed() {
            #expect(chosen(spoken) == token)
            let isRefused = spoken.refuse(token)
            #expect(isRefused)
        }
        // The first one was replaced, and the one that came with a request was not added.
        #expect(chosen(spoken) == tokens[1])
    }
}
