import HTTPTypes
import Logging
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

struct SignInTests {
    private static let now = Instant(milliseconds: 1_800_000_000_000)
    private let folder = DataFolder(path: "/tmp/understudy-tests/\(ThisProcess.secret())")
    private let executor = BlockingExecutor(worker: 0)

    private func make() throws -> (SignIn, RememberedSignIns) {
        try Files.makeFolder(folder.path)
        let opening = RememberedSignIns.open(
            folder.signInsFile,
            secret: SealSecret(credential: nil, file: folder.signInsKeyFile), backend: "b",
            identities: ["ana"], log: Logger(label: "test"), random: ThisProcess.secret)
        let remembered = try #require(opening.signIns)
        return (SignIn("ana", remembered, executor: executor) { Self.now }, remembered)
    }

    private func remove() { try? Files.removeFolder(folder.path) }

    /// The remembered field after all queued work.
    private func token(_ remembered: RememberedSignIns) async -> String? {
        await executor.value {}
        return remembered.field(of: "ana")?.value
    }

    private func take(_ signIn: SignIn, _ text: String, isVerified: Bool = true) -> Bool {
        signIn.take(Token(login: text), isVerified: isVerified)
    }

    private func spoken(_ signIn: SignIn) -> String? {
        if case .token(let field) = signIn.credential { field.value } else { nil }
    }

    @Test func `a token is remembered until the backend refuses it, then another one`()
        async throws
    {
        defer { remove() }
        let (signIn, remembered) = try make()
        #expect(take(signIn, "t"))
        #expect(await token(remembered) == "t")
        signIn.refuse(Token(login: "t"))
        #expect(await token(remembered) == nil)
        // The backend may have been wrong.
        #expect(spoken(signIn) == "t")
        #expect(take(signIn, "u"))
        #expect(await token(remembered) == "u")
        #expect(spoken(signIn) == "u")
    }

    @Test func `a refused token is remembered again only when the backend has accepted it again`()
        async throws
    {
        defer { remove() }
        let (signIn, remembered) = try make()
        _ = take(signIn, "t")
        signIn.refuse(Token(login: "t"))
        #expect(!take(signIn, "t", isVerified: false))
        #expect(await token(remembered) == nil)
        #expect(take(signIn, "t"))
        #expect(await token(remembered) == "t")
        #expect(!take(signIn, "t"))
        signIn.refuse(Token(login: "t"))
        #expect(await token(remembered) == nil)
    }

    @Test func `the 401 of an earlier token does not affect a new one`() async throws {
        defer { remove() }
        let (signIn, remembered) = try make()
        _ = take(signIn, "t")
        _ = take(signIn, "u")
        signIn.refuse(Token(login: "t"))
        #expect(await token(remembered) == "u")
        signIn.refuse(Token(login: "u"))
        #expect(await token(remembered) == nil)
    }

    @Test func `when the latest token is refused, the next one is sent and remembered`()
        async throws
    {
        defer { remove() }
        let (signIn, remembered) = try make()
        _ = take(signIn, "tablet")
        #expect(take(signIn, "phone"))
        // A token that comes with a request is added as the oldest, and is not a new one to send.
        #expect(!take(signIn, "desk", isVerified: false))
        for (refused, next) in [("phone", "tablet"), ("tablet", "desk")] {
            signIn.refuse(Token(login: refused))
            #expect(spoken(signIn) == next)
            #expect(await token(remembered) == next)
        }
        signIn.refuse(Token(login: "desk"))
        #expect(spoken(signIn) == "desk")
        #expect(await token(remembered) == nil)
        #expect(take(signIn, "desk"))
    }

    @Test func `signing out removes all tokens`() async throws {
        defer { remove() }
        let (signIn, remembered) = try make()
        let fields: HTTPFields = [.authorization: "Bearer t"]
        let bearer = try #require(Token(fields, generation: .datasync))
        _ = take(signIn, "u")
        _ = signIn.take(bearer, isVerified: true)
        #expect(await token(remembered) == "Bearer t")
        signIn.removeTokens()
        #expect(await token(remembered) == nil)
        #expect(signIn.credential == .missing)
    }

    @Test func `a token that was signed out is not sent`() throws {
        defer { remove() }
        try Files.makeFolder(folder.path)
        let backend = try #require(BackendAddress("http://one.test"))
        let known = KnownTokens(file: folder.tokensFile, backend: backend) { Self.now }
        let signIn = SignIn("ana", nil, executor: executor, known: known) { Self.now }
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
        #expect(spoken.good(at: Self.now) { _ in false } == nil)
    }
}
