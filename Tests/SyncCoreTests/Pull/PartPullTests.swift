import Backend
import HTTPMessage
import HTTPTypes
import Simulator
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Tables that are copied in part: which rows the copy has, and what clients that sync learn.
@Suite struct PartPullTests {
    private static let open = "$filter=complete eq false"

    /// A backend's rows by id: three of them open, two complete.
    private func filled(
        _ options: BackendOptions = BackendOptions(flavour: .mobileApps), part: String = Self.open
    ) async throws -> World {
        let world = try World(options, part: part)
        for (id, complete) in [
            ("a", false), ("b", false), ("c", false), ("d", true), ("e", true),
        ] {
            try await world.seed(id, #"{"text":"\#(id)","complete":\#(complete)}"#)
        }
        return world
    }

    private func sync(_ world: World, _ state: RunState = .complete) async {
        world.clock.advance(by: .seconds(60))
        let run = await world.engine.sync()
        #expect(run.state == state, "\(run)")
    }

    /// The ids of the rows that are here and not deleted.
    private func here(_ world: World) async throws -> [String] {
        let todo = world.todo
        return try await world.store.read { transaction in
            guard let table = try transaction.tables.table(todo) else { return [] }
            return try transaction.column(
                "SELECT id FROM items WHERE table_id = ? AND deleted = 0 ORDER BY id", [table.id])
        }
    }

    /// Each row that is here is the backend's, whole.
    private func compare(_ world: World, _ ids: [String]) async throws {
        #expect(try await here(world) == ids)
        for id in ids {
            let mine = try #require(try await world.row(id))
            let theirs = try #require(try await world.remote(id))
            #expect(mine.columns.changedNames(from: theirs.columns).isEmpty, "\(id)")
            #expect(mine.deleted == theirs.deleted)
            let todo = world.todo
            let known = try await world.store.read { transaction in
                try transaction.tables.table(todo).flatMap {
                    try transaction.items.row($0, exactly: try ItemID(id))?.serverVersion
                }
            }
            if known != nil { #expect(known == theirs.version) }
        }
        #expect(try await world.store.read { try $0.ledger.read().balances })
    }

    /// Another writer's change at the backend, whatever its generation.
    private func foreign(_ world: World, _ id: String, complete: Bool) async throws {
        let isThird = world.flavour == .datasync || world.flavour == .toolkit
        let columns = #""text":"\#(id)","complete":\#(complete)"#
        let status = try await world.send(
            isThird ? "PUT" : "PATCH", "/tables/todoitem/\(id)",
            isThird ? #"{"id":"\#(id)",\#(columns)}"# : "{\(columns)}")
        #expect(status == 200)
    }

    /// The rows that a client gets which syncs with exactly the part's filter, from a time on.
    private func synced(_ world: World, since: Instant?) -> [Item] {
        let filter = "$filter=complete eq false"
        let bound = since.map { " and updatedAt ge datetimeoffset'\($0.text)'" } ?? ""
        let pairs = "\(filter)\(bound)&$orderby=updatedAt&__includeDeleted=true"
        guard let split = try? QueryParameter.split(pairs[...]),
            let query = try? TableQuery.parse(split, generation: .mobileApps),
            case .page(let page) = world.store.list(
                world.store.find(world.todo, worker: 0), query, generation: .mobileApps)
        else { return [] }
        return page.items
    }

    /// What the store says of an item, without asking the backend.
    private func get(_ world: World, _ id: String) throws -> GetOutcome {
        world.store.get(
            world.store.find(world.todo, worker: 0), try ItemID(id), includeDeleted: false)
    }

    /// What the store says of a list of all rows.
    private func all(_ world: World, beyondPart: Bool = false) -> ListOutcome {
        world.store.list(
            world.store.find(world.todo, worker: 0), TableQuery(), generation: .mobileApps,
            beyondPart: beyondPart)
    }

    static let flavours: [BackendFlavour] = [
        .mobileServices, .mobileApps, .node, .express, .dotnet, .datasync, .toolkit,
    ]

    @Test(arguments: flavours)
    func `only the rows of the filter are copied, and rows enter and leave as they change`(
        flavour: BackendFlavour
    ) async throws {
        let world = try await filled(BackendOptions(flavour: flavour))
        await sync(world)
        try await compare(world, ["a", "b", "c"])
        let before = try #require(synced(world, since: nil).last?.updatedAt)
        try await foreign(world, "a", complete: true)
        try await foreign(world, "d", complete: false)
        try await foreign(world, "e", complete: true)
        await sync(world)
        try await compare(world, ["b", "c", "d"])
        let changes = synced(world, since: before).filter { $0.updatedAt > before }
        #expect(Set(changes.map { "\($0.id) \($0.deleted)" }) == ["a true", "d false"])
        try await foreign(world, "a", complete: false)
        try await foreign(world, "d", complete: true)
        await sync(world)
        try await compare(world, ["a", "b", "c"])
    }

    @Test(arguments: [true, false])
    func `a deleted row goes, and an item that left is not taken for a deleted one`(
        isSoft: Bool
    ) async throws {
        var options = BackendOptions(flavour: .mobileApps)
        options.tables[try #require(TableName("todoitem"))] = TableOptions(softDelete: isSoft)
        let world = try await filled(options)
        await sync(world)
        #expect(try await world.elsewhere("DELETE", "a") < 300)
        try await foreign(world, "b", complete: true)
        if isSoft {
            #expect(try await world.elsewhere("DELETE", "b") < 300)
        }
        await sync(world)
        // A row that was deleted for good shows only when all is compared, as in a whole table.
        if !isSoft {
            #expect(try await here(world) == ["a", "c"])
            let run = await world.engine.pull(world.todo, reconcile: true)
            #expect(run.state == .complete, "\(run)")
        }
        try await compare(world, ["c"])
        #expect(try await world.row("b")?.deleted == true)
        #expect(try get(world, "b") == .unknownWhilePartial)
    }

    @Test func `a row that leaves while a change waits stays until that is decided`() async throws {
        let world = try await filled()
        await sync(world)
        world.transport.decide { request, _ in
            request.head.method == .patch
                ? .instead(Response(status: .init(code: 400), body: Array(#"{"error":"no"}"#.utf8)))
                : nil
        }
        try await world.update("a", #"{"text":"mine"}"#)
        try await foreign(world, "a", complete: true)
        await sync(world, .completeWithErrors)
        #expect(try await here(world) == ["a", "b", "c"])
        #expect(try await world.local("a")?.columns["text"]?.string == "mine")
        let operation = try #require(try await world.open().first)
        _ = try await world.store.discard(operation.id, revision: nil)
        world.transport.decide { _, _ in nil }
        await sync(world)
        try await compare(world, ["b", "c"])
        #expect(try await world.row("a")?.deleted == true)
    }

    @Test func `an item that is written here and does not fit is here until it was sent`()
        async throws
    {
        let world = try await filled()
        await sync(world)
        let before = try #require(synced(world, since: nil).last?.updatedAt)
        world.transport.decide { _, _ in .notSent }
        try await world.insert("n", #"{"text":"n","complete":true}"#)
        try await world.update("a", #"{"complete":true}"#)
        await sync(world, .offline)
        #expect(try await here(world) == ["a", "b", "c", "n"])
        world.transport.decide { _, _ in nil }
        await sync(world)
        try await compare(world, ["b", "c"])
        #expect(try await world.remote("n")?.columns["complete"]?.value == .bool(true))
        #expect(try await world.remote("a")?.columns["complete"]?.value == .bool(true))
        // A client that has the item as it was learns that it has left.
        let changes = synced(world, since: before).filter { $0.updatedAt > before }
        #expect(changes.contains { $0.id.text == "a" && $0.deleted })
    }

    @Test func `an idle part costs no request for an item`() async throws {
        let world = try await filled()
        await sync(world)
        try await foreign(world, "a", complete: true)
        await sync(world)
        await sync(world)
        world.transport.forget()
        await sync(world)
        #expect(
            !world.transport.targets.contains { $0.contains("id%20eq") || $0.contains("id eq") })
        #expect(world.transport.targets.count <= 5, "\(world.transport.targets)")
    }

    @Test func `a change while the pull runs is found, on either side of its lists`() async throws {
        for method in ["leaves", "enters"] {
            for page in 0..<6 {
                let world = try await filled()
                await sync(world)
                try await foreign(world, "b", complete: true)
                let count = Switch()
                let id = method == "leaves" ? "a" : "d"
                let backend = world.backend
                world.transport.forget()
                world.transport.decide { request, number in
                    guard number >= page, request.head.path?.contains("todoitem") == true,
                        !count.isOn
                    else { return nil }
                    count.turnOn()
                    _ = backend.respond(
                        to: .tables(
                            "PATCH", "/tables/todoitem/\(id)",
                            #"{"complete":\#(method == "leaves")}"#))
                    return nil
                }
                world.clock.advance(by: .seconds(60))
                _ = await world.engine.sync()
                world.transport.decide { _, _ in nil }
                await sync(world)
                let isDone = count.isOn
                let all = method == "leaves" ? ["c"] : ["a", "c", "d"]
                let unchanged = method == "leaves" ? ["a", "c"] : ["a", "c"]
                try await compare(world, isDone ? all : unchanged)
            }
        }
    }

    // MARK: Backends that do not list what is asked for

    @Test func `a backend that ignores the filter makes no row leave, and is named`() async throws {
        let world = try await filled()
        await sync(world)
        let backend = world.backend
        world.transport.decide { request, _ in
            guard request.head.method == .get else { return nil }
            let all = backend.respond(to: .tables("GET", "/tables/todoitem?__includeDeleted=true"))
            return .instead(all)
        }
        try await foreign(world, "a", complete: true)
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(60))
            _ = await world.engine.sync()
        }
        #expect(Set(try await here(world)).isSuperset(of: ["a", "b", "c"]))
        let warning = try await world.store.tables().first?.warning
        #expect(warning?.contains("do not fit the filter") == true, "\(warning ?? "none")")
        world.transport.decide { _, _ in nil }
        _ = await world.engine.pull(world.todo, reconcile: true)
        try await compare(world, ["b", "c"])
    }

    @Test func `a page that is cut proves of no row that it left`() async throws {
        var options = BackendOptions(flavour: .node)
        options.pageRows = 1
        let world = try await filled(options)
        await sync(world)
        // Rows that are in doubt and did not leave: the first pull's token has not reached them.
        let todo = world.todo
        try await world.store.write { transaction in
            guard let table = try transaction.tables.table(todo) else { return }
            try transaction.doubts.add(["a", "b", "c"], of: table)
        }
        try await foreign(world, "b", complete: true)
        await sync(world)
        try await compare(world, ["a", "c"])
        #expect(
            try await world.store.read { try $0.integer("SELECT count(*) FROM part_doubts") } == 0)
    }

    @Test func `a backend that lists no changes is compared at each pull`() async throws {
        let world = try await filled()
        world.transport.decide { request, _ in
            let path = request.head.path ?? ""
            let isChanges = path.contains("updatedAt") && !path.contains("complete")
            return isChanges
                ? .instead(Response(status: .init(code: 400), body: Array(#"{"error":"no"}"#.utf8)))
                : nil
        }
        await sync(world)
        try await foreign(world, "a", complete: true)
        await sync(world)
        try await compare(world, ["b", "c"])
    }

    @Test func `a backend whose rows have no time is compared at each pull`() async throws {
        var options = BackendOptions(flavour: .mobileApps)
        options.stamps = .none
        let world = try await filled(options)
        await sync(world)
        try await foreign(world, "a", complete: true)
        await sync(world)
        try await compare(world, ["b", "c"])
    }

    @Test func `many rows leave at once`() async throws {
        let world = try World(part: Self.open)
        for number in 0..<130 {
            try await world.seed("r\(1000 + number)", #"{"complete":false}"#)
        }
        await sync(world)
        #expect(try await here(world).count == 130)
        for number in 0..<120 {
            try await world.elsewhere("PATCH", "r\(1000 + number)", #"{"complete":true}"#)
        }
        await sync(world)
        try await compare(world, (120..<130).map { "r\(1000 + $0)" })
    }

    // MARK: The setting

    @Test(arguments: [
        ("$filter=complete eq true", ["d", "e"]), ("$filter=text lt 'd'", ["a", "b", "c"]),
        ("$filter=text ne 'b'", ["a", "c", "d", "e"]), ("$filter=text eq 'a'", ["a"]),
    ])
    func `another filter between starts makes the copy right`(part: String, ids: [String])
        async throws
    {
        let world = try await filled()
        await sync(world)
        try world.store.close()
        let (store, engine) = try world.reborn(
            parts: [world.todo: try TablePart(parsing: part)])
        #expect(try await store.tables().first?.part == part)
        #expect(try await store.tables().first?.isComplete == false)
        let run = await engine.sync()
        #expect(run.state == .complete, "\(run)")
        #expect(try await store.tables().first?.isComplete == true)
        let todo = world.todo
        let here: [String] = try await store.read { transaction in
            try transaction.column(
                "SELECT id FROM items WHERE deleted = 0 AND table_id = ? ORDER BY id",
                [try #require(try transaction.tables.table(todo)).id])
        }
        #expect(here == ids)
    }

    @Test
    func `without a filter the whole table is copied again, and what has gone meanwhile goes`()
        async throws
    {
        var options = BackendOptions(flavour: .mobileApps)
        options.tables[try #require(TableName("todoitem"))] = TableOptions(softDelete: false)
        let world = try await filled(options)
        await sync(world)
        try await world.elsewhere("DELETE", "a")
        try world.store.close()
        let (store, engine) = try world.reborn(parts: [:])
        #expect(try await store.tables().first?.part == nil)
        #expect(try await store.tables().first?.isComplete == false)
        _ = await engine.sync()
        #expect(try await store.tables().first?.items == 4)
        #expect(try await store.tables().first?.isComplete == true)
    }

    @Test
    func `a new filter keeps what waits to be sent, and a purge or a removal keeps the filter`()
        async throws
    {
        let world = try await filled()
        await sync(world)
        world.transport.decide { _, _ in .notSent }
        try await world.update("a", #"{"text":"mine"}"#)
        try world.store.close()
        let part = try TablePart(parsing: "$filter=text eq 'c'")
        let (store, engine) = try world.reborn(parts: [world.todo: part])
        world.transport.decide { request, _ in request.head.method == .patch ? .notSent : nil }
        _ = await engine.sync()
        #expect(try await store.ledger().queue.open == 1)
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(60))
        _ = await engine.sync()
        world.clock.advance(by: .seconds(60))
        _ = await engine.sync()
        #expect(try await store.tables().first?.items == 1)
        #expect(try await world.remote("a")?.columns["text"]?.string == "mine")
        _ = await engine.purge(world.todo)
        _ = await engine.sync()
        #expect(try await store.tables().first?.items == 1)
        _ = await engine.remove(world.todo)
        _ = await engine.pull(world.todo)
        #expect(try await store.tables().first?.items == 1)
        #expect(try await store.tables().first?.part == part.text)
    }

    // MARK: Reads and writes beyond the part

    @Test func `a list beyond the part is not the store's, and an item beyond it is not known`()
        async throws
    {
        let world = try await filled()
        await sync(world)
        guard case .beyondPart = all(world), case .partial(let page) = all(world, beyondPart: true)
        else { return #expect(Bool(false)) }
        #expect(page.items.map(\.id.text) == ["a", "b", "c"])
        #expect(try get(world, "d") == .unknownWhilePartial)
        let update = await world.write(.update(try ItemID("d"), Columns(stored: #"{"text":"x"}"#)))
        #expect(update == .unknownWhilePartial)
    }

    @Test(arguments: ["update", "replace", "delete", "undelete"])
    func `an item that has left is written as one that was never here`(verb: String) async throws {
        let world = try await filled()
        await sync(world)
        try await foreign(world, "a", complete: true)
        await sync(world)
        let id = try ItemID("a")
        let columns = Columns(stored: #"{"text":"mine"}"#)
        let action: WriteAction =
            switch verb {
            case "update": .update(id, columns)
            case "replace": .replace(id, columns)
            case "delete": .delete(id)
            default: .undelete(id)
            }
        #expect(await world.write(action) == .unknownWhilePartial)
        #expect(try await world.engine.fetch(id, of: world.todo, generation: .mobileApps) == nil)
        #expect(await world.write(action).item != nil)
        await sync(world)
        try await compare(world, ["b", "c"])
        let theirs = try #require(try await world.remote("a"))
        #expect(theirs.deleted == (verb == "delete"))
        if verb == "update" {
            #expect(theirs.columns["text"]?.string == "mine")
            #expect(theirs.columns["complete"]?.value == .bool(true))
        }
    }

    @Test func `an item that was fetched for a write that was refused leaves again`() async throws {
        let world = try await filled()
        await sync(world)
        let id = try ItemID("d")
        #expect(try await world.engine.fetch(id, of: world.todo, generation: .mobileApps) == nil)
        #expect(try await here(world) == ["a", "b", "c", "d"])
        let refused = await world.write(
            .update(id, Columns(stored: #"{"text":"x"}"#)), ifMatch: .versions(["none"]))
        guard case .preconditionFailed = refused else { throw World.Failure("\(refused)") }
        await sync(world)
        try await compare(world, ["a", "b", "c"])
    }

    @Test func `a pull with a query of the developer's own keeps its rows beside the part`()
        async throws
    {
        let world = try await filled()
        await sync(world)
        let query = try PullQuery(parsing: "text eq 'd' or text eq 'a'")
        _ = await world.engine.pull(world.todo, query: query, queryID: "q")
        try await foreign(world, "a", complete: true)
        await sync(world)
        try await compare(world, ["a", "b", "c", "d"])
        #expect(Set(synced(world, since: nil).map(\.id.text)) == ["b", "c"])
        _ = await world.engine.pull(world.todo, reconcile: true)
        #expect(try await here(world) == ["a", "b", "c", "d"])
    }
}
