import Backend
import HTTPMessage
import HTTPTypes
import Logging
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct EngineTests {
    // MARK: The backend's address

    @Test func `an address that never answered as tables can be replaced without rebind`()
        async throws
    {
        let world = try World()
        try await world.insert("a")
        world.transport.decide { _, _ in .instead(Response(status: .notFound)) }
        let first = await world.engine.sync()
        #expect(first.state == .completeWithErrors)
        #expect(first.reason == "There is no table todoitem (404).")
        #expect(try await world.open().map(\.state) == [.queued])
        world.transport.decide { _, _ in nil }
        let (store, engine) = try world.reborn(address: "http://right:1")
        let run = await engine.sync()
        #expect(run.state == .complete, "\(run)")
        #expect(run.push?.applied == 1)
        #expect(try await store.ledger().queue.open == 0)
    }

    @Test func `a different backend gets nothing until it is accepted, then everything`()
        async throws
    {
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

    @Test(arguments: [nil, 200, 401, 404, 503])
    func `without any table, the backend's state is shown and the store is not bound`(
        status: Int?
    ) async throws {
        let world = try World()
        world.transport.decide { _, _ in
            guard let status else { return .notSent }
            let body = status == 200 ? "[]" : #"{"error":"no"}"#
            return .instead(Response(status: .init(code: status), body: Array(body.utf8)))
        }
        let run = await world.engine.sync()
        let isWell = status.map { $0 < 500 } ?? false
        #expect((run.state == .complete) == isWell, "\(run)")
        let state = await world.engine.backendStatus.state
        #expect(state == (isWell ? .online : status == nil ? .offline : .degraded))
        #expect(world.transport.targets.count == 1)
        // This was no proof: another address can replace it, and is asked for a list before a push.
        let (_, engine) = try world.reborn(address: "http://other:1")
        world.transport.decide { _, _ in nil }
        world.transport.forget()
        #expect(await engine.sync().state == .complete)
        #expect(world.transport.targets.allSatisfy { $0.hasPrefix("GET") })
    }

    // MARK: Generations

    @Test(arguments: BackendFlavour.allCases, [false, true])
    func `every flavour applies each insert, update and delete once, even if answers are lost`(
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
    func `the generation is detected once and kept in the store`(
        flavour: BackendFlavour
    ) async throws {
        let world = try World(BackendOptions(flavour: flavour))
        try await world.seed("seed", #"{"text":"seed"}"#)
        #expect(await world.engine.pull(world.todo).state == .complete)
        let expected = [
            BackendFlavour.mobileServices: nil, .mobileApps: "2.0.0", .node: "2.0.0",
            .express: "2.0.0", .dotnet: "2.0.0", .datasync: "3.0.0", .toolkit: "3.0.0",
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
    func `the backend assigns integer ids, and a lost answer makes no second row`(
        isLossy: Bool
    ) async throws {
        let world = try World(.mobileServices, TableOptions(idKind: .integer))
        let table = world.todo
        #expect(try await world.send("POST", "/tables/todoitem", #"{"text":"old"}"#) == 201)
        let pulled = await world.engine.pull(table)
        #expect(pulled.pull.first?.applied == 1, "\(pulled)")
        for text in ["one", "two", "two"] {
            let body = ItemBody(columns: Columns(stored: #"{"text":"\#(text)"}"#))
            guard case .inserted(let item, _) = await world.write(.insert(body)) else {
                throw World.Failure("not inserted")
            }
            #expect((item.id.number ?? 0) > 1000)
            if isLossy { world.transport.once(.answerLost) { $0.head.method == .post } }
            _ = await world.engine.push()
            world.clock.advance(by: .seconds(20))
            _ = await world.engine.push()
            let local = try #require(try await world.row(item.id))
            #expect((local.id.number ?? 0) < 1000)
        }
        #expect(try await world.open().isEmpty)
        #expect(try await world.backend.items(in: table).count == 4)
    }

    // MARK: Purge

    @Test func `a purge is refused while operations are open, and a forced purge discards them`()
        async throws
    {
        let world = try World()
        for id in ["a", "b", "c"] { try await world.insert(id) }
        _ = await world.engine.sync()
        try await world.update("a", #"{"text":"mine"}"#)
        #expect(await world.engine.purge(world.todo) == .refusedPending(1))
        let outcome = await world.engine.purge(world.todo, force: true)
        let entry = try await world.store.lists.history(after: nil, limit: 1).items.first?.id
        #expect(outcome == .purged(items: 3, discarded: 1, entry: entry))
        #expect(try await world.local("a") == nil)
        #expect(try await world.row("a") == nil)
        #expect(try await world.store.ledger().balances)
        #expect(try await world.operations([.discarded]).count == 1)
        let run = await world.engine.sync()
        #expect(run.pull.first?.applied == 3, "\(run)")
        #expect(try await world.local("a")?.columns["text"] == .string("milk"))
    }

    @Test func `a purge with a filter removes what matches, and a sync pulls it again`()
        async throws
    {
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
            throw World.Failure("a bad filter was taken")
        }
    }

    // MARK: Generation, progress, cancellation

    @Test func `the generation of a backend that was replaced is forgotten`() async throws {
        let world = try World(BackendOptions(flavour: .mobileServices))
        try await world.seed("a", #"{"text":"x"}"#)
        _ = await world.engine.pull(world.todo)
        #expect(await world.engine.knownGeneration == .mobileServices)
        let (store, other) = try world.reborn(address: "http://other:1")
        #expect(await other.sync().state == .offline)
        try await other.rebind()
        #expect(try await store.read { try $0.binding.provenGeneration() } == nil)
    }

    @Test func `a run reports its progress and can be cancelled`() async throws {
        let world = try World()
        for number in 0..<5 { try await world.insert("r\(number)") }
        let gate = Gate()
        world.transport.decide { request, _ in
            request.head.method == .post
                && String(decoding: request.body, as: UTF8.self)
                    .contains("r2")
                ? .held(gate) : nil
        }
        async let push = world.engine.push()
        await gate.waitForArrival()
        let running = try #require(await world.engine.runs().first)
        #expect(running.progress == RunProgress(phase: .push, done: 2, total: 5))
        #expect(await world.engine.cancel(run: running.id))
        gate.open()
        let run = await push
        #expect(run.state == .cancelled)
        #expect(run.progress == nil)
        #expect(run.push?.applied == 3)
        #expect(try await world.open().count == 2)
    }

    @Test func `a pull reports how many rows it received and how many there are`() async throws {
        let world = try World()
        for number in 0..<120 { try await world.seed("r\(number)", #"{"text":"x"}"#) }
        let gate = Gate()
        world.transport.decide { _, number in number == 3 ? .held(gate) : nil }
        async let pull = world.engine.pull(world.todo)
        await gate.waitForArrival()
        // The third page may be requested before the second is applied.
        var progress: RunProgress?
        while progress.map({ $0.done < 100 }) ?? true {
            await Task.yield()
            progress = await world.engine.runs().first?.progress
        }
        #expect(progress == RunProgress(phase: .pull, done: 100, total: 120))
        gate.open()
        #expect(await pull.state == .complete)
    }

    @Test func `a caller that joins a running sync has its earlier write sent by that sync`()
        async throws
    {
        let world = try World()
        try await world.insert("early")
        let gate = Gate()
        let hasPushed = Atomic(false)
        world.transport.decide { request, _ in
            if request.head.method == .post { hasPushed.store(true, ordering: .relaxed) }
            return request.head.method == .get && hasPushed.load(ordering: .relaxed)
                ? .held(gate) : nil
        }
        async let sync = world.engine.sync()
        await gate.waitForArrival()
        try await world.insert("late")
        let joined = await world.engine.startSync()
        gate.open()
        let run = await sync
        #expect(run.id == joined)
        #expect(run.push?.applied == 2 && run.push?.left == 0)
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("late") != nil)
    }

    @Test(.ends)
    func `a cancelled caller waits for the run in progress and does not disturb it`() async throws {
        let world = try World()
        try await world.insert("a")
        let gate = Gate()
        world.transport.once(.held(gate)) { $0.head.method == .post }
        let engine = world.engine
        async let push = engine.push()
        await gate.waitForArrival()
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return await engine.push()
        }
        late.cancel()
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        let run = await push
        #expect(run.push?.applied == 1)
        #expect(await late.value.state != .running)
    }

    @Test func `a requested run can be cancelled, and its waiting callers get the result`()
        async throws
    {
        let world = try World()
        try await world.insert("a")
        let id = await world.engine.startSync()
        #expect(await world.engine.cancel(run: id))
        let run = await world.engine.result(of: id, timeout: .seconds(5))
        #expect(run?.state == .cancelled)
        #expect(world.transport.sent.isEmpty)
        #expect(await world.engine.cancel(run: id) == false)
    }

    @Test func `a minute's sample has successes, failures and the mean latency`()
        async throws
    {
        let world = try World()
        await world.engine.with { await $0.maintenance.run() }
        try await world.insert("a")
        try await world.insert("b")
        let clock = world.clock
        world.transport.decide { request, _ in
            clock.advance(by: .milliseconds(40))
            let isB = String(decoding: request.body, as: UTF8.self).contains(#""b""#)
            return isB ? .instead(Response(status: .badRequest, body: Array("{}".utf8))) : nil
        }
        _ = await world.engine.push()
        world.clock.advance(by: .seconds(61))
        await world.engine.with { await $0.maintenance.run() }
        let sample = try #require(
            try await world.engine.samples(since: .earliest, stepSeconds: 60).first)
        #expect((sample.depth, sample.succeeded, sample.failed) == (1, 2, 1))
        #expect((40...60).contains(try #require(sample.latencyMilliseconds)))
        world.clock.advance(by: .seconds(61))
        await world.engine.with { await $0.maintenance.run() }
        let quiet = try #require(
            try await world.engine.samples(since: .earliest, stepSeconds: 60).last)
        #expect((quiet.succeeded, quiet.failed) == (0, 0))
        #expect(quiet.latencyMilliseconds == nil)
    }

    @Test(.ends)
    func `a caller with a timeout of zero gets the run's state at once`() async throws {
        let world = try World()
        // The loop does not run, so a caller that waited for the end would wait for ever.
        let id = await world.engine.startSync()
        await withTaskGroup { group in
            // Other callers keep the engine busy, so that a caller begins to wait late.
            for _ in 0..<4 {
                group.addTask { while !Task.isCancelled { _ = await world.engine.runs() } }
            }
            for _ in 0..<2000 {
                #expect(await world.engine.result(of: id, timeout: .zero)?.state == .running)
            }
            group.cancelAll()
        }
    }
}
