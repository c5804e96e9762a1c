import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Writes that are sent while their clients wait.
@Suite struct LiveWritesTests {
    /// What a client that waits was told.
    private struct Told: Sendable, Equatable {
        /// Whether there was a verdict in time.
        var isAnswered: Bool
        var state: OperationState?
        var status: Int?
        var body: String?
        var isWithdrawn = false
    }

    /// Writes, and sends the write as the proxy does: what the backend refuses is withdrawn.
    private func send(
        _ action: WriteAction, _ world: World, client: String = "1"
    ) async throws -> Told {
        let (outcome, write) = try await written(action, world, client: client)
        return try await send(write, outcome, world)
    }

    private func written(
        _ action: WriteAction, _ world: World, client: String = "1"
    ) async throws -> (WriteOutcome, AwaitedWrite) {
        var local = LocalWrite(table: world.todo, action: action)
        local.isAwaited = true
        let outcome = await world.store.submit(local)
        let item = try #require(outcome.item, "\(outcome)")
        return (
            outcome,
            AwaitedWrite(
                table: world.todo, itemID: item.id, operation: outcome.operation?.id, client: client
            )
        )
    }

    private func send(
        _ write: AwaitedWrite, _ outcome: WriteOutcome, _ world: World
    ) async throws -> Told {
        let told = Mutex(Told(isAnswered: false))
        let isAnswered = await world.engine.send(write) { verdict in
            let first = verdict.standing.operation
            let isWaiting = verdict.asksToSignIn || verdict.hasFailed
            let isOver = first.map { OperationState.waitsForPerson.contains($0.state) } ?? true
            guard isOver || isWaiting else { return false }
            var isWithdrawn = false
            if let first, outcome.operation?.isOwn == true, outcome.operation?.id == first.id {
                isWithdrawn =
                    (try? await world.store.withdraw(first.id, isWaiting: isWaiting)) == true
            }
            let answer = verdict.answer
            let body = answer?.bytes.map { String(decoding: $0, as: UTF8.self) }
            let found = Told(
                isAnswered: true, state: first?.state, status: answer?.head.status.code, body: body,
                isWithdrawn: isWithdrawn)
            told.withLock { $0 = found }
            return true
        }
        if !isAnswered { world.engine.acknowledged(write) }
        return told.withLock { $0 }
    }

    private func insert(_ id: String) throws -> WriteAction {
        .insert(ItemBody(id: try ItemID(id), columns: Columns(stored: #"{"text":"milk"}"#)))
    }

    private func answer(_ status: Int, _ body: String, type: String = "application/json")
        -> Response
    {
        Response(
            status: .init(code: status), headerFields: [.contentType: type], body: Array(body.utf8))
    }

    private func proven() async throws -> World {
        let world = try World()
        try await world.seed("z", #"{"text":"old"}"#)
        #expect(await world.engine.sync().state == .complete)
        _ = await world.engine.pull(world.todo)
        world.transport.forget()
        return world
    }

    @Test func `a write takes one request, and no run`() async throws {
        let world = try await proven()
        let runs = await world.engine.runs().count
        let told = try await send(try insert("a"), world)
        #expect(told == Told(isAnswered: true, status: 201, body: told.body))
        #expect(world.transport.targets == ["POST /tables/todoitem"])
        #expect(await world.engine.runs().count == runs)
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("a")?.columns.text == world.local("a")?.columns.text)
        #expect(try await world.store.ledger().balances)
    }

    @Test func `the first write proves the backend before it is sent`() async throws {
        let world = try World()
        let told = try await send(try insert("a"), world)
        #expect(told.isAnswered && told.status == 201)
        #expect(world.transport.targets.map { $0.prefix(4) } == ["GET ", "POST"])
    }

    @Test
    func `writes of several clients are sent side by side, whatever the queue's parallelism is`()
        async throws
    {
        let world = try await proven()
        let gate = Gate()
        world.transport.decide { request, _ in request.head.method == .post ? .held(gate) : nil }
        let ids = (0..<8).map { "row\($0)" }
        try await withThrowingTaskGroup(of: Told.self) { group in
            for id in ids {
                let action = try insert(id)
                group.addTask { try await self.send(action, world, client: id) }
            }
            // All are at the backend before the first is answered.
            while world.transport.sent.count < ids.count { await Task.yield() }
            gate.open()
            for try await told in group { #expect(told.isAnswered && told.status == 201) }
        }
        #expect(try await world.open().isEmpty)
    }

    @Test func `a write behind its table's queue, its client's or its item's is not awaited`()
        async throws
    {
        let world = try await proven()
        try await world.insert("queued")
        #expect(try await !send(try insert("b"), world).isAnswered)
        #expect(world.transport.sent.isEmpty)
        _ = await world.engine.push()
        #expect(try await send(try insert("c"), world).isAnswered)

        // An answer that is no verdict leaves the change open, and what its client sends next stays behind it.
        world.transport.once(.instead(answer(500, "<html>", type: "text/html"))) {
            $0.head.method == .post
        }
        #expect(try await !send(try insert("d"), world, client: "slow").isAnswered)
        #expect(try await !send(try insert("e"), world, client: "slow").isAnswered)
        let states = try await world.open().map(\.state)
        #expect(Set(states) == [.unknown, .queued])
    }

    @Test func `a refusal comes as the backend said it, and nothing of the write is left`()
        async throws
    {
        let world = try await proven()
        let body = #"{"error":"no","why":[1]}"#
        world.transport.once(.instead(answer(422, body))) { $0.head.method == .post }
        let told = try await send(try insert("a"), world)
        #expect(
            told
                == Told(
                    isAnswered: true, state: .quarantined, status: 422, body: body,
                    isWithdrawn: true))
        #expect(try await world.open().isEmpty)
        #expect(try await world.local("a") == nil)
        #expect(try await world.store.ledger().balances)
    }

    @Test func `a 500 in the backend's own JSON is told if the row shows no effect`() async throws {
        let world = try await proven()
        let body = #"{"error":"column"}"#
        world.transport.once(.instead(answer(500, body))) { $0.head.method == .post }
        let told = try await send(try insert("a"), world)
        #expect(
            told
                == Told(
                    isAnswered: true, state: .waiting, status: 500, body: body, isWithdrawn: true))
        #expect(try await world.open().isEmpty)
        #expect(world.writes.count == 1)

        // The same answer after an effect is a success.
        world.transport.once(.answered(answer(500, body))) { $0.head.method == .post }
        #expect(
            try await send(try insert("b"), world)
                == Told(isAnswered: true, status: 500, body: body))
        #expect(try await world.local("b")?.columns.text == world.remote("b")?.columns.text)
    }

    @Test func `a 401 is told at once, and no operation waits for a sign-in`() async throws {
        let world = try await proven()
        let body = #"{"error":"sign in"}"#
        world.transport.once(.instead(answer(401, body))) { $0.head.method == .post }
        let told = try await send(try insert("a"), world)
        #expect(told.isAnswered && told.status == 401 && told.body == body && told.isWithdrawn)
        #expect(try await world.open().isEmpty)
    }

    @Test func `a write whose change another one is sending waits for that one's verdict`()
        async throws
    {
        let world = try await proven()
        let gate = Gate()
        world.transport.decide { request, _ in
            request.head.method == .patch ? .held(gate) : nil
        }
        let id = try ItemID("z")
        let columns = Columns(stored: #"{"text":"mine"}"#)
        async let first = send(.update(id, columns), world)
        while !world.transport.targets.contains(where: { $0.hasPrefix("PATCH") }) {
            await Task.yield()
        }
        let (outcome, write) = try await written(.update(id, columns), world, client: "2")
        #expect(outcome.operation?.isOwn == false)
        async let second = send(write, outcome, world)
        gate.open()
        let told = try await [first, second]
        #expect(told.allSatisfy { $0.isAnswered && $0.state == nil })
        #expect(world.writes.count == 1)
    }

    @Test func `offline mode leaves a write in the queue at once`() async throws {
        let world = try await proven()
        await world.engine.setMode(.offline(until: nil))
        #expect(try await !send(try insert("a"), world).isAnswered)
        await world.engine.setMode(.online)
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.remote("a") != nil)
    }
}
