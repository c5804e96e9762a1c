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
            world.store.find(world.todo, worker: 0), query, generation: .mobileApps)
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

    /// An item with columns `prefix0`, `prefix1`, ….
    private static func wide(_ id: String, _ prefix: String, _ count: Int) throws -> ItemBody {
        let columns = (0..<count).map { Columns.Column("\(prefix)\($0)", .integer(Int64($0))) }
        return ItemBody(id: try ItemID(id), columns: Columns(columns))
    }

    @Test func `a table has a bounded number of names, and known names can always be written`()
        async throws
    {
        let world = try World()
        let most = StoreLimits.columnNames
        let full = try Self.wide("a", "c", most)
        guard case .inserted = await world.write(.insert(full)) else {
            throw World.Failure("The table has room.")
        }
        let before = try await world.row("a")
        for action in [
            WriteAction.insert(try Self.wide("b", "other", 1)),
            .update(try ItemID("a"), try Columns(parsing: #"{"c0":7,"other":1}"#)),
            .replace(try ItemID("a"), try Columns(parsing: #"{"other":1}"#)),
        ] {
            guard case .invalid(let sentence) = await world.write(action) else {
                Issue.record("\(action) was taken")
                continue
            }
            #expect(sentence.contains("at most \(most) names"), "\(sentence)")
        }
        #expect(try await world.row("a") == before)
        #expect(try await world.row("b") == nil)
        // Another spelling of a known name is no new name.
        try await world.update("a", #"{"C0":7}"#)
        #expect(try await world.row("a")?.columns["c0"]?.text == "7")
    }

    @Test func `rows of the backend may have more names than clients may add`() throws {
        let most = StoreLimits.columnNames
        var spellings = ColumnSpellings(text: "{}")
        let row = try Self.wide("a", "c", most + 1).columns
        #expect(spellings.respell(row, shared: false) == row)
        #expect(spellings.hasRoom(for: row.all))
        #expect(!spellings.hasRoom(for: try Self.wide("b", "d", 1).columns.all))
    }
}
