import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct ConflictTests {
    /// A world in which both sides changed item `a`: `text` overlaps, and only the server changed `other`.
    private func collided(
        mine: String = #"{"text":"mine"}"#, theirs: String? = #"{"text":"theirs","other":1}"#
    ) async throws -> World {
        let world = try World()
        try await world.insert("a", #"{"text":"base","other":0,"rank":1}"#)
        _ = await world.engine.push()
        if let theirs {
            try await world.elsewhere("PATCH", "a", theirs)
        } else {
            try await world.elsewhere("DELETE", "a")
        }
        world.clock.advance(by: .seconds(1))
        try await world.update("a", mine)
        return world
    }

    private func conflict(_ world: World) async throws -> ConflictDetail {
        let page = try await world.store.lists.conflicts(after: nil, limit: 10)
        return try #require(page.items.first)
    }

    @Test func `changes to different columns are merged and sent once more`() async throws {
        let world = try await collided(mine: #"{"rank":2}"#)
        let run = await world.engine.push()
        #expect(run.state == .complete, "\(run)")
        let row = try #require(try await world.remote("a"))
        #expect(row.columns["rank"]?.text == "2")
        #expect(row.columns["text"] == .string("theirs"))
        #expect(try await world.local("a")?.columns["text"] == .string("theirs"))
        #expect(world.writes == ["POST ", "PATCH /a", "PATCH /a"])
    }

    @Test func `overlapping changes become a conflict with base, mine and theirs`() async throws {
        let world = try await collided()
        let run = await world.engine.push()
        #expect(run.state == .completeWithErrors)
        #expect(run.push?.conflicts == 1)
        let found = try await conflict(world)
        #expect(found.base.map { Columns(stored: $0.text)["text"] } == .string("base"))
        #expect(found.mine.map { Columns(stored: $0.text)["text"] } == .string("mine"))
        #expect(found.server.map { Columns(stored: $0.text)["text"] } == .string("theirs"))
        #expect(try await world.local("a")?.columns["text"] == .string("mine"))
        // Nothing more is sent before a person decides.
        world.transport.forget()
        _ = await world.engine.push()
        #expect(world.writes.isEmpty)
    }

    @Test(arguments: ["mine", "server", "edited"])
    func `each resolution gives both sides the chosen text`(choice: String) async throws {
        let world = try await collided()
        _ = await world.engine.push()
        let found = try await conflict(world)
        let resolution: Resolution =
            switch choice {
            case "mine": .mine
            case "server": .server
            default: .edited(Columns(stored: #"{"text":"both","other":1,"rank":1}"#))
            }
        let outcome = try await world.store.resolve(
            found.id, revision: found.revision, resolution)
        #expect(outcome.isDone)
        let run = await world.engine.push()
        #expect(run.state == .complete, "\(run)")
        let expected = choice == "mine" ? "mine" : choice == "server" ? "theirs" : "both"
        #expect(try await world.remote("a")?.columns["text"] == .string(expected))
        #expect(try await world.local("a")?.columns["text"] == .string(expected))
        let remote = try #require(try await world.remote("a"))
        #expect(try await world.local("a")?.columns.changedNames(from: remote.columns) == [])
        #expect(try await world.open().isEmpty)
    }

    @Test(arguments: [true, false], [#"{"text":"theirs","other":1}"#, nil])
    func `the newest side wins where both changed a column`(
        isMineLater: Bool, theirs: String?
    ) async throws {
        let world = try await collided(mine: #"{"text":"mine","rank":2}"#, theirs: theirs)
        if !isMineLater {
            // Another write there is later than ours here.
            if theirs == nil { try await world.elsewhere("POST", "a") }
            try await world.elsewhere("PATCH", "a", #"{"text":"theirs","other":1}"#)
            if theirs == nil { try await world.elsewhere("DELETE", "a") }
        }
        _ = await world.engine.push()
        let found = try await conflict(world)
        #expect(try await world.store.resolve(found.id, revision: found.revision, .newest).isDone)
        #expect(await world.engine.sync().state == .complete)
        let expected: String? =
            switch (isMineLater, theirs) {
            case (true, .some): #"{"text":"mine","other":1,"rank":2}"#
            case (true, nil): #"{"text":"mine","other":0,"rank":2}"#
            case (false, .some): #"{"text":"theirs","other":1,"rank":2}"#
            case (false, nil): nil
            }
        for side in [try await world.local("a"), try await world.remote("a")] {
            let columns = side?.deleted == false ? side?.columns : nil
            let wanted = expected.map { Columns(stored: $0) }
            #expect(columns?.names.sorted() == wanted?.names.sorted())
            for name in ["text", "other", "rank"] {
                #expect(columns?[name]?.text == wanted?[name]?.text)
            }
        }
    }

    @Test func `conflicts are found by table, text, column, writer and time`() async throws {
        let world = try await collided()
        _ = await world.engine.push()
        let found = try await conflict(world)
        func count(_ filter: OperationFilter) async throws -> Int {
            let page = try await world.store.lists.conflicts(filter, after: nil, limit: 10)
            return page.total
        }
        let later = world.clock.now().advanced(by: .seconds(60))
        for filter in [
            OperationFilter(), .init(table: "TodoItem"), .init(text: "mine"),
            .init(column: "TEXT"), .init(actor: "client"), .init(before: later),
        ] { #expect(try await count(filter) == 1, "\(filter)") }
        for filter in [
            OperationFilter(table: "other"), .init(text: "elsewhere"), .init(column: "rank"),
            .init(actor: "person"), .init(actor: "desk"), .init(before: found.mineAt),
        ] { #expect(try await count(filter) == 0, "\(filter)") }
    }

    @Test func `a row that changes again before a decision is sent is a conflict again`()
        async throws
    {
        let world = try await collided()
        _ = await world.engine.push()
        let found = try await conflict(world)
        _ = try await world.store.resolve(found.id, revision: found.revision, .mine)
        try await world.elsewhere("PATCH", "a", #"{"text":"again"}"#)
        _ = await world.engine.push()
        let next = try await conflict(world)
        #expect(next.server.map { Columns(stored: $0.text)["text"] } == .string("again"))
        #expect(try await world.remote("a")?.columns["text"] == .string("again"))
    }

    @Test(arguments: [ConflictPolicy.client, .server, .merge])
    func `a table's policy decides a conflict at once`(policy: ConflictPolicy) async throws {
        let world = try await collided()
        _ = try await world.store.updateTable(world.todo) { $0.conflictPolicy = policy }
        let run = await world.engine.push()
        #expect(run.state == .complete, "\(run)")
        let expected = policy == .server ? "theirs" : "mine"
        #expect(try await world.remote("a")?.columns["text"] == .string(expected))
        #expect(try await world.remote("a")?.columns["other"]?.text == "1")
        #expect(try await world.open().isEmpty)
        #expect(try await world.store.ledger().balances)
    }

    @Test func `a delete of an item that was changed at the backend is a conflict`() async throws {
        let world = try World()
        try await world.insert("a")
        _ = await world.engine.push()
        try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#)
        try await world.delete("a")
        _ = await world.engine.push()
        let found = try await conflict(world)
        #expect(found.mineDeleted)
        _ = try await world.store.resolve(found.id, revision: found.revision, .server)
        #expect(try await world.local("a")?.columns["text"] == .string("theirs"))
    }

    @Test func `a write without If-Match is sent without it if the table's policy allows that`()
        async throws
    {
        let world = try await collided()
        _ = try await world.store.updateTable(world.todo) { $0.unconditionalPolicy = .client }
        let run = await world.engine.push()
        #expect(run.state == .complete)
        #expect(try await world.remote("a")?.columns["text"] == .string("mine"))
        #expect(
            world.transport.sent.last { $0.head.method == .patch }?.head.headerFields[.ifMatch]
                == nil)
    }
}
