import Backend
import HTTPMessage
import HTTPTypes
import Logging
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite(.serialized, .ends) struct LoopTests {
    @Test func `the loop pushes writes, waits while the backend is away, and catches up`()
        async throws
    {
        let world = try World(
            settings: SyncSettings(triggers: [.manual, .afterWrites, .reconnect, .interval]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            try await world.insert("a")
            try await world.pass { try await world.remote("a") != nil }
            world.transport.decide { _, _ in .notSent }
            try await world.insert("b")
            try await world.pass { await world.engine.backendStatus.state == .offline }
            #expect(try await world.local("b") != nil)
            world.transport.decide { _, _ in nil }
            try await world.pass { try await world.remote("b") != nil }
            try await world.pass { await world.engine.backendStatus.state == .online }
            #expect(await world.engine.backendStatus.state == .online)
            group.cancelAll()
        }
    }

    @Test func `a probe that is answered with 401 reports its credential`() async throws {
        let field = HTTPField(name: .authorization, value: "Bearer t")
        let refused = Mutex<[Credential]>([])
        let world = try World(
            settings: SyncSettings(triggers: [.manual, .afterWrites]),
            credential: { .token(field) },
            refused: { credential in refused.withLock { $0.append(credential) } })
        let told = Mutex(0)
        world.store.onEvents { events in
            told.withLock { $0 += events.count { $0.kind == .status } }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            world.transport.decide { _, _ in .notSent }
            try await world.insert("a")
            try await world.pass { await world.engine.runs().first?.state == .offline }
            #expect(refused.withLock { $0 } == [])
            let before = told.withLock { $0 }
            world.transport.decide { _, _ in .instead(Response(status: .unauthorized)) }
            try await world.pass { told.withLock { $0 } > before }
            #expect(await world.engine.backendStatus.state == .signedOut)
            #expect(refused.withLock { $0 } == [.token(field)])
            group.cancelAll()
        }
    }

    @Test func `a requested run has an id, is performed and gives its result`() async throws {
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

    @Test func `waiting for a run ends at the timeout with the run's present state`() async throws {
        let world = try World()
        try await world.insert("a")
        let gate = Gate()
        world.transport.once(.held(gate)) { $0.head.method == .post }
        async let push = world.engine.push()
        await gate.waitForArrival()
        let id = try #require(await world.engine.runs().first?.id)
        async let waited = world.engine.result(of: id, timeout: .seconds(2))
        await world.clock.waitForSleeper()
        world.clock.advance(by: .seconds(3))
        #expect(await waited?.state == .running)
        gate.open()
        _ = await push
    }

    @Test(arguments: [-86_400, 86_400])
    func `a jump of the wall clock by a day delays nothing and sends nothing twice`(
        seconds: Int64
    ) async throws {
        let world = try World(settings: SyncSettings(triggers: [.manual, .afterWrites]))
        try await world.insert("a")
        world.transport.once(.answerLost) { $0.head.method == .post }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            try await world.pass { try await world.open().first?.state == .unknown }
            world.clock.jump(by: .seconds(seconds))
            try await world.pass { try await world.open().isEmpty }
            group.cancelAll()
        }
        #expect(try await world.backend.effectCount(world.todo, "a") == 1)
    }

    static let alone: [Trigger] = [.afterWrites, .interval, .reconnect, .read]

    @Test(arguments: alone)
    func `each trigger is enough alone, and the other triggers then do nothing`(
        trigger: Trigger
    ) async throws {
        let world = try World(
            settings: SyncSettings(triggers: [.manual, trigger], interval: .seconds(120)))
        try await world.elsewhere("POST", nil, #"{"id":"theirs"}"#)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            // The first sync of the interval trigger is at the start.
            if trigger == .interval {
                try await world.pass {
                    await world.engine.with { $0.context.memory.lastSync } != nil
                }
            }
            if trigger == .reconnect {
                world.transport.decide { _, _ in .notSent }
                try await world.insert("known")
                #expect(await world.engine.sync().state == .offline)
            }
            try await world.insert("mine")
            if trigger == .reconnect {
                try await world.pass(for: .seconds(60))
                world.transport.decide { _, _ in nil }
            }
            if trigger == .read { world.engine.nudge(.read(world.todo)) }
            let asked = world.clock.uptime()
            try await world.pass { try await world.remote("mine") != nil }
            let waited = world.clock.uptime() - asked
            switch trigger {
            case .afterWrites, .read, .manual: #expect(waited <= .seconds(2))
            case .reconnect: #expect(waited <= .seconds(30))
            case .interval: #expect((.seconds(60)...(.seconds(121))).contains(waited))
            }
            #expect(await world.engine.with { $0.context.memory.stalls } == 0)
            if trigger != .afterWrites {
                try await world.pass { try await world.local("theirs") != nil }
            }
            group.cancelAll()
        }
    }

    @Test func `a stalled loop is restarted and reported in status and history`()
        async throws
    {
        let world = try World(settings: SyncSettings(triggers: [.manual, .afterWrites]))
        try await world.insert("a")
        world.transport.once(.hangs) { $0.head.method == .post }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            // Advance the time only then: a stall before the request would be a different case.
            try await world.pass { world.transport.targets.contains { $0.hasPrefix("POST") } }
            while await world.engine.with({ $0.context.memory.stalls }) == 0 {
                try Task.checkCancellation()
                await Task.yield()
                // Only the watchdog sleeps while the loop waits for its request.
                if world.clock.sleepers >= 1 { world.clock.advance(by: .seconds(1)) }
            }
            #expect(world.clock.uptime() > .seconds(30))
            try await world.pass { try await world.open().isEmpty }
            group.cancelAll()
        }
        #expect(try await world.backend.effectCount(world.todo, "a") == 1)
        let status = try await world.engine.status()
        #expect(status.stalls == 1)
        #expect(status.warnings.contains { $0.contains("stood still") })
        let history = try await world.store.lists.history(after: nil, limit: 50).items
        #expect(history.contains { $0.kind == .failed && $0.summary.contains("stood still") })
    }

    @Test func `after the machine slept, the backend is tried at once`() async throws {
        let world = try World(settings: SyncSettings(triggers: [.manual, .afterWrites]))
        try await world.insert("a")
        var busy = Response(status: .serviceUnavailable)
        busy.head.headerFields[.retryAfter] = "3600"
        let answer = busy
        world.transport.decide { _, _ in .instead(answer) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            try await world.pass { await world.engine.backendStatus.state == .degraded }
            world.transport.decide { _, _ in nil }
            try await world.pass(for: .seconds(60))
            #expect(try await world.remote("a") == nil)
            // The uptime stands still while the machine sleeps.
            world.clock.jump(by: .seconds(8 * 3600))
            let woken = world.clock.uptime()
            try await world.pass { try await world.remote("a") != nil }
            #expect(world.clock.uptime() - woken <= .seconds(30))
            group.cancelAll()
        }
    }
}
