import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Backends whose answers of success lack the version or a part of the row, as those of a script may.
@Suite struct PartialAnswerTests {
    static let flavours = [BackendFlavour.mobileServices, .mobileApps, .datasync]

    private static func isChange(_ request: Request) -> Bool {
        request.head.method == .patch || request.head.method == .put
    }

    /// Another writer's change of the whole row, in the form of the backend's generation.
    private func writeElsewhere(_ world: World, _ columns: String) async throws {
        let method = world.flavour == .datasync ? "PUT" : "PATCH"
        #expect(try await world.send(method, "/tables/todoitem/a", columns) == 200)
    }

    /// A row that both sides have, and whose last update was answered without a version.
    private func answeredWithoutVersion(_ flavour: BackendFlavour) async throws -> World {
        let world = try World(BackendOptions(flavour: flavour))
        try await world.insert("a")
        #expect(await world.engine.push().state == .complete)
        try await world.update("a", #"{"text":"A1"}"#)
        world.transport.once(.answered(.json(#"{"id":"a","text":"A1"}"#))) {
            Self.isChange($0)
        }
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.open().isEmpty)
        try await expect(world, #"{"text":"A1","rank":1}"#)
        return world
    }

    /// Both sides have the row with exactly these columns.
    private func expect(_ world: World, _ columns: String) async throws {
        let expected = Columns(stored: columns)
        for row in [try await world.local("a"), try await world.remote("a")] {
            let found = try #require(row)
            #expect(!found.deleted)
            #expect(found.columns.changedNames(from: expected).isEmpty, "\(found.columns.text)")
        }
    }

    @Test(arguments: flavours, [false, true])
    func `the change after an answer without a version is sent with the present version`(
        flavour: BackendFlavour, isDelete: Bool
    ) async throws {
        let world = try await answeredWithoutVersion(flavour)
        let version = try #require(try await world.remote("a")?.version)
        if isDelete {
            try await world.delete("a")
        } else {
            try await world.update("a", #"{"text":"A2"}"#)
        }
        world.transport.forget()
        #expect(await world.engine.push().state == .complete)
        let sent = world.transport.sent.filter { $0.head.method != .get }
        #expect(sent.map { $0.head.headerFields[.ifMatch] } == [ETag.quote(version)])
        #expect(try await world.open().isEmpty)
        if isDelete {
            #expect(try await world.local("a") == nil)
            #expect(try await world.remote("a")?.deleted != false)
        } else {
            try await expect(world, #"{"text":"A2","rank":1}"#)
        }
    }

    @Test(arguments: [BackendFlavour.mobileApps, .datasync], [false, true])
    func `the change after an answer without a version overwrites nobody`(
        flavour: BackendFlavour, isDelete: Bool
    ) async throws {
        let world = try await answeredWithoutVersion(flavour)
        try await writeElsewhere(world, #"{"id":"a","text":"THEIRS","rank":1}"#)
        if isDelete {
            try await world.delete("a")
        } else {
            try await world.update("a", #"{"text":"A2"}"#)
        }
        _ = await world.engine.push()
        let open = try await world.open()
        #expect(open.map(\.state) == [.conflict])
        let theirs = Columns(stored: #"{"text":"THEIRS","rank":1}"#)
        let remote = try #require(try await world.remote("a"))
        #expect(!remote.deleted && remote.columns.changedNames(from: theirs).isEmpty)
        let id = try #require(open.first?.id)
        let conflict = try #require(try await world.store.lists.conflict(id))
        let server = Columns(stored: try #require(conflict.server).text)
        #expect(server.changedNames(from: theirs).isEmpty, "\(server.text)")
    }

    @Test func `a row that cannot be read after such an answer is read later`() async throws {
        let world = try World()
        try await world.insert("a")
        #expect(await world.engine.push().state == .complete)
        try await world.update("a", #"{"text":"A1"}"#)
        let partial = Response.json(#"{"id":"a","text":"A1"}"#)
        world.transport.decide { request, _ in
            if request.head.method == .patch { return .answered(partial) }
            return request.head.path?.contains("id%20eq") == true ? .notSent : nil
        }
        _ = await world.engine.push()
        let open = try #require(try await world.open().first)
        #expect(open.state == .unknown && open.maybeApplied)
        world.transport.decide { _, _ in nil }
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(700))
            _ = await world.engine.push()
        }
        #expect(try await world.open().isEmpty)
        try await expect(world, #"{"text":"A1","rank":1}"#)
        #expect(try await world.backend.effectCount(world.todo, "a") == 2)
    }

    @Test(arguments: [500, 200])
    func `a change is closed with its answer if the read of its row fails`(_ status: Int)
        async throws
    {
        let world = try World()
        try await world.insert("a")
        #expect(await world.engine.push().state == .complete)
        try await world.update("a", #"{"text":"A1"}"#)
        // The backend's own logic writes the text in another way. The body of the failed read is torn.
        let partial = Response.json(#"{"id":"a","text":"tidy(A1)"}"#)
        let failed = Response.json(#"{"error":"#, status)
        world.transport.forget()
        world.transport.decide { request, _ in
            if request.head.method == .patch { return .answered(partial) }
            return request.head.path?.contains("id%20eq") == true ? .instead(failed) : nil
        }
        #expect(await world.engine.push().state == .complete)
        #expect(world.transport.targets.filter { $0.contains("id%20eq") }.count == 1)
        #expect(try await world.open().isEmpty)
        let row = try #require(try await world.local("a"))
        let expected = Columns(stored: #"{"text":"tidy(A1)","rank":1}"#)
        #expect(row.columns.changedNames(from: expected).isEmpty, "\(row.columns.text)")
    }

    @Test func `a part of an inserted row is not replaced as if it were the whole row`()
        async throws
    {
        let world = try World(BackendOptions(flavour: .datasync))
        try await world.insert("a")
        let partial = Response.json(
            #"{"id":"a","version":"MQ==","updatedAt":"2026-01-01T00:00:00.000Z"}"#, 201)
        world.transport.once(.answered(partial)) { $0.head.method == .post }
        #expect(await world.engine.push().state == .complete)
        try await expect(world, #"{"text":"milk","rank":1}"#)
        try await world.update("a", #"{"rank":2}"#)
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.open().isEmpty)
        try await expect(world, #"{"text":"milk","rank":2}"#)
    }

    @Test func `a column that the backend itself has cleared does not come back`() async throws {
        let world = try World(BackendOptions(flavour: .datasync))
        try await world.insert("a", #"{"text":"one","reminder":"9:00"}"#)
        #expect(await world.engine.push().state == .complete)
        try await world.update("a", #"{"text":"two"}"#)
        // The backend stores the change, clears the reminder, and leaves nulls out of its answer.
        try await writeElsewhere(world, #"{"id":"a","text":"two","reminder":null}"#)
        let version = try #require(try await world.remote("a")?.version)
        let partial = Response.json(#"{"id":"a","text":"two","version":"\#(version)"}"#)
        world.transport.once(.instead(partial)) { $0.head.method == .put }
        #expect(await world.engine.push().state == .complete)
        try await expect(world, #"{"text":"two","reminder":null}"#)
        try await world.update("a", #"{"text":"three"}"#)
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.open().isEmpty)
        try await expect(world, #"{"text":"three","reminder":null}"#)
    }
}
