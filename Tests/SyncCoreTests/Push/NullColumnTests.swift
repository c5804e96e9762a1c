import Backend
import TablesProtocol
import Testing

@testable import SyncCore

/// A first generation backend refuses null for a column that is new to its table.
@Suite struct NullColumnTests {
    @Test(arguments: [BackendFlavour.mobileServices, .mobileApps, .datasync])
    func `a write with null in a column that the backend does not have reaches it`(
        flavour: BackendFlavour
    ) async throws {
        let world = try World(BackendOptions(flavour: flavour))
        try await world.insert("a", #"{"text":"milk","due":null}"#)
        #expect(await world.engine.push().state == .complete)
        try await world.update("a", #"{"text":"bread","place":null}"#)
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.open().isEmpty)
        for row in [try await world.local("a"), try await world.remote("a")] {
            let columns = try #require(row).columns
            #expect(columns["text"] == .string("bread"))
            for name in ["due", "place"] { #expect((columns[name] ?? .null) == .null) }
        }
    }

    @Test(arguments: [BackendFlavour.mobileApps, .datasync, .toolkit])
    func `a replace with null in a column that the row does not have leaves it out`(
        flavour: BackendFlavour
    ) async throws {
        let world = try World(BackendOptions(flavour: flavour))
        try await world.seed("a", #"{"text":"one"}"#)
        #expect(await world.engine.pull(world.todo, isExplicit: true).state == .complete)
        let columns = Columns(stored: #"{"text":"two","stars":null}"#)
        _ = await world.write(.replace(try ItemID("a"), columns))
        #expect(await world.engine.push().state == .complete)
        let expected = Columns(stored: #"{"text":"two"}"#)
        #expect(try await world.remote("a")?.columns == expected)
    }

    @Test func `null in a column that the row has is sent`() async throws {
        let world = try World(BackendOptions(flavour: .mobileServices))
        try await world.insert("a", #"{"text":"milk","rank":1}"#)
        #expect(await world.engine.push().state == .complete)
        try await world.update("a", #"{"rank":null}"#)
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.remote("a")?.columns["rank"] == .null)
    }
}
