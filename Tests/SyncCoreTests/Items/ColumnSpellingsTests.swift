import TablesProtocol
import Testing

@testable import SyncCore

/// The spelling of a table's columns. Swift's strings take both forms of the letter for equal.
@Suite struct ColumnSpellingsTests {
    private static let composed = "\u{E9}"
    private static let decomposed = "e\u{301}"

    private static func both(_ first: String, _ second: String) throws -> Columns {
        try Columns(parsing: #"{"\#(composed)":\#(first),"\#(decomposed)":\#(second)}"#)
    }

    /// The columns of the rows that match a filter.
    private func found(_ world: World, _ filter: String) throws -> [Columns]? {
        let query = TableQuery(
            filter: try Expression(parsing: filter, generation: .mobileApps))
        let outcome = world.store.list(
            world.todo, query, generation: .mobileApps, worker: 0)
        guard case .page(let page) = outcome else { return nil }
        return page.items.map(\.columns)
    }

    @Test func `names that differ in bytes are two columns, others take the first spelling`()
        throws
    {
        var spellings = ColumnSpellings(text: "{}")
        let row = try Columns(parsing: #"{"\#(Self.composed)":1,"Text":"x"}"#)
        #expect(spellings.respell(row, shared: true) == row)
        let write = try Columns(parsing: #"{"\#u{C9}":2,"E\#u{301}":3,"TEXT":"y"}"#)
        let kept = try Columns(
            parsing: #"{"\#(Self.composed)":2,"E\#u{301}":3,"Text":"y"}"#)
        #expect(spellings.respell(write, shared: false) == kept)
        #expect(spellings.knows(kept.all, shared: false))
        #expect(!spellings.knows(kept.all, shared: true))
        #expect(!spellings.knows(try Self.both("1", "2").all, shared: false))
        #expect(ColumnSpellings(text: spellings.text) == spellings)
    }

    @Test func `a column in another form keeps the other one's value, here and at the backend`()
        async throws
    {
        let world = try World()
        try await world.seed("a", #"{"\#(Self.composed)":"old"}"#)
        #expect(await world.engine.pull(world.todo).state == .complete)
        try await world.update("a", #"{"\#(Self.decomposed)":"new"}"#)
        let both = try Self.both(#""old""#, #""new""#)
        #expect(try await world.row("a")?.columns == both)
        for (name, value) in [(Self.composed, "old"), (Self.decomposed, "new")] {
            #expect(try found(world, "\(name) eq '\(value)'") == [both], "\(value)")
        }
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.remote("a")?.columns == both)
        #expect(try await world.row("a")?.columns == both)
    }
}
