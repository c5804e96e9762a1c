import HTTPMessage
import HTTPTypes
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import SyncCore

/// What no pull shows: a comparison with the backend finds it, and mends the copy.
@Suite struct ComparePassTests {
    private static let hour = Duration.seconds(3_600)

    /// A world whose five rows are copied and settled.
    private func copied(
        _ options: BackendOptions = BackendOptions(flavour: .mobileApps), part: String? = nil,
        triggers: Set<Trigger> = [.manual], pageRows: Int = 1_000,
        every period: Duration = Self.hour
    ) async throws -> World {
        let world = try World(
            options,
            settings: SyncSettings(
                triggers: triggers, pageRows: pageRows, checkCopies: period), part: part)
        for id in ["a", "b", "c", "d", "e"] {
            try await world.seed(id, #"{"text":"\#(id)","complete":false}"#)
        }
        world.clock.advance(by: Self.hour)
        for _ in 0..<2 {
            #expect(await world.engine.pull(world.todo).state == .complete)
            world.clock.advance(by: .seconds(120))
        }
        world.transport.forget()
        return world
    }

    /// A sync that a person asks for, some time later.
    private func sync(_ world: World, hours: Int = 1) async -> Run {
        world.clock.advance(by: Self.hour * hours)
        world.transport.forget()
        return await world.engine.sync()
    }

    /// Changes the backend's database behind its back: neither a stamp nor a tombstone shows it.
    private func alter(_ world: World, _ sql: String) async throws {
        try await world.backend.onStorageThread { storage in
            let rows = try #require(storage as? SQLiteRowStorage)
            try rows.connection.access { try $0.run(script: sql) }
        }
    }

    /// A row that is committed late, with the stamp of its beginning.
    private func commitLate(_ world: World, _ id: String) async throws {
        try await world.seed(id, #"{"text":"late","complete":false}"#)
        try await alter(
            world,
            """
            UPDATE items SET stamp = stamp - 7200000, stamp_ticks = stamp_ticks - 72000000000
            WHERE id = '\(id)'
            """)
    }

    /// Each row here is the backend's, whole, and there are no others.
    private func expectSame(_ world: World) async throws {
        try await world.expectSameRows()
        #expect(try await world.store.read { try $0.ledger.read().balances })
    }

    private func status(_ world: World) async throws -> TableStatus {
        try #require(try await world.store.tables().first { $0.name == world.todo.text })
    }

    private func counts(_ world: World) -> Int {
        world.transport.targets.count { $0.contains("$top=0") }
    }
    private func lists(_ world: World) -> [String] {
        world.transport.targets.filter { $0.contains("$orderby=id") && $0.contains("$select=id") }
    }

    private func history(_ world: World) async throws -> [String] {
        try await world.store.read {
            try $0.column("SELECT summary FROM history WHERE kind = 'pulled' ORDER BY id")
        }
    }

    static let flavours: [BackendFlavour] = [
        .mobileServices, .mobileApps, .node, .express, .dotnet, .datasync, .toolkit,
    ]

    @Test(arguments: flavours)
    func `a copy that is the same costs one small request in an hour`(flavour: BackendFlavour)
        async throws
    {
        let world = try await copied(BackendOptions(flavour: flavour))
        #expect(await world.engine.sync().state == .complete)
        #expect(counts(world) == 0)
        #expect(await sync(world).state == .complete)
        #expect(
            counts(world) == 1 && world.transport.targets.count == 2, "\(world.transport.targets)")
        #expect(await sync(world, hours: 23).state == .complete)
        #expect(counts(world) == 2 && lists(world).count == 2, "\(world.transport.targets)")
        #expect(try await status(world).drift == nil)
        try await expectSame(world)
    }

    @Test(arguments: flavours)
    func `rows that are gone without a stamp go, and rows that came late are fetched`(
        flavour: BackendFlavour
    ) async throws {
        let world = try await copied(BackendOptions(flavour: flavour))
        try await alter(world, "DELETE FROM items WHERE id = 'b'")
        for id in ["late1", "late2", "late3"] { try await commitLate(world, id) }
        #expect(await world.engine.sync().state == .complete)
        #expect(try await world.local("b") != nil)
        #expect(try await world.local("late1") == nil)
        let run = await sync(world)
        #expect(run.state == .complete, "\(run)")
        try await expectSame(world)
        #expect(try await world.row("b")?.deleted == true)
        let status = try await status(world)
        #expect(
            status.drift?.contains("3 rows were missing here, fetched at 20") == true, "\(status)")
        #expect(status.drift?.contains("1 row was no longer at the backend, removed at") == true)
        #expect(status.mendedRows == 4 && status.warning == nil)
        #expect(try await history(world).last == status.drift)
        let again = await sync(world)
        #expect(again.pull.first?.applied == 0 && lists(world).isEmpty)
    }

    @Test func `a row that goes and another that comes are found once a day`() async throws {
        let world = try await copied()
        try await alter(world, "DELETE FROM items WHERE id = 'b'")
        try await commitLate(world, "late")
        _ = await sync(world)
        #expect(lists(world).isEmpty)
        #expect(await sync(world, hours: 23).state == .complete)
        try await expectSame(world)
    }

    @Test func `a row that changed with its version alone is fetched, also with an earlier time`()
        async throws
    {
        let world = try await copied()
        try await alter(
            world, #"UPDATE items SET columns = '{"text":"x"}', version = 'AAAA' WHERE id = 'b'"#)
        // The clocks of a database on local time went back by an hour.
        try await alter(
            world,
            """
            UPDATE items SET columns = '{"text":"y"}', version = 'BBBB', stamp = stamp - 3600000,
              stamp_ticks = stamp_ticks - 36000000000 WHERE id = 'c'
            """)
        #expect(await sync(world, hours: 24).state == .complete)
        try await expectSame(world)
        #expect(try await status(world).drift?.hasPrefix("2 rows were older here") == true)
    }

    @Test func `a backend that went back by more than an hour keeps nothing from here`()
        async throws
    {
        let world = try await copied()
        try await alter(
            world,
            """
            UPDATE items SET columns = '{"text":"old"}', version = 'AAAA', stamp = stamp - 9000000,
              stamp_ticks = stamp_ticks - 90000000000 WHERE id = 'b'
            """)
        try await alter(world, "DELETE FROM items WHERE id IN ('c', 'd')")
        #expect(await sync(world).state == .complete)
        for id in ["b", "c", "d"] {
            #expect(try await world.local(id)?.columns["text"]?.string == id)
        }
        #expect(try await status(world).warning?.contains("restored from an older backup") == true)
        _ = await sync(world)
        #expect(counts(world) == 0)
        #expect(await world.engine.pull(world.todo, reconcile: true).state == .complete)
        try await expectSame(world)
        #expect(try await status(world).warning == nil)
    }

    @Test func `waiting changes stay, and are not in the count`() async throws {
        let world = try await copied()
        world.transport.decide { request, _ in
            request.head.method == .get
                ? nil : .instead(.json(#"{"error":"not now"}"#, 400))
        }
        try await world.insert("new")
        try await world.update("a", #"{"text":"mine"}"#)
        try await world.delete("c")
        _ = await world.engine.sync()
        #expect(try await world.open().count == 3)
        _ = await sync(world)
        #expect(counts(world) == 1 && lists(world).isEmpty, "\(world.transport.targets)")
        try await alter(world, "DELETE FROM items WHERE id IN ('a', 'b')")
        _ = await sync(world)
        #expect(try await world.local("a")?.columns["text"]?.string == "mine")
        #expect(try await world.local("b") == nil)
        #expect(try await world.local("new") != nil)
        #expect(try await world.row("c")?.deleted == true)
        #expect(try await world.open().count == 3)
    }

    @Test func `a version that a push has replaced is no difference`() async throws {
        let world = try await copied()
        var rows: [String] = []
        for id in ["a", "b", "c", "d", "e"] {
            let version = try #require(try await world.remote(id)?.version)
            rows.append(#"{"id":"\#(id)","version":"\#(version)"}"#)
        }
        let lagging = "[\(rows.joined(separator: ","))]"
        world.transport.decide { request, _ in
            let path = request.head.path ?? ""
            guard path.contains("$select=id") else { return nil }
            return .instead(.json(path.contains("id%20gt") ? "[]" : lagging))
        }
        try await world.update("b", #"{"text":"mine"}"#)
        #expect(await sync(world, hours: 24).state == .complete)
        #expect(lists(world).count == 2)
        #expect(!world.transport.targets.contains { $0.contains("id%20eq") })
        #expect(try await status(world).drift == nil)
        try await expectSame(world)
    }

    @Test func `an empty list in between removes nothing`() async throws {
        let world = try await copied()
        try await commitLate(world, "late")
        world.transport.decide { request, _ in
            let path = request.head.path ?? ""
            let isAsked = path.contains("$select=id") || path.contains("id%20eq")
            return isAsked ? .instead(.json("[]")) : nil
        }
        for _ in 0..<3 { _ = await sync(world) }
        for id in ["a", "b", "c", "d", "e"] { #expect(try await world.local(id) != nil) }
        world.transport.decide { _, _ in nil }
        _ = await world.engine.pull(world.todo, reconcile: true)
        try await expectSame(world)
    }

    @Test func `a row that a read by its id does not refuse stays`() async throws {
        let world = try await copied()
        try await alter(world, "DELETE FROM items WHERE id = 'b'")
        world.transport.decide { request, _ in
            (request.head.path ?? "").hasPrefix("/tables/todoitem/b")
                ? .instead(.json("{}", 500)) : nil
        }
        _ = await sync(world)
        #expect(try await world.local("b") != nil)
        world.transport.decide { _, _ in nil }
        _ = await sync(world, hours: 24)
        try await expectSame(world)
    }

    /// A backend whose answers to some requests are those to others.
    private func answer(
        _ world: World, _ change: @escaping @Sendable (String) -> String,
        body: @escaping @Sendable (String) -> String = { $0 }
    ) {
        let backend = world.backend
        world.transport.decide { request, _ in
            guard request.head.method == .get, let path = request.head.path else { return nil }
            var changed = request
            changed.head.path = change(path)
            var response = backend.respond(to: changed)
            response.body = .bytes(
                Array(body(String(decoding: response.bytes ?? [], as: UTF8.self)).utf8))
            return .instead(response)
        }
    }

    @Test(arguments: ["whole rows", "counts", "the same rows", "refuses"])
    func `a table whose answers are of no use says so, and is left alone`(fault: String)
        async throws
    {
        let world = try await copied()
        try await commitLate(world, "late")
        switch fault {
        case "whole rows": answer(world) { $0.replacing("$select=id", with: "x=1") }
        case "counts":
            _ = await sync(world)
            answer(world, { $0 }) { $0.replacing(#""count":6"#, with: #""count":9"#) }
        case "the same rows":
            answer(world) { $0.replacing("id%20gt", with: "id%20ge%20''%20or%20id%20gt") }
        default: answer(world) { $0.contains("$select=id") ? "/tables/todoitem?$filter=x(" : $0 }
        }
        _ = await sync(world)
        #expect(try await status(world).warning == nil)
        // What was missing may have been fetched, so that the numbers are the same: ids are compared once a day.
        _ = await sync(world, hours: 24)
        let warning = try await status(world).warning ?? ""
        #expect(warning.contains(fault) && warning.contains("--reconcile"), "\(warning)")
        _ = await sync(world, hours: 48)
        #expect(counts(world) == 0 && lists(world).isEmpty)
        world.transport.decide { _, _ in nil }
        _ = await world.engine.pull(world.todo, reconcile: true)
        _ = await sync(world)
        #expect(counts(world) == 1)
        #expect(try await status(world).warning == nil)
        try await expectSame(world)
    }

    @Test func `a comparison goes on where it was, also after a restart`() async throws {
        let world = try await copied(pageRows: 2)
        try await alter(world, "DELETE FROM items WHERE id = 'a'")
        try await commitLate(world, "z")
        try await commitLate(world, "y")
        world.transport.decide { request, _ in
            (request.head.path ?? "").contains("id%20gt%20'c'") ? .notSent : nil
        }
        #expect(await sync(world).state == .offline)
        #expect(lists(world).count == 2)
        world.transport.decide { _, _ in nil }
        world.transport.forget()
        let (_, engine) = try world.reborn()
        var settings = await engine.settings
        settings.checkCopies = Self.hour
        await engine.update { [settings] _ in settings }
        #expect(await engine.sync().state == .complete)
        #expect(lists(world).isEmpty)
        world.clock.advance(by: .seconds(61))
        #expect(await engine.sync().state == .complete)
        #expect(lists(world).first?.contains("id%20gt%20'c'") == true, "\(lists(world))")
        try await expectSame(world)
        #expect(try await world.row("a")?.deleted == true)
    }

    @Test func `a table that is copied in part is compared within its filter`() async throws {
        let world = try await copied(part: "$filter=complete eq false")
        try await world.seed("other", #"{"text":"o","complete":true}"#)
        try await alter(world, "DELETE FROM items WHERE id = 'a'")
        try await alter(
            world, #"UPDATE items SET columns = '{"text":"b","complete":true}' WHERE id = 'b'"#)
        try await commitLate(world, "late")
        #expect(await sync(world).state == .complete)
        let ids: [String] = try await world.store.read {
            try $0.column("SELECT id FROM items WHERE deleted = 0 ORDER BY id")
        }
        #expect(ids == ["c", "d", "e", "late"])
        #expect(
            try await status(world).drift?.contains("2 rows were no longer in the part") == true)
        _ = await sync(world)
        #expect(counts(world) == 1 && lists(world).isEmpty)
    }

    @Test func `integer ids are compared as numbers`() async throws {
        var options = BackendOptions(flavour: .node)
        options.tables[try #require(TableName("todoitem"))] = TableOptions(idKind: .integer)
        let world = try World(
            options,
            settings: SyncSettings(triggers: [.manual], pageRows: 5, checkCopies: Self.hour))
        for number in 1...12 {
            #expect(try await world.elsewhere("POST", nil, #"{"text":"\#(number)"}"#) == 201)
        }
        world.clock.advance(by: Self.hour)
        for _ in 0..<2 {
            #expect(await world.engine.pull(world.todo).state == .complete)
            world.clock.advance(by: .seconds(120))
        }
        try await alter(world, "DELETE FROM items WHERE id IN ('2', '11')")
        #expect(await sync(world).state == .complete)
        let ids: [String] = try await world.store.read {
            try $0.column("SELECT id FROM items WHERE deleted = 0 ORDER BY CAST(id AS INTEGER)")
        }
        #expect(ids == ["1", "3", "4", "5", "6", "7", "8", "9", "10", "12"])
        #expect(try await status(world).mendedRows == 2)
    }

    @Test func `the loop checks each hour while it is idle, and no more when the backend is away`()
        async throws
    {
        let world = try await copied(
            triggers: [.manual, .afterWrites, .reconnect], every: .seconds(60))
        let loop = Task { await world.engine.run() }
        try await world.pass(for: .seconds(180))
        #expect(
            counts(world) == 3 && world.transport.targets.count == 3, "\(world.transport.targets)")
        try await alter(world, "DELETE FROM items WHERE id = 'b'")
        try await world.pass(until: { try await world.local("b") == nil })
        world.transport.forget()
        world.transport.decide { _, _ in .notSent }
        try await world.pass(for: .seconds(180))
        #expect(counts(world) <= 1)
        world.transport.decide { _, _ in nil }
        try await world.pass(for: .seconds(200))
        loop.cancel()
        await loop.value
        try await expectSame(world)
    }
}
