import Simulator
import TablesProtocol
import Testing

@testable import SyncCore

/// What is said to all identities, taken in by engines and by the memories of closed stores.
struct SettingsForAllTests {
    private static func pages(_ rows: Int) -> SettingsForAll.Change {
        .settings { settings in
            var settings = settings
            settings.pageRows = rows
            return settings
        }
    }

    private static func tries(_ count: Int) -> SettingsForAll.Change {
        .settings { settings in
            var settings = settings
            settings.maxAttempts = count
            return settings
        }
    }

    @Test func `an engine that was closed past a change takes it in later, and nothing twice`()
        async throws
    {
        let world = try World()
        var all = SettingsForAll()
        all.add(Self.pages(7))
        await world.engine.take(all)
        // What is said to this identity alone stays, since the change before it was taken in.
        await world.engine.update { settings in
            var settings = settings
            settings.pageRows = 9
            return settings
        }
        var memory = try #require(await world.engine.retire(isAsked: true))
        all.add(.mode(.offline(until: nil), until: nil))
        all.add(Self.tries(3))
        memory.take(all, now: world.clock.uptime())
        memory.take(all, now: world.clock.uptime())
        #expect(memory.settings.pageRows == 9)
        #expect(memory.settings.maxAttempts == 3)
        #expect(memory.untilPush(now: world.clock.uptime()) == nil)
        #expect(memory.heard == 3)
    }

    @Test func `an older change never follows a later one`() async throws {
        let world = try World()
        var all = SettingsForAll()
        all.add(.mode(.offline(until: nil), until: nil))
        let earlier = all
        all.add(.mode(.online, until: nil))
        let first = await world.engine.take(all)
        let second = await world.engine.take(earlier)
        #expect(first && !second)
        #expect(await world.engine.mode == .online)
        // A new identity's engine begins behind what the anonymous one has taken in.
        #expect(await world.engine.beginning.heard == 2)
    }

    @Test func `an end of being offline counts from when it was said`() async throws {
        let world = try World()
        let until = world.clock.now().advanced(by: .seconds(60))
        var all = SettingsForAll()
        let end = world.clock.uptime() + .seconds(60)
        all.add(.mode(.offline(until: until), until: end))
        world.clock.advance(by: .seconds(20))
        await world.engine.take(all)
        #expect(await world.engine.mode == .offline(until: until))
        #expect(await world.engine.scheduler.modeEnd == end)
    }
}
