import Backend
import HTTPMessage
import HTTPTypes
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Rows of a backend without a version: another writer's change is not overwritten unseen.
@Suite struct NoVersionTests {
    enum Change: String, CaseIterable {
        case patch, put, delete
    }

    private static let flavours: [BackendFlavour] = [.mobileServices, .mobileApps, .toolkit]
    private static let kept = #"{"text":"milk","rank":1}"#

    private static func world(
        _ flavour: BackendFlavour, soft: Bool = true, versions: Bool = false,
        settings: SyncSettings = SyncSettings(triggers: [.manual])
    ) throws -> World {
        var options = BackendOptions(flavour: flavour)
        options.tables = [
            try #require(TableName("todoitem")): TableOptions(
                softDelete: soft, hasVersions: versions)
        ]
        options.allowsPut = true
        return try World(options, settings: settings)
    }

    /// Another client's write in the form of the flavour. The toolkit takes whole rows.
    private func elsewhere(
        _ world: World, _ method: String, _ id: String, _ body: String? = nil
    ) async throws {
        let isToolkit = world.flavour == .toolkit
        let status = try await world.send(
            method == "PATCH" && isToolkit ? "PUT" : method, "/tables/todoitem/\(id)", body)
        #expect((200..<300).contains(status))
    }

    private func write(_ world: World, _ change: Change, _ columns: String, matching: Bool)
        async throws
    {
        let version = try #require(try await world.row("a")?.version)
        let ifMatch = matching ? IfMatch.versions([version]) : .absent
        let id = try ItemID("a")
        let action: WriteAction =
            switch change {
            case .patch: .update(id, Columns(stored: columns))
            case .put: .replace(id, Columns(stored: columns))
            case .delete: .delete(id)
            }
        #expect(await world.write(action, ifMatch: ifMatch).item != nil)
    }

    private func columns(_ item: Item?) -> String? {
        item.flatMap { $0.deleted ? nil : $0.columns }.map { columns in
            Columns(columns.all.filter { !$0.value.isNull }.sorted { $0.name < $1.name }).text
        }
    }

    private func expectSame(_ world: World) async throws {
        let (here, there) = (try await world.row("a"), try await world.remote("a"))
        #expect(columns(here) == columns(there))
    }

    @Test(arguments: flavours, [true, false])
    func `what another writer changed is kept, with a condition of the client or without`(
        _ flavour: BackendFlavour, _ matching: Bool
    ) async throws {
        for change in Change.allCases {
            let world = try Self.world(flavour)
            try await world.seed("a", Self.kept)
            _ = await world.engine.pull(world.todo)
            try await write(world, change, #"{"text":"mine","rank":1}"#, matching: matching)
            try await elsewhere(world, "PATCH", "a", #"{"id":"a","text":"theirs","rank":1}"#)
            for _ in 0..<2 { _ = await world.engine.push() }
            #expect(columns(try await world.remote("a")) == #"{"rank":1,"text":"theirs"}"#)
            #expect(try await world.open().map(\.state) == [.conflict], "\(change)")
            let conflict = try await world.store.firstConflict()
            _ = try await world.store.resolve(conflict.id, revision: conflict.revision, .mine)
            _ = await world.engine.push()
            #expect(try await world.open().isEmpty)
            let mine = change == .delete ? nil : #"{"rank":1,"text":"mine"}"#
            #expect(columns(try await world.remote("a")) == mine)
            try await expectSame(world)
        }
    }

    @Test(arguments: flavours)
    func `changes to other columns are merged, and a row that is as it was is written`(
        _ flavour: BackendFlavour
    ) async throws {
        for change in Change.allCases {
            let world = try Self.world(flavour)
            try await world.seed("a", Self.kept)
            _ = await world.engine.pull(world.todo)
            try await write(world, change, #"{"text":"mine","rank":1}"#, matching: false)
            if change != .delete {
                try await elsewhere(world, "PATCH", "a", #"{"id":"a","text":"milk","rank":2}"#)
            }
            _ = await world.engine.push()
            #expect(try await world.open().isEmpty)
            let rank = change == .delete ? nil : #"{"rank":2,"text":"mine"}"#
            #expect(columns(try await world.remote("a")) == rank, "\(change)")
            try await expectSame(world)
            #expect(world.writes.count == 1)
        }
    }

    @Test(arguments: flavours, [true, false])
    func `a row that another writer deleted is a conflict of a change, and no work for a delete`(
        _ flavour: BackendFlavour, _ soft: Bool
    ) async throws {
        for change in Change.allCases {
            let world = try Self.world(flavour, soft: soft)
            try await world.seed("a", Self.kept)
            _ = await world.engine.pull(world.todo)
            try await write(world, change, #"{"text":"mine","rank":1}"#, matching: false)
            try await elsewhere(world, "DELETE", "a")
            _ = await world.engine.push()
            #expect(columns(try await world.remote("a")) == nil)
            #expect(
                try await world.open().map(\.state) == (change == .delete ? [] : [.conflict]))
            #expect(world.writes.isEmpty, "\(world.writes)")
        }
    }

    @Test func `a row that was read is written before other rows are read`() async throws {
        let settings = SyncSettings(triggers: [.manual], parallelism: 4)
        let world = try Self.world(.mobileApps, settings: settings)
        for number in 10..<40 { try await world.seed("r\(number)", Self.kept) }
        _ = await world.engine.pull(world.todo)
        for number in 10..<40 { try await world.update("r\(number)", #"{"text":"mine"}"#) }
        world.transport.forget()
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        let targets = world.transport.targets
        for number in 10..<40 {
            let read = try #require(
                targets.firstIndex { $0.hasPrefix("GET") && $0.contains("r\(number)") })
            let written = try #require(targets.firstIndex { $0.hasSuffix("/r\(number)") })
            #expect((1...16).contains(written - read))
        }
    }

    @Test func `a version that the read brings is the condition`() async throws {
        let world = try Self.world(.mobileApps, versions: true)
        try await world.seed("a", Self.kept)
        _ = await world.engine.pull(world.todo)
        try await world.store.write { transaction in
            try transaction.run("UPDATE items SET server_version = NULL")
        }
        try await world.update("a", #"{"text":"mine"}"#)
        _ = await world.engine.push()
        let sent = try #require(world.transport.sent.last { $0.head.method == .patch })
        #expect(sent.head.headerFields[.ifMatch] != nil)
        #expect(try await world.open().isEmpty)
        try await expectSame(world)
    }

    @Test func `a table whose writes without a condition win is written at once`() async throws {
        let world = try Self.world(.mobileApps)
        try await world.seed("a", Self.kept)
        _ = await world.engine.pull(world.todo)
        _ = try await world.store.updateTable(world.todo) { $0.unconditionalPolicy = .client }
        try await world.update("a", #"{"text":"mine"}"#)
        try await elsewhere(world, "PATCH", "a", #"{"text":"theirs"}"#)
        world.transport.forget()
        _ = await world.engine.push()
        #expect(columns(try await world.remote("a")) == #"{"rank":1,"text":"mine"}"#)
        // With a condition of the client the row is read.
        let version = try #require(try await world.row("a")?.version)
        _ = await world.write(
            .update(try ItemID("a"), Columns(stored: #"{"text":"again"}"#)),
            ifMatch: .versions([version]))
        try await elsewhere(world, "PATCH", "a", #"{"text":"theirs"}"#)
        _ = await world.engine.push()
        #expect(columns(try await world.remote("a")) == #"{"rank":1,"text":"theirs"}"#)
        #expect(try await world.open().map(\.state) == [.conflict])
    }

    @Test func `a table without versions says so beside its other warnings, until versions come`()
        async throws
    {
        let options = [true, false]
        for pulls in options {
            let world = try Self.world(.mobileApps)
            try await world.seed("a", Self.kept)
            func warning() async throws -> String {
                try await world.store.tables().first?.warning ?? ""
            }
            if pulls {
                world.transport.decide { _, _ in nil }
                _ = await world.engine.pull(world.todo)
            } else {
                _ = await world.engine.pull(world.todo)
                try await world.store.write { transaction in
                    try transaction.run("UPDATE tables SET lacks_versions = 0, warning = 'Other.'")
                    transaction.effects.changedTables = true
                }
                #expect(try await warning() == "Other.")
                try await world.update("a", #"{"text":"mine"}"#)
                _ = await world.engine.push()
                #expect(try await warning().hasSuffix(" Other."))
            }
            #expect(try await warning().hasPrefix("Its rows have no version"))
        }
        let world = try Self.world(.mobileApps, versions: true)
        try await world.seed("a", Self.kept)
        _ = await world.engine.pull(world.todo)
        #expect(try await world.store.tables().first?.warning == nil)
    }

    @Test(arguments: [true, false])
    func `pulls bring changes and deletions of rows without version and time`(_ soft: Bool)
        async throws
    {
        var options = BackendOptions(flavour: .mobileApps)
        options.stamps = .none
        options.tables = [
            try #require(TableName("todoitem")): TableOptions(softDelete: soft, hasVersions: false)
        ]
        let world = try World(options)
        for id in ["a", "b"] { try await world.seed(id, Self.kept) }
        _ = await world.engine.pull(world.todo)
        try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#)
        try await world.elsewhere("DELETE", "b")
        _ = await world.engine.pull(world.todo)
        #expect(columns(try await world.row("a")) == #"{"rank":1,"text":"theirs"}"#)
        #expect(try await world.local("b") == nil)
        let stamp = try await world.row("b")?.updatedAt
        let report = await world.engine.pull(world.todo).pull
        #expect(report.map(\.applied) == [0] && report.map(\.deleted) == [0])
        #expect(try await world.row("b")?.updatedAt == stamp)
    }
}
