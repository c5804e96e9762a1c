import Backend
import Dispatch
import HTTPMessage
import HTTPTypes
import Logging
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct PullTests {
    @Test func `pulled rows are stamped in their order, before what is written later`()
        async throws
    {
        let world = try World()
        try await world.insert("first")
        for number in 0..<70 { try await world.seed("r\(number)", #"{"n":\#(number)}"#) }
        #expect(await world.engine.pull(world.todo).state == .complete)
        // A second page with a single row must not reuse the stamps of the first page.
        _ = try await world.elsewhere("PATCH", "r7", #"{"n":700}"#)
        #expect(await world.engine.pull(world.todo).state == .complete)
        try await world.insert("last")
        var stamps: [Int64] = []
        for id in (0..<70).filter({ $0 != 7 }).map({ "r\($0)" }) + ["r7", "last"] {
            stamps.append(try #require(try await world.row(id)).updatedAt.milliseconds)
        }
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `a first pull takes all, the next only what changed`() async throws {
        let world = try World()
        try await world.fill(120)
        let run = await world.engine.pull(world.todo)
        #expect(run.state == .complete, "\(run)")
        #expect(run.pull.first?.applied == 120)
        #expect(try await world.itemCount() == 120)
        #expect(try await world.store.tables().first?.isComplete == true)
        world.clock.advance(by: .seconds(60))
        try await world.elsewhere("PATCH", "r1005", #"{"text":"new"}"#)
        try await world.elsewhere("DELETE", "r1006")
        let next = await world.engine.pull(world.todo)
        #expect(next.pull.first?.applied == 1)
        #expect(next.pull.first?.deleted == 1)
        #expect((next.pull.first?.received ?? 99) < 20)
        #expect(try await world.local("r1005")?.columns["text"] == .string("new"))
        #expect(try await world.local("r1006") == nil)
    }

    static let stamps: [BackendOptions.Stamps] = [
        .increasing, .ties(everyMilliseconds: 100_000), .subMillisecond, .none,
    ]

    @Test(arguments: stamps, BackendFlavour.allCases)
    func `a table is pulled completely whatever the backend's timestamps`(
        stamps: BackendOptions.Stamps, flavour: BackendFlavour
    ) async throws {
        var options = BackendOptions(flavour: flavour)
        options.stamps = stamps
        let world = try World(options)
        for number in 0..<130 {
            try await world.seed("r\(1000 + number)", #"{"text":"\#(number)"}"#)
        }
        let run = await world.engine.pull(world.todo)
        #expect(run.state == .complete, "\(run)")
        #expect(try await world.itemCount() == 130)
        let again = await world.engine.pull(world.todo)
        #expect(again.pull.first?.applied == 0, "\(again)")
    }

    @Test func `a table whose filter is refused is paged by $skip, and the choice is stored`()
        async throws
    {
        let world = try World()
        try await world.fill(120)
        world.transport.decide { request, _ in
            request.head.path?.contains("%20or%20") == true ? .instead(.refusal(500)) : nil
        }
        let run = await world.engine.pull(world.todo)
        #expect(run.state == .complete, "\(run)")
        #expect(try await world.itemCount() == 120)
        #expect(try await world.store.tables().first?.paging == .skipInTies)
        world.clock.advance(by: .seconds(60))
        world.transport.forget()
        _ = await world.engine.pull(world.todo)
        #expect(!world.transport.targets.contains { $0.contains("%20or%20") })
        // The refusal may have been temporary, so a reconcile tries the filter again.
        world.transport.decide { _, _ in nil }
        _ = await world.engine.pull(world.todo, reconcile: true)
        #expect(try await world.store.tables().first?.paging == .keyset)
    }

    @Test(arguments: [
        Response.refusal(408), Response.refusal(503),
        Response(status: .ok, body: Array(#"[{"id":"#.utf8)),
        Response(status: .ok, body: Array("<html></html>".utf8)),
    ])
    func `a failed response does not change how the table is paged`(_ answer: Response) async throws
    {
        let world = try World()
        try await world.fill(120)
        world.transport.decide { request, _ in
            request.head.path?.contains("orderby") == true ? .instead(answer) : nil
        }
        #expect(await world.engine.pull(world.todo).pull.first?.error != nil)
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(60))
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await world.itemCount() == 120)
        #expect(try await world.store.tables().first?.paging == .keyset)
    }

    @Test func `an interrupted pull continues from its last page`() async throws {
        let world = try World()
        try await world.fill(200)
        world.transport.decide { _, number in number >= 3 ? .notSent : nil }
        let cut = await world.engine.pull(world.todo)
        #expect(cut.state == .offline, "\(cut)")
        let had = try await world.itemCount()
        #expect((50..<200).contains(had))
        #expect(try await world.store.tables().first?.isComplete == false)
        world.transport.decide { _, _ in nil }
        let (store, engine) = try world.reborn()
        let run = await engine.pull(world.todo)
        #expect(run.state == .complete)
        #expect((run.pull.first?.applied ?? 0) == 200 - had)
        #expect(try await store.tables().first?.isComplete == true)
    }

    @Test
    func `pages are requested while others are applied, and waiting pages share a transaction`()
        async throws
    {
        let world = try World()
        try await world.fill(200)
        let (first, fourth) = (Gate(), Gate())
        let busy = DispatchSemaphore(value: 0)
        let requests = Mutex(0)
        world.transport.decide { _, _ in
            let request = requests.withLock { requests in
                requests += 1
                return requests
            }
            if request == 4 { busy.signal() }
            return request == 1 ? .held(first) : request == 4 ? .held(fourth) : nil
        }
        let applied = Mutex<[Int]>([])
        let pass = PullPass(
            store: world.store, remote: try world.remote(), request: PullRequest(table: world.todo),
            pageRows: 50, cancel: CancelFlag(), log: .init(label: "test")
        ) { report in
            applied.withLock { $0.append(report.applied) }
            // The fourth page is answered after the two before it are applied.
            if report.applied >= 150 { fourth.open() }
        }
        async let end = pass.run()
        await first.waitForArrival()
        // The writer is busy until the fourth page is requested, so pages two and three wait.
        let store = world.store
        let write = Task.immediate {
            try await store.write { _ in busy.wait(timeout: .now() + 10) }
        }
        first.open()
        #expect(try await write.value == .success, "no page was asked for while one was applied")
        #expect(await end.report.error == nil)
        #expect(applied.withLock { $0 } == [50, 150, 200])
        #expect(try await world.itemCount() == 200)
    }

    @Test func `a page that is older than a push outcome does not undo it`() async throws {
        let world = try World()
        try await world.fill(1)
        _ = await world.engine.pull(world.todo)
        world.clock.advance(by: .seconds(5))
        let gate = Gate()
        // The page is read at the backend, then waits; meanwhile an update is pushed.
        world.transport.once(.held(gate)) { $0.head.path?.contains("orderby") == true }
        let pass = PullPass(
            store: world.store, remote: try world.remote(), request: PullRequest(table: world.todo),
            pageRows: 50, cancel: CancelFlag(), log: .init(label: "test"), progress: { _ in })
        async let end = pass.run()
        await gate.waitForArrival()
        try await world.update("r1000", #"{"text":"pushed"}"#)
        _ = await world.engine.push()
        gate.open()
        _ = await end
        #expect(try await world.local("r1000")?.columns["text"] == .string("pushed"))
    }

    @Test func `a stuck operation does not keep its table from being pulled`() async throws {
        let world = try World()
        try await world.insert("mine")
        try await world.fill(5)
        world.transport.decide { request, _ in
            request.head.method == .post ? .instead(.refusal(400)) : nil
        }
        let run = await world.engine.sync()
        #expect(run.state == .completeWithErrors)
        #expect(run.pull.first?.applied == 5)
        #expect(try await world.itemCount() == 6)
    }

    @Test(arguments: [false, true])
    func `a reconcile removes what the backend deleted for good`(
        refusesOlder: Bool
    ) async throws {
        var options = BackendOptions()
        options.dynamicTable = TableOptions(softDelete: false)
        let world = try World(options)
        try await world.fill(60)
        _ = await world.engine.pull(world.todo)
        try await world.elsewhere("DELETE", "r1010")
        world.clock.advance(by: .seconds(60))
        _ = await world.engine.pull(world.todo)
        #expect(try await world.local("r1010") != nil)
        try await world.insert("fresh")
        let run = await world.engine.pull(
            world.todo, reconcile: true, refusesOlder: refusesOlder)
        #expect(run.pull.first?.deleted == 1, "\(run)")
        #expect(try await world.local("r1010") == nil)
        #expect(try await world.row("r1010")?.deleted == true)
        #expect(try await world.local("fresh") != nil)
    }

    @Test func `a full pull misses no row when others are hard-deleted meanwhile`()
        async throws
    {
        var options = BackendOptions()
        options.dynamicTable = TableOptions(softDelete: false)
        let world = try World(options)
        try await world.fill(130)
        let backend = world.backend
        let gone = Mutex(["r1003", "r1004", "r1005"])
        // Refuses whatever names a time, and loses three rows before each page that is not the first.
        world.transport.decide { request, _ in
            let target = request.head.path ?? ""
            if target.contains("updatedAt") { return .instead(.refusal(500)) }
            guard target.contains("$skip=49") else { return nil }
            let ids = gone.withLock { ids in
                defer { ids = [] }
                return ids
            }
            for id in ids {
                _ = backend.respond(to: .tables("DELETE", "/tables/todoitem/\(id)"))
            }
            return nil
        }
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await world.store.tables().first?.paging == .full)
        for number in (1000..<1130) where !(1003...1005).contains(number) {
            #expect(try await world.local("r\(number)") != nil, "r\(number)")
        }
        // The pull read these rows before the deletion, so the next pull removes them.
        world.clock.advance(by: .seconds(60))
        _ = await world.engine.pull(world.todo)
        #expect(try await world.itemCount() == 127)
    }

    @Test func `a backend that ignores the query is pulled, with a warning`()
        async throws
    {
        let world = try World()
        for year in [2020, 2021] {
            let rows = (100..<160).map { number in
                #"{"id":"\#(number)","text":"\#(number) of \#(year)","#
                    + #""updatedAt":"\#(year)-01-01T00:00:00.\#(number)Z","version":"\#(year)"}"#
            }
            let all = Response.json("[\(rows.joined(separator: ","))]")
            world.transport.forget()
            world.transport.decide { _, _ in .instead(all) }
            #expect(await world.engine.pull(world.todo).state == .complete)
            #expect((1..<8).contains(world.transport.targets.count))
            #expect(try await world.itemCount() == 60)
            for number in 100..<160 {
                let text = try await world.local("\(number)")?.columns["text"]
                #expect(text == .string("\(number) of \(year)"))
            }
            world.clock.advance(by: .seconds(60))
        }
        #expect(try await world.store.tables().first?.warning?.contains("all rows") == true)
    }

    @Test func `a table that the backend does not have is reported and does not stop the others`()
        async throws
    {
        var options = BackendOptions()
        options.unknownTable = .notFound
        let world = try World(options)
        try await world.fill(3)
        let missing = try #require(TableName("missing"))
        await world.engine.update { _ in
            SyncSettings(triggers: [.manual], tables: [missing, world.todo])
        }
        let run = await world.engine.sync()
        #expect(run.state == .completeWithErrors, "\(run)")
        #expect(run.pull.contains { $0.table == "todoitem" && $0.applied == 3 })
    }
}
