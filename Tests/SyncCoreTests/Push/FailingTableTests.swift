import Backend
import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// The backend fails for one table while it answers for another.
@Suite struct FailingTableTests {
    private let orders = TableName("orders")
    private static let all = SyncSettings(interval: .seconds(60))

    private static func answer(_ status: Int, after seconds: Int? = nil) -> Response {
        var fields: HTTPFields = [.contentType: "application/json"]
        fields[.retryAfter] = seconds.map(String.init)
        return Response(
            status: .init(code: status), headerFields: fields,
            body: Array(#"{"error":"no"}"#.utf8))
    }

    /// A world whose backend fails for requests of a method to the table orders.
    private func world(
        _ status: Int = 503, after seconds: Int? = nil, methods: Set<HTTPRequest.Method> = [.post],
        settings: SyncSettings = SyncSettings(triggers: [.manual])
    ) async throws -> World {
        let world = try World(settings: settings)
        try await write(world, "o-first")
        try await world.insert("t-first")
        #expect(await world.engine.sync().state == .complete)
        fail(world, status, after: seconds, methods: methods)
        return world
    }

    private func fail(
        _ world: World, _ status: Int, after seconds: Int? = nil,
        methods: Set<HTTPRequest.Method> = [.post], tables: [String] = ["orders"]
    ) {
        let answer = Self.answer(status, after: seconds)
        world.transport.decide { request, _ in
            let path = request.head.path ?? ""
            return methods.contains(request.head.method)
                && tables.contains(where: { path.hasPrefix("/tables/\($0)") })
                ? .instead(answer) : nil
        }
    }

    private func write(_ world: World, _ id: String) async throws {
        let orders = try #require(orders)
        let body = ItemBody(id: try ItemID(id), columns: Columns(stored: #"{"text":"\#(id)"}"#))
        let outcome = await world.store.submit(LocalWrite(table: orders, action: .insert(body)))
        guard case .inserted = outcome else { throw World.Failure("insert of \(id)") }
    }

    private func table(_ world: World, _ name: String = "orders") async throws -> TableStatus {
        try #require(try await world.store.tables().first { $0.name == name })
    }

    private func count(_ world: World, _ prefix: String) -> Int {
        world.transport.targets.filter { $0.hasPrefix(prefix) }.count
    }

    @Test(arguments: [502, 503, 504])
    func `a write that a table fails puts off that table, and the other is sent`(_ status: Int)
        async throws
    {
        let world = try await world(status)
        for number in 0..<20 { try await write(world, "o\(number)") }
        try await world.insert("t")
        world.transport.forget()
        fail(world, status)
        let run = await world.engine.push()
        #expect(run.state == .completeWithErrors, "\(run)")
        #expect(run.push?.applied == 1)
        #expect(run.reason?.hasPrefix("20 changes wait") == true, "\(run)")
        #expect(count(world, "POST /tables/orders") == 1)
        #expect(try await world.remote("t") != nil)
        #expect(await world.engine.backendStatus.state == .online)
        let open = try await world.open()
        #expect(open.map(\.state) == [.unknown] + Array(repeating: .queued, count: 19))
        // Each says why it is not sent, and when it is.
        let wait = try #require(try await table(world).pushWait)
        #expect(wait.reason.contains("orders (\(status))"))
        #expect(open.allSatisfy { $0.reason == wait.reason && $0.nextAttemptAt == wait.until })
        #expect(wait.request?.method == "POST" && wait.request?.path == "/tables/orders")
        #expect(wait.request?.status == status)
        #expect(try await table(world, "todoitem").pushWait == nil)
        // Nothing is due meanwhile.
        #expect(try await world.store.read { try $0.dueOperations.hasQueued() } == false)
        #expect(
            try await world.store.read { try $0.dueOperations.earliestAttempt() } == wait.until)
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(2))
        #expect(await world.engine.push(isExplicit: false).state == .complete)
        #expect(try await world.open().isEmpty)
        #expect(try await table(world).pushWait == nil)
        #expect(try await world.store.ledger().balances)
    }

    @Test func `the other table is pushed and pulled at its usual pace for 33 minutes`()
        async throws
    {
        let world = try await world(settings: Self.all)
        let orders = try #require(orders)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            for minute in 0..<33 {
                try await write(world, "o\(minute)")
                try await world.insert("t\(minute)")
                try await world.elsewhere("POST", nil, #"{"id":"e\#(minute)","text":"theirs"}"#)
                let start = world.clock.uptime()
                try await world.pass { try await world.remote("t\(minute)") != nil }
                #expect(world.clock.uptime() - start <= .seconds(10), "minute \(minute)")
                try await world.pass { try await world.local("e\(minute)") != nil }
                #expect(world.clock.uptime() - start <= .seconds(70), "minute \(minute)")
                let rest = Duration.seconds(60) - (world.clock.uptime() - start)
                if rest > .zero { try await world.pass(for: rest) }
                #expect(await world.engine.backendStatus.state == .online)
            }
            #expect(try await table(world).pending == 33)
            // Each failure doubles the bound of the wait, up to ten minutes.
            #expect((4...40).contains(count(world, "POST /tables/orders")))
            #expect(await world.engine.with { $0.context.memory.stalls } == 0)
            world.transport.decide { _, _ in nil }
            try await world.pass(for: .seconds(601))
            #expect(try await world.open().isEmpty)
            group.cancelAll()
        }
        for minute in 0..<33 {
            #expect(try await world.backend.effectCount(orders, "o\(minute)") == 1)
        }
    }

    @Test func `the time that the backend named for a table is obeyed to the second`() async throws
    {
        let world = try await world(503, after: 120, settings: Self.all)
        try await write(world, "o")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            try await world.pass { self.count(world, "POST /tables/orders") == 2 }
            let failed = world.clock.uptime()
            try await world.pass(for: .seconds(60))
            #expect(await world.engine.sync().state == .completeWithErrors)
            _ = await world.engine.push()
            #expect(count(world, "POST /tables/orders") == 2)
            #expect(try await table(world).pushWait?.notBefore != nil)
            try await world.pass { self.count(world, "POST /tables/orders") == 3 }
            let rest = world.clock.uptime() - failed
            #expect((Duration.seconds(119)...Duration.seconds(122)).contains(rest), "\(rest)")
            group.cancelAll()
        }
        // Another process obeys it, too.
        let (store, engine) = try world.reborn()
        #expect(await engine.push().state == .completeWithErrors)
        #expect(count(world, "POST /tables/orders") == 3)
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(121))
        #expect(await engine.push().state == .complete)
        #expect(try await store.ledger().queue.open == 0)
    }

    @Test func `a push that is asked for tries a table that waits for its backoff alone`()
        async throws
    {
        let world = try await world()
        for id in ["o1", "o2", "o3"] { try await write(world, id) }
        world.transport.forget()
        fail(world, 503)
        for pushes in 1...5 {
            _ = await world.engine.push()
            #expect(count(world, "POST /tables/orders") == pushes)
        }
        world.transport.decide { _, _ in nil }
        #expect(await world.engine.push().push?.applied == 3)
    }

    @Test func `one operation that always fails does not hold its table`() async throws {
        let world = try await world(settings: Self.all)
        world.transport.decide { request, _ in
            let text = String(decoding: request.body, as: UTF8.self)
            return request.head.method == .post && text.contains(#""id":"bad""#)
                ? .instead(Self.answer(503)) : nil
        }
        try await write(world, "bad")
        for number in 0..<30 { try await write(world, "o\(number)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            try await world.pass { try await world.open().count == 1 }
            #expect(world.clock.uptime() < .seconds(120))
            group.cancelAll()
        }
        #expect(try await world.open().map(\.itemID) == ["bad"])
    }

    @Test(arguments: [nil, 3600])
    func `a pull that a table fails puts off its pulls, and the other is pulled`(_ seconds: Int?)
        async throws
    {
        let world = try await world(503, after: seconds, methods: [.get])
        try await world.elsewhere("POST", nil, #"{"id":"e","text":"theirs"}"#)
        let run = await world.engine.sync()
        #expect(run.state == .completeWithErrors && run.reason?.contains("orders (503)") == true)
        #expect(try await world.local("e") != nil)
        #expect(await world.engine.backendStatus.state == .online)
        let failing = try await table(world)
        let wait = try #require(failing.pullWait)
        #expect(failing.pullError == wait.reason && wait.request?.method == "GET")
        #expect(try await table(world, "todoitem").pullWait == nil)
        // Its writes go on, and one that is asked for tries again, unless the backend named a time.
        try await write(world, "o")
        let before = count(world, "GET /tables/orders")
        #expect(await world.engine.sync().push?.applied == 1)
        #expect((count(world, "GET /tables/orders") == before) == (seconds != nil))
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(seconds ?? 0))
        #expect(await world.engine.sync().state == .complete)
        #expect(try await table(world).pullWait == nil)
    }

    @Test func `a pull that failed is tried again before the next sync`() async throws {
        let settings = SyncSettings(interval: .seconds(3000))
        let world = try await world(503, methods: [.get], settings: settings)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            try await world.pass { try await self.table(world).pullWait?.failures == 3 }
            world.transport.decide { _, _ in nil }
            try await world.pass { try await self.table(world).pullWait == nil }
            #expect(world.clock.uptime() < .seconds(60))
            group.cancelAll()
        }
    }

    @Test func `if both tables fail, the backend does`() async throws {
        let world = try await world()
        fail(world, 503, methods: [.get, .post], tables: ["orders", "todoitem"])
        try await write(world, "o")
        let run = await world.engine.push()
        #expect(run.state == .offline, "\(run)")
        let status = await world.engine.backendStatus
        #expect(status.state == .degraded)
        // What is shown is the request that failed.
        #expect(status.failedRequest?.method == "POST", "\(status)")
        #expect(status.failedRequest?.path == "/tables/orders")
        #expect(status.failedRequest?.status == 503)
        #expect(try await table(world).pushWait == nil)
        world.transport.decide { _, _ in nil }
        #expect(await world.engine.sync().state == .complete)
        #expect(await world.engine.backendStatus.failedRequest == nil)
    }

    @Test func `too many requests are about the caller, also in another process`() async throws {
        let world = try await world(429, after: 120)
        try await write(world, "o")
        try await world.insert("t")
        #expect(await world.engine.push().state == .offline)
        #expect(try await table(world).pushWait == nil)
        world.transport.forget()
        #expect(await world.engine.sync().state == .offline)
        #expect(world.transport.sent.isEmpty)
        let (_, engine) = try world.reborn()
        let run = await engine.sync()
        #expect(run.state == .offline, "\(run)")
        #expect(world.transport.sent.isEmpty)
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(121))
        #expect(await engine.sync().state == .complete)
        #expect(try await world.remote("t") != nil)
    }

    @Test func `a clock that was set back does not keep a table waiting`() async throws {
        let world = try await world(503, after: 3600)
        try await write(world, "o")
        _ = await world.engine.push()
        world.transport.decide { _, _ in nil }
        world.clock.jump(by: .seconds(-7200))
        #expect(await world.engine.push().state == .complete)
    }

    @Test(arguments: [1, 4])
    func `of operations in flight together, a table's failure counts once`(_ parallelism: Int)
        async throws
    {
        let settings = SyncSettings(triggers: [.manual], parallelism: parallelism)
        let world = try await world(settings: settings)
        for number in 0..<40 { try await write(world, "o\(number)") }
        for number in 0..<10 { try await world.insert("t\(number)") }
        world.transport.forget()
        fail(world, 503)
        let run = await world.engine.push()
        #expect(run.push?.applied == 10)
        #expect(count(world, "POST /tables/orders") <= parallelism)
        #expect(try await table(world).pushWait?.failures == 1)
        world.transport.decide { _, _ in nil }
        #expect(await world.engine.push().push?.applied == 40)
        #expect(try await world.store.ledger().balances)
    }

    // MARK: Long pushes

    @Test func `a table without changes is pulled while a long push is under way`() async throws {
        let world = try await world()
        for number in 0..<40 { try await write(world, "o\(number)") }
        try await world.elsewhere("POST", nil, #"{"id":"e","text":"theirs"}"#)
        world.transport.forget()
        world.transport.decide { request, _ in
            if request.head.method == .post { world.clock.advance(by: .milliseconds(250)) }
            return nil
        }
        let run = await world.engine.sync()
        #expect(run.state == .complete && run.push?.applied == 40, "\(run)")
        #expect(run.pull.map(\.table) == ["todoitem", "orders"])
        let targets = world.transport.targets
        let pulled = try #require(targets.firstIndex { $0.hasPrefix("GET /tables/todoitem") })
        let posts = targets[..<pulled].filter { $0.hasPrefix("POST") }.count
        #expect((1...12).contains(posts), "\(posts)")
        #expect(try await world.local("e") != nil)
    }

    @Test func `a long push that no person asked for makes way for a pull`() async throws {
        let world = try await world()
        for number in 0..<40 { try await write(world, "o\(number)") }
        try await world.elsewhere("POST", nil, #"{"id":"e","text":"theirs"}"#)
        let pull = Mutex<Task<Run, Never>?>(nil)
        world.transport.decide { request, number in
            guard request.head.method == .post else { return nil }
            world.clock.advance(by: .milliseconds(250))
            pull.withLock { task in
                task = task ?? Task { await world.engine.pull(world.todo, isExplicit: false) }
            }
            return nil
        }
        let run = await world.engine.push(isExplicit: false)
        #expect(run.state == .complete, "\(run)")
        #expect((run.push?.left ?? 0) > 20, "\(run)")
        #expect(await pull.withLock { $0 }?.value.state == .complete)
        #expect(try await world.local("e") != nil)
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.open().isEmpty)
    }
}
