import Simulator
import TablesProtocol
import Testing

@testable import SyncCore

/// Changes for all identities, applied by engines and by the memories of closed stores.
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

    @Test func `a closed engine applies a change for all later, and no change twice`()
        async throws
    {
        let world = try World()
        var all = SettingsForAll()
        all.add(Self.pages(7))
        await world.engine.apply(all)
        // A change for this identity only is kept, because the earlier change was applied before it.
        await world.engine.update { settings in
            var settings = settings
            settings.pageRows = 9
            return settings
        }
        var memory = try #require(await world.engine.retire(isForced: true))
        all.add(.mode(.offline(until: nil), until: nil))
        all.add(Self.tries(3))
        memory.apply(all, now: world.clock.uptime())
        memory.apply(all, now: world.clock.uptime())
        #expect(memory.settings.pageRows == 9)
        #expect(memory.settings.maxAttempts == 3)
        #expect(memory.untilPush(now: world.clock.uptime()) == nil)
        #expect(memory.appliedChanges == 3)
    }

    @Test func `an older change is never applied after a later one`() async throws {
        let world = try World()
        var all = SettingsForAll()
        all.add(.mode(.offline(until: nil), until: nil))
        let earlier = all
        all.add(.mode(.online, until: nil))
        let first = await world.engine.apply(all)
        let second = await world.engine.apply(earlier)
        #expect(first && !second)
        #expect(await world.engine.mode == .online)
        // A new identity's engine starts with the changes that the anonymous engine has applied.
        #expect(await world.engine.initialMemory.appliedChanges == 2)
    }

    @Test func `the end of an offline mode counts from when it was set`() async throws {
        let world = try World()
        let until = world.clock.now().advanced(by: .seconds(60))
        var all = SettingsForAll()
        let end = world.clock.uptime() + .seconds(60)
        all.add(.mode(.offline(until: until), until: end))
        world.clock.advance(by: .seconds(20))
        await world.engine.apply(all)
        #expect(await world.engine.mode == .offline(until: until))
        #expect(await world.engine.with { $0.context.scheduler.modeEnd } == end)
    }
}
