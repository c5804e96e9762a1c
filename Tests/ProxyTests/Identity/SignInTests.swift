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

    private func take(_ signIn: SignIn, _ text: String, isVouched: Bool = false) -> Bool {
        signIn.take(Token(login: text), onlyIfMissing: false, isVouched: isVouched)
    }

    private func refusal(_ signIn: SignIn, _ number: Int) -> CredentialRefusal {
        CredentialRefusal(credential: signIn.credential, number: number)
    }

    @Test func `a token is remembered until the backend refuses it, and another one then`()
        async throws
    {
        defer { remove() }
        let (signIn, remembered) = try make()
        #expect(take(signIn, "t"))
        #expect(await token(remembered) == "t")
        signIn.found(nil)
        #expect(await token(remembered) == "t")
        signIn.found(refusal(signIn, 1))
        #expect(await token(remembered) == nil)
        #expect(signIn.credential != .missing)
        #expect(take(signIn, "u"))
        #expect(await token(remembered) == "u")
    }

    @Test func `a refused token is remembered again only when the backend vouches for it anew`()
        async throws
    {
        defer { remove() }
        let (signIn, remembered) = try make()
        _ = take(signIn, "t")
        signIn.found(refusal(signIn, 1))
        #expect(!take(signIn, "t"))
        #expect(await token(remembered) == nil)
        #expect(take(signIn, "t", isVouched: true))
        #expect(await token(remembered) == "t")
        signIn.found(refusal(signIn, 1))
        #expect(await token(remembered) == "t")
        signIn.found(refusal(signIn, 2))
        #expect(await token(remembered) == nil)
        #expect(take(signIn, "t", isVouched: true))
        #expect(!take(signIn, "t", isVouched: true))
    }

    @Test func `the 401 of an earlier token says nothing of a new one, its own does`() async throws
    {
        defer { remove() }
        let (signIn, remembered) = try make()
        _ = take(signIn, "t")
        let first = refusal(signIn, 1)
        _ = take(signIn, "u")
        signIn.found(first)
        #expect(await token(remembered) == "u")
        signIn.found(refusal(signIn, 2))
        #expect(await token(remembered) == nil)
    }

    @Test func `signing out forgets the token that is here`() async throws {
        defer { remove() }
        let (signIn, remembered) = try make()
        let fields: HTTPFields = [.authorization: "Bearer t"]
        let bearer = try #require(Token(fields, generation: .datasync))
        _ = signIn.take(bearer, onlyIfMissing: false, isVouched: false)
        #expect(await token(remembered) == "Bearer t")
        signIn.drop()
        #expect(await token(remembered) == nil)
        #expect(signIn.credential == .missing)
    }
}
