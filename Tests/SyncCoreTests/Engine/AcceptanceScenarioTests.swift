import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Scenarios of the SDKs' own tests, under their names there. Where this queue behaves differently, a
/// comment says so.
@Suite struct AcceptanceScenarioTests {
    static let isWrite: @Sendable (Request) -> Bool = { $0.head.method != .get }

    func seeded(_ ids: [String], settings: SyncSettings = SyncSettings(triggers: [.manual]))
        async throws -> World
    {
        let world = try World(settings: settings)
        for id in ids { try await world.elsewhere("POST", nil, #"{"id":"\#(id)","text":"old"}"#) }
        _ = await world.engine.pull(world.todo)
        world.clock.advance(by: .seconds(60))
        world.transport.forget()
        return world
    }

    // MARK: iOS, MSSyncTableTests: collapsing two writes

    @Test func testInsertUpdateCollapseSuccess() async throws {
        let world = try World()
        try await world.insert("a", #"{"text":"milk"}"#)
        try await world.update("a", #"{"text":"bread"}"#)
        _ = await world.engine.push()
        #expect(world.writes == ["POST "])
        #expect(try await world.remote("a")?.columns["text"] == .string("bread"))
    }

    @Test func testInsertDeleteCollapseSuccess() async throws {
        let world = try World()
        try await world.insert("a")
        try await world.delete("a")
        _ = await world.engine.push()
        #expect(world.writes.isEmpty)
        #expect(try await world.backend.effects().isEmpty)
    }

    @Test func testUpdateDelete_CollapseToDelete_Success() async throws {
        let world = try await seeded(["a"])
        try await world.update("a", #"{"text":"new"}"#)
        try await world.delete("a")
        _ = await world.engine.push()
        #expect(world.writes == ["DELETE /a"])
    }

    @Test(arguments: ["testDeleteInsert", "testDeleteUpdate", "testDeleteDelete"])
    func testDelete_Collapse_Throws(scenario: String) async throws {
        let fixture = try StoreFixture(strictSDK: true)
        try await fixture.pull(try fixture.remote("a", #"{"text":"old"}"#, version: "v1"))
        try await fixture.delete("a")
        let id = try ItemID("a")
        let outcome =
            switch scenario {
            case "testDeleteInsert":
                await fixture.write(.insert(ItemBody(id: id, columns: Columns())))
            case "testDeleteUpdate":
                await fixture.write(.update(id, Columns(stored: #"{"text":"new"}"#)))
            default: await fixture.write(.delete(id))
            }
        guard case .invalid(let sentence) = outcome else {
            throw World.Failure("\(scenario): \(outcome)")
        }
        #expect(sentence.contains("-1150") && sentence.contains("delete"))
        #expect(try await fixture.chain("a").map(\.kind) == [.delete])
        #expect(try await fixture.store.ledger().balances)
    }

    // MARK: iOS: push

    @Test func testPushNetworkTimeoutWithErroredOps() async throws {
        let world = try await seeded(["a", "b", "c", "d"])
        for id in ["a", "b", "c", "d"] { try await world.update(id, #"{"text":"mine"}"#) }
        try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#)
        world.transport.forget()
        // a: 412; b: 200; c: no answer. From then on the network is away.
        let isAway = Switch()
        world.transport.decide { request, _ in
            if isAway.isOn { return .notSent }
            guard request.head.path?.hasSuffix("/c") == true else { return nil }
            isAway.turnOn()
            return .vanished
        }
        let run = await world.engine.push()
        #expect(run.state == .offline, "\(run)")
        #expect(run.push?.conflicts == 1 && run.push?.applied == 1 && run.push?.left == 3)
        #expect(world.writes == ["PATCH /a", "PATCH /b", "PATCH /c"])
        #expect(try await world.open().map(\.state) == [.conflict, .unknown, .queued])
    }

    @Test(arguments: 0..<4) func performPushWithCancellationPoint(point: Int) async throws {
        let world = try World()
        for id in ["a", "b", "c"] { try await world.insert(id) }
        switch point {
        case 0:
            // Before the run begins.
            let id = await world.engine.startSync()
            #expect(await world.engine.cancel(run: id))
        default:
            // During the list, the first and the second write.
            let gate = Gate()
            let seen = Switch()
            world.transport.decide { request, number in
                let isPoint =
                    point == 1 ? number == 0 : Self.isWrite(request) && number == point - 1
                guard isPoint, !seen.isOn else { return nil }
                seen.turnOn()
                return .held(gate)
            }
            async let ended = world.engine.push()
            await gate.waitForArrival()
            let id = try #require(await world.engine.runs().first?.id)
            #expect(await world.engine.cancel(run: id))
            gate.open()
            #expect(await ended.state == .cancelled)
        }
        #expect(try await world.open().count == [3, 3, 2, 1][point])
        world.transport.decide { _, _ in nil }
        let run = await world.engine.push()
        #expect(run.state == .complete, "\(run)")
        #expect(try await world.backend.effects().map(\.itemID) == ["a", "b", "c"])
    }

    // MARK: iOS: pull

    @Test func testIncrementalPullRevertsToSkipAndBack() async throws {
        var options = BackendOptions(flavour: .mobileApps)
        options.stamps = .ties(everyMilliseconds: 60_000)
        let world = try World(options, settings: SyncSettings(triggers: [.manual], pageRows: 2))
        for id in ["a", "b", "c", "d", "e"] { try await world.seed(id, #"{"text":"x"}"#) }
        world.clock.advance(by: .seconds(120))
        for id in ["f", "g", "h"] { try await world.seed(id, #"{"text":"x"}"#) }
        // The backend refuses the keyset's filter, so that `$skip` is used inside ties.
        world.transport.decide { request, _ in
            request.head.path?.contains("%20or%20") == true ? .instead(.refusal(400)) : nil
        }
        let run = await world.engine.pull(world.todo)
        #expect(run.state == .complete, "\(run)")
        #expect(try await world.store.tables().first?.items == 8)
        let skips = world.transport.targets.map { target in
            target.firstRange(of: "$skip=").map {
                Int(target[$0.upperBound...].prefix { $0.isNumber })
            }
        }.compactMap { $0 ?? 0 }
        #expect(skips.contains { $0 > 0 }, "into skipping: \(world.transport.targets)")
        let deepest = try #require(skips.firstIndex(of: skips.max() ?? 0))
        #expect(skips[deepest...].contains { $0 < skips[deepest] }, "and back")
    }

    @Test func testIncrementalPullWithUpdateSkipsUpdatedItem() async throws {
        let world = try await seeded(["a", "b"])
        for id in ["a", "b"] { try await world.elsewhere("PATCH", id, #"{"text":"theirs"}"#) }
        let gate = Gate()
        world.transport.once(.held(gate)) { $0.head.path?.contains("orderby") == true }
        let engine = world.engine
        let todo = world.todo
        async let run = engine.pull(todo)
        await gate.waitForArrival()
        try await world.update("a", #"{"text":"mine"}"#)
        gate.open()
        #expect(await run.pull.first?.skippedDirty == 1)
        #expect(try await world.local("a")?.columns["text"] == .string("mine"))
        #expect(try await world.local("b")?.columns["text"] == .string("theirs"))
    }

    @Test func testPullWithFetchLimitWhenServerHasLowerLimit() async throws {
        var options = BackendOptions(flavour: .mobileApps)
        options.pageRows = 50
        let world = try World(options, settings: SyncSettings(triggers: [.manual], pageRows: 200))
        for number in 0..<130 { try await world.seed("r\(number)", #"{"text":"x"}"#) }
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await world.store.tables().first?.items == 130)
    }

    @Test func testPullWithFetchLimitNotMultipleOfFifty() async throws {
        let world = try World(settings: SyncSettings(triggers: [.manual], pageRows: 37))
        for number in 0..<100 { try await world.seed("r\(number)", #"{"text":"x"}"#) }
        let run = await world.engine.pull(world.todo)
        #expect(run.pull.first?.applied == 100, "\(run)")
    }

    // MARK: iOS: purge

    @Test func testForcePurgeWithLockedOperation() async throws {
        let world = try World()
        try await world.insert("a")
        let gate = Gate()
        world.transport.once(.held(gate), where: Self.isWrite)
        async let push = world.engine.push()
        await gate.waitForArrival()
        #expect(await world.engine.purge(world.todo, force: true) == .refusedSending)
        gate.open()
        #expect(await push.push?.applied == 1)
        #expect(try await world.local("a") != nil)
    }
}
