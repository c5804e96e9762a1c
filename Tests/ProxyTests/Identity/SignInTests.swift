import HTTPTypes
import Logging
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

struct SignInTests {
    private let folder = DataFolder(path: "/tmp/understudy-tests/\(ThisProcess.secret())")
    private let slowLane = SlowLane(worker: 0)

    private func make() throws -> (SignIn, RememberedSignIns) {
        try Files.makeFolder(folder.path)
        let opening = RememberedSignIns.open(
            folder.signInsFile,
            secret: SealSecret(credential: nil, file: folder.signInsKeyFile), backend: "b",
            identities: ["ana"], log: Logger(label: "test"), random: ThisProcess.secret)
        let remembered = try #require(opening.signIns)
        return (SignIn("ana", remembered, slowLane: slowLane), remembered)
    }

    private func remove() { try? Files.removeFolder(folder.path) }

    /// What is remembered once everything that was handed over is done.
    private func token(_ remembered: RememberedSignIns) async -> String? {
        await withCheckedContinuation { done in slowLane.run { done.resume() } }
        return remembered.field(of: "ana")?.value
    }

    private func status(_ state: BackendStatus.State, _ time: Int64 = 0) -> BackendStatus {
        BackendStatus(
            url: "b", state: state, reason: "", since: Instant(milliseconds: 0),
            nextTry: Instant(milliseconds: time))
    }

    @Test func `a token is remembered, forgotten at 401, and remembered when it is good again`()
        async throws
    {
        defer { remove() }
        let (signIn, remembered) = try make()
        #expect(signIn.take(Token(login: "t"), onlyIfMissing: false))
        #expect(await token(remembered) == "t")
        signIn.found(signIn.credential, status(.online))
        #expect(await token(remembered) == "t")
        signIn.found(signIn.credential, status(.signedOut))
        #expect(await token(remembered) == nil)
        #expect(signIn.credential != .missing)
        signIn.found(signIn.credential, status(.offline))
        #expect(await token(remembered) == nil)
        signIn.found(signIn.credential, status(.online))
        #expect(await token(remembered) == "t")
    }

    @Test func `the 401 of an earlier token says nothing of a new one, its own does`() async throws
    {
        defer { remove() }
        let (signIn, remembered) = try make()
        signIn.found(signIn.credential, status(.signedOut, 1))
        _ = signIn.take(Token(login: "t"), onlyIfMissing: false)
        signIn.found(signIn.credential, status(.signedOut, 1))
        #expect(await token(remembered) == "t")
        signIn.found(signIn.credential, status(.signedOut, 2))
        #expect(await token(remembered) == nil)
        _ = signIn.take(Token(login: "u"), onlyIfMissing: false)
        signIn.found(signIn.credential, status(.signedOut, 2))
        #expect(await token(remembered) == "u")
    }

    @Test func `what is found of a token that is replaced already counts no more`() async throws {
        defer { remove() }
        let (signIn, remembered) = try make()
        _ = signIn.take(Token(login: "t"), onlyIfMissing: false)
        let earlier = signIn.credential
        _ = signIn.take(Token(login: "u"), onlyIfMissing: false)
        signIn.found(earlier, status(.signedOut))
        #expect(await token(remembered) == "u")
    }

    @Test func `signing out forgets the token that is here and no other`() async throws {
        defer { remove() }
        let (signIn, remembered) = try make()
        let fields: HTTPFields = [.authorization: "Bearer t"]
        let bearer = try #require(Token(fields, generation: .datasync))
        _ = signIn.take(bearer, onlyIfMissing: false)
        signIn.drop(Token(login: "other"))
        #expect(await token(remembered) == "Bearer t")
        signIn.drop(Token(login: "t"))
        #expect(await token(remembered) == nil)
        #expect(signIn.credential == .missing)
    }
}
