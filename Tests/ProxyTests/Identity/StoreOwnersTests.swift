import Backend
import Logging
import Platform
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Which users have stores that began under another backend.
@Suite(.timeLimit(.minutes(1))) struct StoreOwnersTests {
    private static func withFolder(_ body: (DataFolder) throws -> Void) throws {
        let folder = DataFolder(path: "/tmp/understudy-tests/\(ThisProcess.secret())")
        try Files.makeFolder(folder.path)
        defer { try? Files.removeFolder(folder.path) }
        try body(folder)
    }

    private static func owners(_ folder: DataFolder, _ backend: String) throws -> StoreOwners {
        try StoreOwners(
            file: folder.ownersFile, backend: try #require(BackendAddress(backend)))
    }

    private static func word(_ text: String) throws -> StoreTakeover {
        try #require(StoreTakeover(text))
    }

    /// The store that an identity gets whose user has an id.
    private static func store(
        of key: String, _ user: String, hasStore: Bool = false, _ owners: StoreOwners
    ) -> String {
        owners.identity(of: Identity(key: key), user: user, hasStore: hasStore).key
    }

    private static func makeStore(_ folder: DataFolder, _ key: String) throws {
        let store = try Store(
            at: try folder.storeFile(key), identity: key, clock: SystemClock(),
            ids: SystemIDSource(), workers: 1)
        try store.close()
    }

    private static func token(_ issuer: String, _ user: String) -> Token {
        let claims = #"{"iss":"\#(issuer)","sub":"\#(user)"}"#
        return Token(login: "e30.\(Base64.encodedForURL(claims.utf8)).sig")
    }

    @Test(
        arguments: [
            ("ana-old=aad:ana", "aad:ana"), ("ana-old=a=b", "a=b"), ("ana-old=ana-new", "ana-new"),
            ("ana-old", nil), ("ana-old=", nil), ("=aad:ana", nil), ("Ana=aad:ana", nil),
            ("../ana=aad:ana", nil), ("ana-old=ana-old", nil), ("anonymous=aad:ana", nil),
            ("ana-old=anonymous", nil),
        ] as [(String, String?)])
    func `a word names a store and a user`(text: String, user: String?) {
        let word = StoreTakeover(text)
        #expect(word?.user == user)
        #expect(word?.store == user.map { _ in "ana-old" })
    }

    @Test func `the first identity with the named id has the store, and no other one gets it`()
        throws
    {
        try Self.withFolder { folder in
            let first = try Self.owners(folder, "https://site.test")
            _ = try first.take(try Self.word("ana-old=aad:ana"), isIdentity: false)
            try first.save()

            // The word was about another backend.
            let elsewhere = try Self.owners(folder, "https://elsewhere.test")
            #expect(Self.store(of: "ana-e", "aad:ana", elsewhere) == "ana-e")

            let site = try Self.owners(folder, "https://site.test")
            #expect(Self.store(of: "bob-new", "aad:bob", site) == "bob-new")
            #expect(Self.store(of: "ana-new", "aad:ana", site) == "ana-old")
            // The store of the sign-in may not open.
            #expect(site.waiting == ["ana-old"])
            site.signedIn("ana-old")
            #expect(site.waiting == [])
            // Another issuer has given the same id.
            #expect(Self.store(of: "ana-other", "aad:ana", site) == "ana-other")
            // The same word again, as in a unit of systemd.
            _ = try site.take(try Self.word("ana-old=aad:ana"), isIdentity: false)
            try site.save()

            // After a restart, and at another address of the same issuer.
            let moved = try Self.owners(folder, "https://moved.test")
            #expect(Self.store(of: "ana-new", "aad:ana", moved) == "ana-old")
            #expect(Self.store(of: "ana-other", "aad:ana", moved) == "ana-other")
            #expect(Self.store(of: "ana-old", "sid:1", hasStore: true, moved) == "ana-old")
        }
    }

    @Test func `a user has one store of another backend`() throws {
        try Self.withFolder { folder in
            let owners = try Self.owners(folder, "https://site.test")
            _ = try owners.take(try Self.word("ana-old=aad:ana"), isIdentity: false)
            #expect(throws: StartProblem.self) {
                _ = try owners.take(try Self.word("ana-older=aad:ana"), isIdentity: false)
            }
            // A word is corrected by another one.
            _ = try owners.take(try Self.word("ana-old=aad:anna"), isIdentity: false)
            #expect(Self.store(of: "ana-new", "aad:ana", owners) == "ana-new")
            #expect(Self.store(of: "anna-new", "aad:anna", owners) == "ana-old")
            _ = try owners.take(try Self.word("ben-old=ben-new"), isIdentity: true)
            #expect(owners.has("ben-new"))
            #expect(Self.store(of: "ben-new", "aad:ben", owners) == "ben-old")
            #expect(throws: StartProblem.self) {
                _ = try owners.take(try Self.word("ben-older=ben-new"), isIdentity: true)
            }
        }
    }

    @Test func `a store waits from its binding to the next sign-in`() throws {
        try Self.withFolder { folder in
            let owners = try Self.owners(folder, "https://site.test")
            owners.wait(for: ["ana-old", "ben-old"])
            try owners.save()
            #expect(try folder.waitingStores() == ["ana-old", "ben-old"])
            #expect(Self.store(of: "ben-old", "ben", hasStore: true, owners) == "ben-old")
            owners.signedIn("ben-old")
            try owners.save()
            #expect(try folder.waitingStores() == ["ana-old"])
            #expect(try Self.owners(folder, "https://site.test").waiting == ["ana-old"])
        }
    }

    @Test(
        arguments: [
            #"{"stores":"#, "{}", "[]", #"{"stores":{}}"#, #"{"stores":[{"store":"ana-old"}]}"#,
            #"{"stores":[{"store":"../ana","backend":"https://site.test"}]}"#,
        ])
    func `a file that cannot be read is not replaced`(text: String) throws {
        try Self.withFolder { folder in
            try Files.write(folder.ownersFile, Array(text.utf8))
            #expect(throws: StartProblem.self) {
                _ = try Self.owners(folder, "https://site.test")
            }
            #expect(throws: StartProblem.self) { _ = try folder.waitingStores() }
        }
    }

    @Test func `a named user who has a store keeps it, and nobody else gets the other one`() throws
    {
        try Self.withFolder { folder in
            let owners = try Self.owners(folder, "https://site.test")
            _ = try owners.take(try Self.word("ana-old=ana"), isIdentity: false)
            for _ in 0..<2 {
                #expect(Self.store(of: "ana-own", "ana", hasStore: true, owners) == "ana-own")
                // Another issuer has given the same id.
                #expect(Self.store(of: "ana-other", "ana", owners) == "ana-other")
            }
            #expect(owners.waiting == ["ana-old"])
            // The operator names the identity, and its own store is put aside.
            #expect(try !owners.take(try Self.word("ana-old=ana-own"), isIdentity: true))
            #expect(Self.store(of: "ana-own", "ana", owners) == "ana-old")
            #expect(Self.store(of: "ana-other", "ana", owners) == "ana-other")
        }
    }

    @Test func `ids are the same if their bytes are`() throws {
        try Self.withFolder { folder in
            let owners = try Self.owners(folder, "https://site.test")
            _ = try owners.take(try Self.word("zoe-old=zo\u{EB}"), isIdentity: false)
            #expect(Self.store(of: "zoe-other", "zoe\u{308}", owners) == "zoe-other")
            #expect(Self.store(of: "zoe-new", "zo\u{EB}", owners) == "zoe-old")
        }
    }

    @Test func `a store without changes of its own is put aside`() throws {
        try Self.withFolder { folder in
            try Self.makeStore(folder, "ana-old")
            try Self.makeStore(folder, "ana-new")
            for other in ["aad:ana", "nobody"] {
                #expect(!folder.hasHadStore(other))
                try folder.putAside(other)
            }
            // A start that ended before its word was written is made again.
            for _ in 0..<2 {
                #expect(folder.hasHadStore("ana-new"))
                try folder.putAside("ana-new")
                #expect(folder.identities.map(\.key) == ["ana-old"])
            }
            #expect(Files.exists("\(folder.path)/stores.replaced/ana-new/store.sqlite"))
            try folder.empty()
            #expect(folder.identities == [])
            #expect(!Files.exists("\(folder.path)/stores.replaced"))
        }
    }

    @Test func `no store is put aside if a word is refused`() async throws {
        let folder = DataFolder(path: "/tmp/understudy-tests/\(ThisProcess.secret())")
        try Files.makeFolder(folder.path)
        defer { try? Files.removeFolder(folder.path) }
        let stores = ["ana-new", "ana-old", "bob-old", "cat-old"]
        for store in stores { try Self.makeStore(folder, store) }
        let backend = try #require(BackendAddress("http://backend.test"))
        let owners = try StoreOwners(file: folder.ownersFile, backend: backend)
        _ = try owners.take(try Self.word("bob-old=aad:bob"), isIdentity: false)
        _ = owners.identity(of: Identity(key: "bob-new"), user: "aad:bob", hasStore: false)
        try owners.save()
        let before = try Files.read(folder.ownersFile)
        let transport = FaultyTransport(
            InProcessTransport(
                try TablesBackend.underTest(BackendOptions(), clock: { ThisProcess.now })))
        // The second word gives the place of a store that bob has.
        for words in [
            ["ana-old=ana-new", "cat-old=bob-old"], ["ana-old=ana-new", "ana-new=aad:ana"],
        ] {
            var configuration = ProxyConfiguration(backend: backend, folder: folder)
            configuration.rebind = true
            configuration.takeovers = try words.map(Self.word)
            let builder = AppGraphBuilder(configuration, log: Logger(label: "test"))
            await #expect(throws: StartProblem.self) {
                _ = try await builder.build(
                    AppGraphBuilder.Transports(syncing: transport), workers: 1)
            }
            #expect(folder.identities.map(\.key) == stores)
            #expect(try Files.read(folder.ownersFile) == before)
        }
    }

    @Test func `a corrected word takes the store from the user who had it`() async throws {
        let old = Identity(Self.token("https://old.test", "sid:1")).key
        let bob = Self.token("https://site.test", "aad:bob")
        let ana = Self.token("https://site.test", "aad:ana")
        try await TestApp.run(configure: { configuration in
            let folder = configuration.folder
            let backend = configuration.backend
            #expect(throws: Never.self) {
                try Self.makeStore(folder, old)
                let owners = try StoreOwners(file: folder.ownersFile, backend: backend)
                _ = try owners.take(try Self.word("\(old)=aad:bob"), isIdentity: false)
                _ = owners.identity(of: Identity(bob), user: "aad:bob", hasStore: false)
                try owners.save()
                let tokens = KnownTokens(
                    file: folder.tokensFile, backend: backend, now: { ThisProcess.now })
                tokens.learn(bob, of: Identity(key: old))
                try tokens.save()
            }
            configuration.rebind = true
            configuration.takeovers = [StoreTakeover("\(old)=aad:ana")].compactMap(\.self)
        }) { test in
            let tenants = test.graph.tenants
            #expect(tenants.tokens.owner(of: bob) == nil)
            let kept = KnownTokens(
                file: test.folder.tokensFile,
                backend: try #require(BackendAddress("http://backend.test")),
                now: { ThisProcess.now })
            #expect(kept.owner(of: bob) == nil)
            #expect(tenants.tenantState(old).signIn.credential == .missing)
            #expect(try await tenants.verified(bob).identity == Identity(bob).key)
            #expect(try await tenants.verified(ana).identity == old)
        }
    }

    @Test func `a renewed token without claims leads to the store of its user`() async throws {
        let old = Identity(Self.token("https://old.test", "sid:1")).key
        try await TestApp.run(configure: { configuration in
            let folder = configuration.folder
            #expect(throws: Never.self) { try Self.makeStore(folder, old) }
        }) { test in
            let tenants = test.graph.tenants
            let first = Token(login: "first")
            tenants.tokens.learn(first, of: Identity(key: "ana-new"))
            _ = try tenants.owners.take(try Self.word("\(old)=ana-new"), isIdentity: true)
            let renewed = try await tenants.verified(
                Token(login: "second"), byLogin: true, renewing: first)
            #expect(renewed.identity == old)
        }
    }

    @Test func `a store that does not open still waits, and is named`() async throws {
        let old = Identity(Self.token("https://old.test", "sid:1")).key
        let new = Self.token("https://site.test", "aad:ana")
        try await TestApp.run(configure: { configuration in
            let folder = configuration.folder
            #expect(throws: Never.self) {
                try Files.write(try folder.storeFile(old), [UInt8](repeating: 7, count: 8_192))
            }
            configuration.rebind = true
            configuration.takeovers = [StoreTakeover("\(old)=aad:ana")].compactMap(\.self)
        }) { test in
            let tenants = test.graph.tenants
            await #expect(throws: StartProblem.self) { _ = try await tenants.verified(new) }
            #expect(tenants.owners.waiting == [old])
            let warnings = await tenants.waitingWarnings()
            #expect(warnings.count == 1)
            #expect(
                warnings.allSatisfy { $0.hasPrefix("Changes may wait until") }, "\(warnings)")
            #expect(
                warnings.allSatisfy { $0.contains("\(old) (not looked at)") }, "\(warnings)")
        }
    }

    @Test func `a user of the new backend gets the store that the operator named`() async throws {
        let old = Identity(Self.token("https://old.test", "sid:1")).key
        let new = Self.token("https://site.test", "aad:ana")
        try await TestApp.run(configure: { configuration in
            try? Self.makeStore(configuration.folder, old)
            configuration.rebind = true
            configuration.takeovers = [StoreTakeover("\(old)=aad:ana")].compactMap(\.self)
        }) { test in
            let tenants = test.graph.tenants
            #expect(tenants.identities == [Identity.anonymousKey, old])
            #expect(tenants.owners.waiting == [old])
            #expect(try await tenants.verified(new).identity == old)
            #expect(tenants.tokens.owner(of: new)?.key == old)
            #expect(tenants.owners.waiting == [])
            #expect(try test.folder.waitingStores() == [])
            let stranger = Self.token("https://stranger.test", "aad:ana")
            let other = try await tenants.verified(stranger).identity
            #expect(other == Identity(stranger).key)
            #expect(tenants.identities == [Identity.anonymousKey] + [old, other].sorted())
        }
    }

    @Test func `a store that is not there is named`() async throws {
        await #expect(throws: StartProblem.self) {
            try await TestApp.run(configure: {
                $0.rebind = true
                $0.takeovers = [StoreTakeover("nobody=aad:ana")].compactMap(\.self)
            }) { _ in }
        }
    }
}
