import Backend
import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Operations that are marked in flight while earlier requests run.
@Suite(.ends) struct MarkedInFlightTests {
    private let world: World

    init() throws {
        world = try World(settings: SyncSettings(triggers: [.manual], parallelism: 2))
    }

    private var posts: Int { world.transport.sent.count { $0.head.method == .post } }

    /// Begins a push of six inserts; returns once two are at the backend, which holds or loses their
    /// responses, and two more are marked in flight. The next probe waits for the gate.
    private func begin(
        proof: Gate? = nil, _ fault: @escaping @Sendable (Int) -> FaultyTransport.Fault
    ) async throws -> Task<Run, Never> {
        for id in ["a", "b", "c", "d", "e", "f"] { try await world.insert(id) }
        // Two requests arrive at once, and each gets its own number.
        let posted = Atomic(0)
        world.transport.decide { request, _ in
            guard request.head.method == .post else {
                let isLate = posted.load(ordering: .relaxed) >= 2
                return isLate ? proof.map { .held($0) } : nil
            }
            let number = posted.add(1, ordering: .relaxed).newValue
            return number <= 2 ? fault(number) : nil
        }
        let engine = world.engine
        let run = Task { await engine.push() }
        while try await world.operations([.sending]).count < 4 { await Task.yield() }
        while posts < 2 { await Task.yield() }
        return run
    }

    @Test func `all slots send, and as many operations again are marked in flight`()
        async throws
    {
        let gate = Gate()
        let run = try await begin { _ in .held(gate) }
        for _ in 0..<100 { await Task.yield() }
        #expect(posts == 2)
        #expect(try await world.operations([.sending]).map(\.itemID) == ["a", "b", "c", "d"])
        #expect(try await world.operations([.queued]).map(\.itemID) == ["e", "f"])
        gate.open()
        #expect(await run.value.push?.applied == 6)
        #expect(try await world.backend.effects().count == 6)
    }

    @Test
    func `marked operations are sent after a new probe, in the same push`()
        async throws
    {
        let (lost, slow, proof) = (Gate(), Gate(), Gate())
        let run = try await begin(proof: proof) { $0 == 1 ? .lostAfter(lost) : .held(slow) }
        let before = world.transport.targets.count
        lost.open()
        // The probe is sent while the other request still runs.
        while world.transport.targets.count == before { await Task.yield() }
        #expect(world.transport.targets[before].hasPrefix("GET"))
        while try await world.operations([.waiting]).count < 2 { await Task.yield() }
        #expect(posts == 2)
        proof.open()
        slow.open()
        let push = await run.value.push
        #expect(push?.applied == 5)
        let left = try await world.open()
        #expect(left.map(\.state) == [.unknown])
        #expect(try await world.backend.effects().count == 6)
        // Any two of the first four may have been sent: slots are granted in order, but the tasks
        // start in any order.
        var logs: [[AttemptRecord]] = []
        for operation in try await world.operations([.done]) {
            logs.append(try #require(try await world.store.lists.operation(operation.id)).attempts)
        }
        #expect(logs.count { $0.map(\.outcome) == ["done"] } == 3)
        let held = logs.filter { $0.map(\.outcome) == ["waiting", "done"] }
        #expect(
            held.map { $0.first?.error }
                == Array(
                    repeating: "It was not sent: the backend failed for another change first.",
                    count: 2))
    }

    @Test func `a stopped push does not send operations that it only marked in flight`()
        async throws
    {
        let gate = Gate()
        let run = try await begin { _ in .held(gate) }
        let id = try #require(await world.engine.runs().first?.id)
        #expect(await world.engine.cancel(run: id))
        gate.open()
        let ended = await run.value
        #expect(ended.state == .cancelled && ended.push?.applied == 2)
        #expect(posts == 2)
        let open = try await world.open()
        #expect(open.map(\.state) == [.waiting, .waiting, .queued, .queued])
        #expect(open.first?.reason == "It was not sent: the push was stopped first.")
        #expect(await world.engine.push().push?.applied == 4)
        #expect(try await world.backend.effects().count == 6)
    }

    @Test func `with one request at a time nothing is marked in flight ahead of it`() async throws {
        let world = try World()
        for id in ["a", "b"] { try await world.insert(id) }
        let gate = Gate()
        world.transport.once(.held(gate)) { $0.head.method == .post }
        async let run = world.engine.push()
        await gate.waitForArrival()
        for _ in 0..<100 { await Task.yield() }
        #expect(try await world.operations([.sending]).map(\.itemID) == ["a"])
        gate.open()
        _ = await run
    }
}
