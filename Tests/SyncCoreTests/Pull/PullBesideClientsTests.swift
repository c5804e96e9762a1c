import Backend
import Dispatch
import Logging
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Storage
@testable import SyncCore

@Suite struct PullBesideClientsTests {
    @Test func `a waiting write is committed together with part of a page`()
        async throws
    {
        let world = try World(settings: SyncSettings(triggers: [.manual], pageRows: 50))
        try await world.fill(51)
        let commits = Mutex<[[Event]]>([])
        let gate = DispatchSemaphore(value: 0)
        world.store.onEvents { new in commits.withLock { $0.append(new) } }
        let (first, second) = (Gate(), Gate())
        world.transport.decide { _, number in [1: .held(first), 2: .held(second)][number] }
        let pull = Task { await world.engine.pull(world.todo) }
        await first.waitForArrival()
        // The writer is busy when the page and then the write arrive.
        let store = world.store
        let busy = Task.immediate { try await store.write { _ in gate.wait() } }
        first.open()
        // The second page is requested, so the other work in progress is the first page's transaction.
        await second.waitForArrival()
        while store.underWay.count < 2 { await Task.yield() }
        second.open()
        let written = Task.immediate { await world.write(.insert(ItemBody(columns: Columns()))) }
        gate.signal()
        try await busy.value
        #expect(await written.value.isSuccess)
        #expect(await pull.value.state == .complete)
        let rows = commits.withLock {
            $0.map { $0.filter { $0.kind == .item }.map { $0.itemID == nil } }
        }
        #expect(rows.filter { !$0.isEmpty } == [[true, false], [true]])
        #expect(try await world.itemCount() == 52)
    }

    @Test(arguments: [false, true])
    func `while clients use the store, a page is applied before the next is requested`(
        reads: Bool
    ) async throws {
        let world = try World()
        try await world.fill(150)
        try await world.insert("mine")
        #expect(world.store.takeUse() == true)
        #expect(world.store.takeUse() == false)
        let (todo, query) = (world.todo, TableQuery())
        let applied = Mutex<[Int]>([])
        let asked = Mutex<[Int]>([])
        let pass = PullPass(
            store: world.store, remote: try world.remote(), request: PullRequest(table: todo),
            pageRows: 50, cancel: CancelFlag(), log: .init(label: "test")
        ) { report in
            applied.withLock { $0.append(report.applied) }
            asked.withLock { $0.append(world.transport.sent.count) }
        }
        let store = world.store
        if reads {
            _ = await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(
                        returning: store.list(
                            store.find(todo, worker: 0), query, generation: .mobileApps))
                }
            }
        } else {
            try await world.insert("too")
        }
        #expect(await pass.run().report.error == nil)
        #expect(applied.withLock { $0 } == [50, 100, 150])
        #expect(asked.withLock { $0 } == [1, 2, 3])
    }

    @Test func `while clients use the store, a transaction applies fewer rows`() async throws {
        var options = BackendOptions()
        options.pageRows = 250
        let world = try World(options)
        try await world.fill(250)
        let applied = Mutex<[Int]>([])
        let pass = PullPass(
            store: world.store, remote: try world.remote(), request: PullRequest(table: world.todo),
            pageRows: 250, cancel: CancelFlag(), log: .init(label: "test")
        ) { report in applied.withLock { $0.append(report.applied) } }
        try await world.insert("mine")
        #expect(await pass.run().report.error == nil)
        #expect(applied.withLock { $0 } == [100, 200, 250])
    }
}
