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
    private static func answer(_ status: Int) -> Response {
        Response(status: .init(code: status), body: Array(#"{"error":"no"}"#.utf8))
    }

    @Test func `pulled rows are stamped in their order, before what is written later`()
        async throws
    {
        let world = try World()
        try await world.insert("first")
        for number in 0..<70 { try await world.seed("r\(number)", #"{"n":\#(number)}"#) }
        #expect(await world.engine.pull(world.todo).state == .complete)
        // A second page that brings a single row may not give the other rows' stamps again.
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
    func `every way of stamping is pulled whole`(
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

    @Test func `a table whose filter is refused is paged by skipping, and that is remembered`()
        async throws
    {
        let world = try World()
        try await world.fill(120)
        world.transport.decide { request, _ in
            request.head.path?.contains("%20or%20") == true ? .instead(Self.answer(500)) : nil
        }
        let run = await world.engine.pull(world.todo)
        #expect(run.state == .complete, "\(run)")
        #expect(try await world.itemCount() == 120)
        #expect(try await world.store.tables().first?.paging == .skipInTies)
        world.clock.advance(by: .seconds(60))
        world.transport.forget()
        _ = await world.engine.pull(world.todo)
        #expect(!world.transport.targets.contains { $0.contains("%20or%20") })
        // It may have been chance: whoever compares every row asks anew.
        world.transport.decide { _, _ in nil }
        _ = await world.engine.pull(world.todo, reconcile: true)
        #expect(try await world.store.tables().first?.paging == .keyset)
    }

    @Test(arguments: [
        answer(408), answer(503), Response(status: .ok, body: Array(#"[{"id":"#.utf8)),
        Response(status: .ok, body: Array("<html></html>".utf8)),
    ])
    func `a late or torn answer says nothing about the filter`(_ answer: Response) async throws {
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

    @Test func `a pull that is cut short goes on where it was`() async throws {
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

    @Test func `rows with local changes keep them, and the backend's row is laid beside`()
        async throws
    {
        let world = try World()
        try await world.fill(3)
        _ = await world.engine.pull(world.todo)
        world.clock.advance(by: .seconds(60))
        try await world.elsewhere("PATCH", "r1001", #"{"other":"theirs"}"#)
        try await world.update("r1001", #"{"text":"mine"}"#)
        // The push fails, the pull goes on.
        world.transport.once(.instead(Self.answer(400))) { $0.head.method == .patch }
        let run = await world.engine.pull(world.todo)
        #expect(run.pull.first?.skippedDirty == 1, "\(run)")
        #expect(try await world.local("r1001")?.columns["text"] == .string("mine"))
    }

    @Test func `pages are asked for while others are applied, and those share a transaction`()
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
            // The fourth page comes when the two before it are applied.
            if report.applied >= 150 { fourth.open() }
        }
        async let end = pass.run()
        await first.reached()
        // The writer is busy until the fourth page is asked for: the second and the third wait then.
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

    @Test func `what came before a page that fails is applied`() async throws {
        let world = try World()
        try await world.fill(150)
        let pages = Mutex(0)
        world.transport.decide { _, _ in
            pages.withLock { pages in
                pages += 1
                return pages > 2 ? .notSent : nil
            }
        }
        let pass = PullPass(
            store: world.store, remote: try world.remote(), request: PullRequest(table: world.todo),
            pageRows: 50, cancel: CancelFlag(), log: .init(label: "test"), progress: { _ in })
        let end = await pass.run()
        #expect(end.report.error != nil)
        #expect(end.report.applied == 100)
        #expect(try await world.itemCount() == 100)
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
        await gate.reached()
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
            request.head.method == .post ? .instead(Self.answer(400)) : nil
        }
        let run = await world.engine.sync()
        #expect(run.state == .completeWithErrors)
        #expect(run.pull.first?.applied == 5)
        #expect(try await world.itemCount() == 6)
    }

    @Test func `a reconcile removes what the backend deleted for good`() async throws {
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
        let run = await world.engine.pull(world.todo, reconcile: true)
        #expect(run.pull.first?.deleted == 1, "\(run)")
        #expect(try await world.local("r1010") == nil)
        #expect(try await world.row("r1010")?.deleted == true)
        #expect(try await world.local("fresh") != nil)
    }

    @Test func `a whole table misses no row when others are deleted for good while it is pulled`()
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
            if target.contains("updatedAt") { return .instead(Self.answer(500)) }
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
        // They came before they went: the next pull finds them gone.
        world.clock.advance(by: .seconds(60))
        _ = await world.engine.pull(world.todo)
        #expect(try await world.itemCount() == 127)
    }

    @Test func `a backend that gives all rows whatever is asked for is pulled, and that is said`()
        async throws
    {
        let world = try World()
        let rows = (100..<160).map { number in
            #"{"id":"\#(number)","updatedAt":"2020-01-01T00:00:00.\#(number)Z","version":"v"}"#
        }
        let all = Response(
            status: .ok, headerFields: [.contentType: "application/json"],
            body: Array("[\(rows.joined(separator: ","))]".utf8))
        world.transport.decide { _, _ in .instead(all) }
        for _ in 0..<2 {
            world.transport.forget()
            #expect(await world.engine.pull(world.todo).state == .complete)
            #expect(world.transport.targets.count < 8)
            #expect(try await world.itemCount() == 60)
            world.clock.advance(by: .seconds(60))
        }
        #expect(try await world.store.tables().first?.warning?.contains("all rows") == true)
    }

    @Test func `a filtered pull has a token for each query id and filter`() async throws {
        let world = try World()
        try await world.fill(20)
        let filter = try PullQuery(parsing: "text eq '3' or text eq '19'")
        let first = await world.engine.pull(world.todo, query: filter, queryID: "q")
        #expect(first.pull.first?.applied == 2)
        #expect(try await world.store.tables().first?.isComplete == false)
        world.clock.advance(by: .seconds(60))
        let same = await world.engine.pull(world.todo, query: filter, queryID: "q")
        #expect(same.pull.first?.received == 1)
        let other = await world.engine.pull(
            world.todo, query: try PullQuery(parsing: "text eq '4'"), queryID: "q")
        #expect(other.pull.first?.applied == 1)
    }

    @Test(arguments: [BackendFlavour.mobileServices, .mobileApps, .dotnet, .datasync, .toolkit])
    func `a filter is sent in the backend's own words, whichever the developer used`(
        flavour: BackendFlavour
    ) async throws {
        let world = try World(BackendOptions(flavour: flavour))
        for number in 0..<60 { try await world.seed("r\(number)", #"{"text":"\#(number)"}"#) }
        for text in ["substringof('7',text)", "$filter=contains(text,'7')&list=a%20b"] {
            world.transport.forget()
            let run = await world.engine.pull(world.todo, query: try PullQuery(parsing: text))
            #expect(run.state == .complete, "\(run)")
            #expect(run.pull.first?.received == 6, "\(run)")
            let isThird = await world.engine.generation == .datasync
            #expect(isThird == (flavour == .datasync || flavour == .toolkit))
            let wanted = isThird ? "contains(text,'7')" : "substringof('7',text)"
            #expect(world.transport.targets.contains { $0.contains(wanted) })
            #expect(
                world.transport.targets.contains { $0.hasSuffix("&list=a%20b") }
                    == text.contains("list"))
        }
    }

    @Test func `a filter that the backend has no words for is said and nothing is asked`()
        async throws
    {
        let world = try World(BackendOptions(flavour: .toolkit))
        try await world.seed("a", #"{"text":"x"}"#)
        _ = await world.engine.sync()
        _ = await world.engine.pull(world.todo)
        world.transport.forget()
        let query = try PullQuery(parsing: "replace(text,'a','b') eq 'b'")
        let run = await world.engine.pull(world.todo, query: query)
        #expect(run.state == .completeWithErrors)
        #expect(run.reason?.contains("no function 'replace'") == true, "\(run)")
        #expect(world.transport.sent.isEmpty)
    }

    @Test(arguments: [
        "$select=text", "$filter=a eq 1&$orderby=a", "$top=5", "$skip=1", "$inlinecount=allpages",
        "$count=true", "__includeDeleted=true", "__systemProperties=*", "text eq",
    ])
    func `a pull takes no options but a filter that can be read`(text: String) {
        let error = #expect(throws: ODataError.self) { try PullQuery(parsing: text) }
        #expect(error?.option == (text.contains("=") ? error?.option : "$filter"))
        #expect(error?.reason.isEmpty == false)
    }

    @Test func `the same filter in other words is the same query`() throws {
        let one = try PullQuery(parsing: "$filter=substringof('x',text)")
        #expect(try PullQuery(parsing: "contains(text,'x')") == one)
        #expect(try PullQuery(parsing: "text eq 'a=b'").filter != nil)
        #expect(try PullQuery(parsing: "") == PullQuery())
    }

    @Test func `a reconcile lets go of what left the query, and keeps what something else brought`()
        async throws
    {
        let world = try World()
        for id in ["stays", "leaves", "shared", "gone", "edited"] {
            try await world.elsewhere("POST", nil, #"{"id":"\#(id)","open":true,"tag":1}"#)
        }
        try await world.elsewhere("POST", nil, #"{"id":"other","open":false,"tag":1}"#)
        let open = try PullQuery(parsing: "open eq true")
        let tagged = try PullQuery(parsing: "id eq 'shared'")
        _ = await world.engine.pull(world.todo, query: open, queryID: "open")
        _ = await world.engine.pull(world.todo, query: tagged, queryID: "tagged")
        #expect(try await world.itemCount() == 5)
        world.clock.advance(by: .seconds(60))
        for id in ["leaves", "shared", "edited"] {
            try await world.elsewhere("PATCH", id, #"{"open":false}"#)
        }
        try await world.elsewhere("DELETE", "gone")
        world.transport.decide { request, _ in
            request.head.method == .patch ? .instead(Self.answer(400)) : nil
        }
        try await world.update("edited", #"{"tag":2}"#)
        let plain = await world.engine.pull(world.todo, query: open, queryID: "open")
        #expect(plain.pull.first?.deleted == 1)
        #expect(try await world.local("leaves") != nil)
        let run = await world.engine.pull(
            world.todo, query: open, queryID: "open", reconcile: true)
        #expect(run.pull.first?.deleted == 1, "\(run)")
        #expect(try await world.local("stays") != nil)
        #expect(try await world.local("leaves") == nil)
        #expect(try await world.row("leaves")?.deleted == true)
        #expect(try await world.local("gone") == nil)
        #expect(try await world.local("shared") != nil)
        #expect(try await world.local("edited") != nil)
        // What left comes back with the whole table, which then vouches for it.
        _ = await world.engine.pull(world.todo)
        #expect(try await world.local("leaves") != nil)
        #expect(try await world.local("other") != nil)
        let again = await world.engine.pull(
            world.todo, query: open, queryID: "open", reconcile: true)
        #expect(again.pull.first?.deleted == 0, "\(again)")
    }

    @Test func `a table that the backend does not have is told and does not stop the others`()
        async throws
    {
        var options = BackendOptions()
        options.unknownTable = .notFound
        let world = try World(options)
        try await world.fill(3)
        let missing = try #require(TableName("missing"))
        await world.engine.update(SyncSettings(triggers: [.manual], tables: [missing, world.todo]))
        let run = await world.engine.sync()
        #expect(run.state == .completeWithErrors, "\(run)")
        #expect(run.pull.contains { $0.table == "todoitem" && $0.applied == 3 })
    }
}
