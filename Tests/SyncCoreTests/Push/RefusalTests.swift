import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Answers with 404, 409, 410 and 412 that are not about a version.
@Suite struct RefusalTests {
    private static let flavours: [BackendFlavour] = [
        .mobileServices, .mobileApps, .dotnet, .toolkit,
    ]

    private static func world(_ flavour: BackendFlavour, versions: Bool) throws -> World {
        var options = BackendOptions(flavour: flavour)
        let (todo, parts) = (
            try #require(TableName("todoitem")), try #require(TableName("parts"))
        )
        options.tables = [
            todo: TableOptions(hasVersions: versions, uniqueColumns: ["text"]),
            parts: TableOptions(references: ["todo": todo]),
        ]
        return try World(options)
    }

    private func text(_ item: Item?) -> String? {
        item.flatMap { $0.deleted ? nil : $0.columns["text"]?.string }
    }

    /// Items `a` and `b`, and a part that names `b`.
    private func filled(_ world: World) async throws {
        for id in ["a", "b"] { try await world.seed(id, #"{"text":"\#(id)","rank":1}"#) }
        #expect(try await world.send("POST", "/tables/parts", #"{"id":"p","todo":"b"}"#) == 201)
        _ = await world.engine.pull(world.todo)
        world.transport.forget()
    }

    @Test(arguments: flavours, [true, false])
    func
        `a unique index and a foreign key refuse at once, with the backend's sentence, under each policy`(
            _ flavour: BackendFlavour, _ versions: Bool
        ) async throws
    {
        for policy in ConflictPolicy.allCases {
            let world = try Self.world(flavour, versions: versions)
            try await filled(world)
            _ = try await world.store.updateTable(world.todo) { $0.conflictPolicy = policy }
            try await world.insert("n", #"{"text":"a"}"#)
            try await world.update("a", #"{"text":"b"}"#)
            try await world.delete("b")
            for _ in 0..<3 {
                world.clock.advance(by: .seconds(600))
                _ = await world.engine.push()
            }
            let open = try await world.open()
            #expect(open.map(\.state) == [.quarantined, .quarantined, .quarantined])
            for operation in open {
                let statement = operation.kind == .delete ? "REFERENCE" : "UNIQUE"
                // The toolkit answers without a body.
                guard flavour != .toolkit else {
                    #expect(operation.reason == "The backend refused it with 409.")
                    continue
                }
                #expect(operation.reason?.hasPrefix("The backend refused it with 409: ") == true)
                #expect(operation.reason?.contains(statement) == true, "\(operation)")
            }
            #expect(world.writes.count == 3, "\(world.writes)")
            #expect(try await world.store.lists.conflicts(after: nil, limit: 9).items.isEmpty)
            // Whole rows: the backend's are as they were, and the local changes stay.
            #expect(text(try await world.remote("a")) == "a")
            #expect(text(try await world.remote("b")) == "b")
            #expect(try await world.remote("n") == nil)
            #expect(text(try await world.row("a")) == "b")
            #expect(text(try await world.row("b")) == nil)
            #expect(text(try await world.row("n")) == "a")
        }
    }

    @Test func `mine that is refused does not come back as a conflict`() async throws {
        let world = try Self.world(.mobileApps, versions: true)
        try await filled(world)
        try await world.update("a", #"{"text":"b"}"#)
        try await world.delete("b")
        try await world.elsewhere("PATCH", "a", #"{"text":"c"}"#)
        try await world.elsewhere("PATCH", "b", #"{"rank":2}"#)
        _ = await world.engine.push()
        for conflict in try await world.store.lists.conflicts(after: nil, limit: 9).items {
            _ = try await world.store.resolve(conflict.id, revision: conflict.revision, .mine)
        }
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(600))
            _ = await world.engine.push()
        }
        #expect(try await world.open().map(\.state) == [.quarantined, .quarantined])
        #expect(text(try await world.remote("a")) == "c")
        #expect(try await world.remote("b")?.columns["rank"]?.text == "2")
    }

    @Test
    func `another version of the same columns is sent again with that version, once in a push`()
        async throws
    {
        for delete in [true, false] {
            let world = try World()
            try await world.seed("a", #"{"text":"a","rank":1}"#)
            _ = await world.engine.pull(world.todo)
            if delete {
                try await world.delete("a")
            } else {
                try await world.update("a", #"{"text":"b"}"#)
            }
            for text in ["x", "a"] {
                try await world.elsewhere("PATCH", "a", #"{"text":"\#(text)"}"#)
            }
            _ = await world.engine.push()
            #expect(try await world.open().isEmpty)
            #expect(text(try await world.remote("a")) == (delete ? nil : "b"))
            #expect(text(try await world.row("a")) == (delete ? nil : "b"))
            #expect(world.writes.count == 2)
        }
    }
}
