import HTTPMessage
import HTTPTypes
import Logging
import ReferenceBackend
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct EngineTests {
    // MARK: Which backend

    @Test func `an address that never answered as tables is simply replaced`() async throws {
        let world = try World()
        try await world.insert("a")
        world.transport.decide { _, _ in .instead(Response(status: .notFound)) }
        let first = await world.engine.sync()
        #expect(first.state == .offline)
        #expect(try await world.open().map(\.state) == [.queued])
        world.transport.decide { _, _ in nil }
        let (store, engine) = try world.reborn(address: "http://right:1")
        let run = await engine.sync()
        #expect(run.state == .complete, "\(run)")
        #expect(run.push?.applied == 1)
        #expect(try await store.ledger().queue.open == 0)
    }

    @Test func `another address sends nothing until it is accepted, then all`() async throws {
        let world = try World()
        try await world.insert("a")
        _ = await world.engine.sync()
        try await world.insert("b")
        let (_, engine) = try world.reborn(address: "http://other:1")
        world.transport.forget()
        let run = await engine.sync()
        #expect(run.state == .offline)
        #expect(run.reason?.contains("--rebind") == true)
        #expect(world.transport.sent.isEmpty)
        #expect(try await world.local("b") != nil)
        #expect(try await engine.status().warnings.isEmpty == false)
        try await engine.rebind()
        let accepted = await engine.sync()
        #expect(accepted.state == .complete, "\(accepted)")
        #expect(accepted.push?.applied == 1)
        #expect(try await engine.status().warnings.isEmpty)
    }

    // MARK: Generations

    @Test(arguments: BackendFlavour.allCases, [false, true])
    func `every flavour takes inserts, updates and deletes once, lost answers or not`(
        flavour: BackendFlavour, isLossy: Bool
    ) async throws {
        let world = try World(BackendOptions(flavour: flavour))
        try await world.seed("seed", #"{"text":"seed"}"#)
        #expect(await world.engine.sync().state == .complete)
        let lose: @Sendable (Request, Int) -> FaultyTransport.Fault? = { request, number in
            isLossy && request.head.method != .get && number % 2 == 0 ? .answerLost : nil
        }
        world.transport.decide(lose)
        func settle() async throws {
            for _ in 0..<8 where try await !world.open().isEmpty {
                _ = await world.engine.push()
                world.clock.advance(by: .seconds(700))
            }
            #expect(try await world.open().isEmpty)
        }
        try await world.insert("a")
        try await settle()
        try await world.update("a", #"{"text":"bread"}"#)
        try await settle()
        #expect(try await world.remote("a")?.columns["text"] == .string("bread"))
        #expect(try await world.remote("a")?.columns["rank"]?.text == "1")
        try await world.delete("a")
        try await settle()
        #expect(try await world.remote("a")?.deleted ?? true)
        #expect(try await world.backend.effectCount(world.todo, "a") == 3)
        #expect(try await world.store.ledger().balances)
    }

    @Test(arguments: BackendFlavour.allCases)
    func `the backend is asked once which generation it is, and the store remembers`(
        flavour: BackendFlavour
    ) async throws {
        let world = try World(BackendOptions(flavour: flavour))
        try await world.seed("seed", #"{"text":"seed"}"#)
        #expect(await world.engine.pull(world.todo).state == .complete)
        let expected = [
            BackendFlavour.mobileServices: nil, .mobileApps: "2.0.0", .node: "2.0.0",
            .dotnet: "2.0.0", .datasync: "3.0.0", .toolkit: "3.0.0",
        ]
        let name = try #require(HTTPField.Name("ZUMO-API-VERSION"))
        #expect(world.transport.sent.last?.head.headerFields[name] == expected[flavour])
        world.transport.forget()
        let (store, engine) = try world.reborn()
        #expect(await engine.pull(world.todo).state == .complete)
        for request in world.transport.sent {
            #expect(request.head.headerFields[name] == expected[flavour])
        }
        try store.close()
    }

    @Test(arguments: [false, true])
    func `integer ids are the backend's to give, and a lost answer makes no second row`(
        isLossy: Bool
    ) async throws {
        var options = BackendOptions(flavour: .mobileServices)
        let table = try #require(TableName("todoitem"))
        options.tables = [table: TableOptions(idKind: .integer)]
        let world = try World(options)
        let direct = InProcessTransport(world.backend)
        var request = Request.tables("POST", "/tables/todoitem", #"{"text":"old"}"#)
        request.head.headerFields[try #require(HTTPField.Name("ZUMO-API-VERSION"))] = nil
        let seeded = try await direct.send(request)
        #expect(seeded.head.status.code == 201)
        let pulled = await world.engine.pull(table)
        #expect(pulled.pull.first?.applied == 1, "\(pulled)")
        for text in ["one", "two", "two"] {
            let body = ItemBody(columns: Columns(stored: #"{"text":"\#(text)"}"#))
            guard case .inserted(let item) = await world.write(.insert(body)) else {
                Issue.record("not inserted")
                return
            }
            #expect((item.id.number ?? 0) < 0)
            if isLossy { world.transport.once(.answerLost) { $0.head.method == .post } }
            _ = await world.engine.push()
            world.clock.advance(by: .seconds(20))
            _ = await world.engine.push()
            let local = try #require(try await world.row(item.id))
            #expect((local.id.number ?? 0) > 0)
        }
        #expect(try await world.open().isEmpty)
        #expect(try await world.backend.items(in: table).count == 4)
    }

    // MARK: Purge

    @Test func `a purge refuses while changes are open, and forced gives them up`() async throws {
        let world = try World()
        for id in ["a", "b", "c"] { try await world.insert(id) }
        _ = await world.engine.sync()
        try await world.update("a", #"{"text":"mine"}"#)
        #expect(await world.engine.purge(world.todo) == .refusedPending(1))
        #expect(
            await world.engine.purge(world.todo, force: true) == .purged(items: 3, discarded: 1))
        #expect(try await world.local("a") == nil)
        #expect(try await world.row("a") == nil)
        #expect(try await world.store.ledger().balances)
        #expect(try await world.operations([.discarded]).count == 1)
        let run = await world.engine.sync()
        #expect(run.pull.first?.applied == 3, "\(run)")
        #expect(try await world.local("a")?.columns["text"] == .string("milk"))
    }

    @Test func `a purge with a filter forgets what matches and pulls it again`() async throws {
        let world = try World()
        try await world.insert("a", #"{"text":"x"}"#)
        try await world.insert("b", #"{"text":"y"}"#)
        _ = await world.engine.sync()
        let outcome = await world.engine.purge(world.todo, filter: "text eq 'x'")
        #expect(outcome == .purged(items: 1, discarded: 0))
        #expect(try await world.local("b") != nil)
        _ = await world.engine.sync()
        #expect(try await world.local("a") != nil)
        guard case .invalid = await world.engine.purge(world.todo, filter: "text eq") else {
            Issue.record("a bad filter was taken")
            return
        }
    }

    // MARK: The loop

    /// Moves time from one sleeper to the next until the condition holds.
    private func run(
        _ world: World, until condition: @escaping @Sendable () async throws -> Bool
    ) async throws {
        for _ in 0..<2000 {
            if try await condition() { return }
            await Task.yield()
            if let next = world.clock.nextDeadline, next > world.clock.uptime() {
                world.clock.advance(by: min(next - world.clock.uptime(), .milliseconds(250)))
            }
        }
        Issue.record("it never came to that")
    }

    @Test func `the loop pushes writes by itself, waits out an outage and catches up`()
        async throws
    {
        let world = try World(
            settings: SyncSettings(triggers: [.manual, .afterWrites, .reconnect, .interval]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            try await world.insert("a")
            try await run(world) { try await world.remote("a") != nil }
            world.transport.decide { _, _ in .notSent }
            try await world.insert("b")
            try await run(world) { await world.engine.backendStatus.state == .offline }
            #expect(try await world.local("b") != nil)
            world.transport.decide { _, _ in nil }
            try await run(world) { try await world.remote("b") != nil }
            try await run(world) { await world.engine.backendStatus.state == .online }
            #expect(await world.engine.backendStatus.state == .online)
            group.cancelAll()
        }
    }

    @Test func `a run that was started is named, carried out and told`() async throws {
        let world = try World()
        try await world.insert("a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            let id = await world.engine.startSync()
            let run = try #require(await world.engine.result(of: id, timeout: .seconds(5)))
            #expect(run.id == id)
            #expect(run.state == .complete)
            #expect(run.push?.applied == 1)
            #expect(await world.engine.run(id)?.state == .complete)
            #expect(await world.engine.result(of: "nothing", timeout: .seconds(5)) == nil)
            group.cancelAll()
        }
    }

    @Test func `waiting for a run ends in time with the run as it stands`() async throws {
        let world = try World()
        try await world.insert("a")
        let gate = Gate()
        world.transport.once(.held(gate)) { $0.head.method == .post }
        async let push = world.engine.push()
        await gate.reached()
        let id = try #require(await world.engine.runs().first?.id)
        async let waited = world.engine.result(of: id, timeout: .seconds(2))
        await world.clock.someoneSleeps()
        world.clock.advance(by: .seconds(3))
        #expect(await waited?.state == .running)
        gate.open()
        _ = await push
    }

    @Test func `a wall clock that is set back holds nothing up`() async throws {
        let world = try World(settings: SyncSettings(triggers: [.manual, .afterWrites]))
        try await world.insert("a")
        world.transport.once(.answerLost) { $0.head.method == .post }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            try await run(world) { try await world.open().first?.state == .unknown }
            world.clock.jump(by: .seconds(-86_400))
            try await run(world) { try await world.open().isEmpty }
            group.cancelAll()
        }
        #expect(try await world.backend.effectCount(world.todo, "a") == 1)
    }
}
