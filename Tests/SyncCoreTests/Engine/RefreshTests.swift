import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Pulls that reads wait for.
@Suite struct RefreshTests {
    @Test func `a read that waits for a pull shows what was there before the read`() async throws {
        let world = try World()
        #expect(await world.engine.pull(world.todo).state == .complete)
        try await world.elsewhere("POST", nil, #"{"id":"theirs"}"#)
        let now = world.clock.uptime()
        world.transport.forget()
        await world.engine.refresh(world.todo, since: now)
        #expect(try await world.local("theirs") != nil)
        #expect(await world.engine.runs().count == 2)
        // A pull that began since is enough.
        let requests = world.transport.sent.count
        await world.engine.refresh(world.todo, since: now)
        #expect(world.transport.sent.count == requests)
    }

    @Test func `a pull for a read that brings nothing is no run on record`() async throws {
        let world = try World()
        let asked = await world.engine.pull(world.todo)
        for _ in 0..<20 {
            world.clock.advance(by: .seconds(5))
            await world.engine.refresh(world.todo, since: world.clock.uptime())
        }
        #expect(await world.engine.runs().map(\.id) == [asked.id])
        #expect(
            try await world.store.read { try $0.runs.page(before: .max, limit: 9).map(\.run.id) }
                == [asked.id])
        // One that fails is.
        world.transport.decide { _, _ in .notSent }
        world.clock.advance(by: .seconds(5))
        await world.engine.refresh(world.todo, since: world.clock.uptime())
        #expect(await world.engine.runs().map(\.state) == [.offline, .complete])
    }

    @Test func `a pull that began before the read is followed by another, which all readers share`()
        async throws
    {
        let world = try World()
        #expect(await world.engine.pull(world.todo).state == .complete)
        world.transport.forget()
        let gate = Gate()
        world.transport.once(.held(gate))
        async let first: Void = world.engine.refresh(world.todo, since: world.clock.uptime())
        await gate.waitForArrival()
        try await world.elsewhere("POST", nil, #"{"id":"theirs"}"#)
        world.clock.advance(by: .milliseconds(1))
        let now = world.clock.uptime()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { await world.engine.refresh(world.todo, since: now) }
            }
            // They wait for the run before it may end.
            let run = await world.engine.with { $0.runner.current?.end ?? Permits(0) }
            while run.state.withLock({ $0.waiting.count }) < 8 { await Task.yield() }
            gate.open()
        }
        await first
        #expect(try await world.local("theirs") != nil)
        // The pull that was under way, and the one that they share, whose page with a row has a next one.
        #expect(world.transport.sent.count == 3, "\(world.transport.targets)")
    }

    @Test func `without the backend a read waits for one attempt`() async throws {
        let world = try World()
        #expect(await world.engine.pull(world.todo).state == .complete)
        world.transport.forget()
        world.transport.decide { _, _ in .notSent }
        await world.engine.refresh(world.todo, since: world.clock.uptime())
        #expect(world.transport.sent.count == 1)
    }
}

/// How a table is read and written for which no policy was chosen.
@Suite struct StandardPolicyTests {
    private func standard(_ settings: SyncSettings) -> [String] {
        let policies = settings.standardPolicies
        return [policies.read.rawValue, policies.write.rawValue]
    }

    @Test func `what reads and writes sync by themselves is synced at once`() {
        #expect(standard(SyncSettings()) == ["revalidate", "write-through"])
        #expect(standard(SyncSettings(triggers: [.manual])) == ["local", "local"])
        #expect(standard(SyncSettings(triggers: [.manual, .read])) == ["revalidate", "local"])
        #expect(standard(SyncSettings(triggers: [.afterWrites])) == ["local", "write-through"])
    }

    @Test func `what the settings say outweighs the triggers`() {
        var settings = SyncSettings()
        (settings.readPolicy, settings.writePolicy) = (.local, .local)
        #expect(standard(settings) == ["local", "local"])
        settings.triggers = [.manual]
        (settings.readPolicy, settings.writePolicy) = (.remoteFirst, .writeThrough)
        #expect(standard(settings) == ["remote-first", "write-through"])
    }

    private func found(_ world: World, _ table: String) throws -> [String] {
        let table = try #require(TableName(table))
        let found = Store.found(world.store, table)
        return [
            world.store.readPolicy(of: found).rawValue,
            world.store.writePolicy(of: found).rawValue,
        ]
    }

    @Test func `a table has the standard of the present settings until a policy is chosen`()
        async throws
    {
        let world = try World(settings: SyncSettings())
        try await world.insert("a")
        #expect(try found(world, "todoitem") == ["revalidate", "write-through"])
        #expect(try found(world, "unknown") == ["revalidate", "write-through"])
        await world.engine.update { _ in SyncSettings(triggers: [.manual]) }
        #expect(try found(world, "todoitem") == ["local", "local"])
        #expect(try found(world, "unknown") == ["local", "local"])
        let chosen = try await world.store.updateTable(world.todo) {
            $0.writePolicy = .writeThrough
        }
        #expect(chosen.readPolicy.resolved(by: chosen.standard) == .local)
        #expect(try found(world, "todoitem") == ["local", "write-through"])
        await world.engine.update { _ in SyncSettings() }
        #expect(try found(world, "todoitem") == ["revalidate", "write-through"])
        _ = try await world.store.updateTable(world.todo) { $0.writePolicy = .local }
        #expect(try found(world, "todoitem") == ["revalidate", "local"])
        let listed = try await world.store.tables().map {
            [$0.readPolicy, $0.readPolicy.resolved(by: $0.standard)]
        }
        #expect(listed == [[.standard, .revalidate]])
    }
}

extension Store {
    /// A table as a request finds it.
    fileprivate static func found(_ store: Store, _ table: TableName) -> FoundTable {
        store.find(table, worker: 0)
    }
}
