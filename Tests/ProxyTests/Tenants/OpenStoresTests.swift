import HTTPMessage
import Logging
import Platform
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// Which store is opened, and which one is closed for it.
struct OpenStoresTests {
    private let fixture: TestStores

    init() throws { fixture = try TestStores() }

    /// `count` open stores without the anonymous one, in the order of their use, none in use.
    private func stores(_ count: Int) throws -> OpenStores {
        var stores = OpenStores()
        for number in 0..<count {
            let tenant = try fixture.tenant("user\(number)")
            let claim = stores.claim(tenant.identity, bound: 100, hasTried: true)
            guard case .begin = claim else {
                Issue.record("\(claim)")
                continue
            }
            let isOpen = stores.opened(tenant, loop: EngineLoop(), appliedNumber: 0)
            #expect(isOpen)
            _ = stores.endUse(tenant.identity)
        }
        return stores
    }

    private func isBegin(_ claim: OpenStores.Claim) -> Bool {
        if case .begin = claim { true } else { false }
    }

    private func isMakeRoom(_ claim: OpenStores.Claim) -> Bool {
        if case .makeRoom = claim { true } else { false }
    }

    private func isWait(_ claim: OpenStores.Claim) -> Bool {
        if case .wait = claim { true } else { false }
    }

    @Test func `up to the limit a store is opened without closing another`() throws {
        defer { fixture.remove() }
        var stores = try stores(Limits.openStores - 2)
        #expect(stores.idle(reservesOne: true) == [])
        #expect(isBegin(stores.claim("new", bound: Limits.openStores, hasTried: false)))
        #expect(stores.count == Limits.openStores)
        #expect(isMakeRoom(stores.claim("another", bound: Limits.openStores, hasTried: false)))
    }

    @Test func `the least recently used idle store is closed for another one`()
        throws
    {
        defer { fixture.remove() }
        var stores = try stores(Limits.openStores - 1)
        let all = (0..<Limits.openStores - 1).map { "user\($0)" }
        #expect(stores.idle(reservesOne: true) == all)
        #expect(stores.idle(reservesOne: false) == [])
        #expect(stores.use("user0") != nil)
        #expect(stores.use("user2", isInspection: true) != nil)
        #expect(stores.idle(reservesOne: true) == all.filter { $0 != "user0" && $0 != "user2" })
        // An inspection does not change the order; a use does.
        _ = stores.endUse("user0")
        _ = stores.endUse("user2")
        #expect(stores.idle(reservesOne: true) == all.dropFirst() + ["user0"])
    }

    @Test
    func `with all in use, more are opened for users up to a second limit, none for due work`()
        throws
    {
        defer { fixture.remove() }
        var stores = try stores(Limits.openStores - 1)
        for number in 0..<Limits.openStores - 1 { _ = stores.use("user\(number)") }
        #expect(isMakeRoom(stores.claim("a", bound: Limits.openStoresInUse, hasTried: false)))
        #expect(isWait(stores.claim("a", bound: Limits.openStores, hasTried: true)))
        for number in Limits.openStores..<Limits.openStoresInUse {
            #expect(
                isBegin(
                    stores.claim("n\(number)", bound: Limits.openStoresInUse, hasTried: true)))
        }
        #expect(stores.count == Limits.openStoresInUse)
        #expect(isWait(stores.claim("late", bound: Limits.openStoresInUse, hasTried: true)))
        // The end of a use beyond the first limit reports that a store can be closed.
        let mayClose = stores.endUse("user3")
        #expect(mayClose)
        #expect(stores.idle(reservesOne: false) == ["user3"])
    }

    @Test func `a claim waits for a store that is being opened, closed or read`() throws {
        defer { fixture.remove() }
        var stores = try stores(2)
        stores.closed["old"] = .unexamined
        #expect(stores.beginClosing("user0") != nil)
        #expect(stores.beginClosing("user0") == nil)
        #expect(isWait(stores.claim("user0", bound: 8, hasTried: false)))
        #expect(stores.use("user0") == nil)
        let stays = stores.stayOpen("user0", appliedNumber: 0)
        #expect(stays)
        #expect(stores.use("user0") != nil)
        #expect(stores.beginClosing("user0") == nil)
        let isBegun = stores.beginExamination("old")
        #expect(isBegun)
        #expect(isWait(stores.claim("old", bound: 8, hasTried: false)))
        stores.endExamination("old", StoreIndex.Entry(summary: .empty, file: nil))
        #expect(isBegin(stores.claim("old", bound: 8, hasTried: false)))
        #expect(isWait(stores.claim("old", bound: 8, hasTried: false)))
        stores.didFail("old")
        #expect(stores.knows("old"))
        #expect(stores.identities == ["old", "user0", "user1"])
    }

    @Test
    func `a store that cannot be opened counts as failed and keeps its entry`()
        throws
    {
        defer { fixture.remove() }
        var stores = try stores(0)
        stores.closed = ["a": .known(entry(.now, oldest: 2)), "b": .unexamined, "c": .unexamined]
        #expect(isBegin(stores.claim("a", bound: 8, hasTried: false)))
        stores.didFail("a")
        _ = stores.beginExamination("b")
        stores.endExamination("b", nil)
        #expect(isBegin(stores.claim("new", bound: 8, hasTried: false)))
        stores.didFail("new")
        let total = stores.closedTotal
        #expect([total.known, total.unexamined, total.failed] == [0, 1, 2])
        #expect(total.sum?.due == .now)
        #expect(total.warnings.count == 2)
        #expect(total.warnings.last?.contains("2 stores could not be opened") == true)
        #expect(stores.due(Instant(milliseconds: 9)) == ["a"])
        _ = stores.claim("a", bound: 8, hasTried: false)
        #expect(stores.opened(try fixture.tenant("a"), loop: EngineLoop(), appliedNumber: 0))
        _ = stores.beginExamination("b")
        stores.endExamination("b", entry(.never, oldest: nil))
        let later = stores.closedTotal
        #expect([later.known, later.unexamined, later.failed] == [1, 1, 0])
        #expect(later.warnings.count == 1)
    }

    @Test func `due work is sent for the store with the oldest operation first`() throws {
        defer { fixture.remove() }
        var stores = try stores(0)
        let (early, late) = (Instant(milliseconds: 1_000), Instant(milliseconds: 900_000))
        stores.closed = [
            "a": .known(entry(.now, oldest: 7)), "b": .known(entry(.never, oldest: 1)),
            "c": .known(entry(.at(late, noted: early), oldest: 2)),
            "d": .known(entry(.at(early, noted: early), oldest: 3)), "e": .unexamined,
        ]
        #expect(stores.due(early) == ["d", "a"])
        #expect(stores.due(late) == ["c", "d", "a"])
    }

    private func entry(_ due: DueWork, oldest: Int64?) -> StoreIndex.Entry {
        var summary = StoreSummary.empty
        summary.due = due
        summary.oldestAt = oldest.map { Instant(milliseconds: $0) }
        return StoreIndex.Entry(summary: summary, file: nil)
    }

    @Test func `a store opens and stays open only with all settings for all identities`()
        throws
    {
        defer { fixture.remove() }
        var stores = try stores(1)
        #expect(isBegin(stores.claim("new", bound: 8, hasTried: false)))
        #expect(stores.beginClosing("user0") != nil)
        stores.settingsForAll.add(.mode(.offline(until: nil), until: nil))
        let tenant = try fixture.tenant("new")
        let isEarly = stores.opened(tenant, loop: EngineLoop(), appliedNumber: 0)
        #expect(!isEarly)
        #expect(stores.use("new") == nil)
        let staysEarly = stores.stayOpen("user0", appliedNumber: 0)
        #expect(!staysEarly)
        #expect(stores.use("user0") == nil)
        let isOpen = stores.opened(tenant, loop: EngineLoop(), appliedNumber: 1)
        #expect(isOpen)
        #expect(stores.use("new") != nil)
        let stays = stores.stayOpen("user0", appliedNumber: 1)
        #expect(stays)
        #expect(stores.use("user0") != nil)
    }
}

/// Stores in a folder of their own, with engines that never run.
struct TestStores {
    let folder = DataFolder(path: "/tmp/understudy-tests/\(ThisProcess.secret())")

    init() throws { try Files.makeFolder(folder.path) }

    /// A tenant with a store that is made for it.
    func tenant(_ identity: String) throws -> Tenant {
        let store = try Store(
            at: try folder.storeFile(identity), identity: identity, clock: SystemClock(),
            ids: SystemIDSource(), workers: 1)
        let address = try #require(BackendAddress("http://backend.test"))
        return Tenant(
            identity: identity, store: store,
            engine: SyncEngine(
                store: store, transport: UnreachableTransport(),
                backend: BackendConfiguration(address: address), clock: SystemClock(),
                log: Logger(label: "test")), backendStatus: BackendStatusCache(), signIn: nil)
    }

    private struct UnreachableTransport: HTTPTransport {
        func send(_ request: Request) async throws(TransportError) -> Response {
            throw TransportError(reach: .notSent, cause: .connect, message: "There is no backend.")
        }
    }

    func remove() { try? Files.removeFolder(folder.path) }
}
