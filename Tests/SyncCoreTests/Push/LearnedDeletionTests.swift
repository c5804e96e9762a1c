import Backend
import HTTPMessage
import HTTPTypes
import Simulator
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// What a store learns of how its backend deletes.
@Suite struct LearnedDeletionTests {
    private static let kinds: [(BackendFlavour, Bool)] = BackendFlavour.allCases.flatMap {
        [($0, true), ($0, false)]
    }

    private func deletion(_ world: World) async throws -> SyncCore.TableRecord.Deletion {
        let todo = world.todo
        return try #require(try await world.store.read { try $0.tables.table(todo)?.deletion })
    }

    @Test(arguments: kinds)
    func `the first delete that was sent shows whether the table deletes softly`(
        _ flavour: BackendFlavour, _ soft: Bool
    ) async throws {
        let world = try World(flavour, TableOptions(softDelete: soft))
        for id in ["a", "b"] { try await world.seed(id, #"{"text":"milk"}"#) }
        _ = await world.engine.pull(world.todo)
        #expect(try await deletion(world) == .unknown)
        try await world.delete("a")
        _ = await world.engine.push()
        #expect(try await deletion(world) == (soft ? .soft : .hard))
        #expect(try await world.open().isEmpty)
        world.transport.forget()
        try await world.delete("b")
        _ = await world.engine.push()
        #expect(world.transport.targets.count == 1)
        #expect(try await deletion(world) == (soft ? .soft : .hard))
    }

    @Test func `a row that is pulled as deleted shows it too, and outweighs a row that is gone`()
        async throws
    {
        let world = try World(.mobileApps, TableOptions(softDelete: true))
        for id in ["a", "b"] { try await world.seed(id, #"{"text":"milk"}"#) }
        _ = await world.engine.pull(world.todo)
        // The backend's reads leave out what is deleted.
        world.transport.decide { request, _ in
            guard let path = request.head.path, path.contains("__includeDeleted") else {
                return nil
            }
            return path.contains("todoitem/a")
                ? .instead(Response(status: .notFound, body: []))
                : .instead(Response(status: .ok, body: Array("[]".utf8)))
        }
        try await world.delete("a")
        _ = await world.engine.push()
        #expect(try await deletion(world) == .hard)
        world.transport.decide { _, _ in nil }
        try await world.elsewhere("DELETE", "b")
        _ = await world.engine.pull(world.todo)
        #expect(try await deletion(world) == .soft)
    }

    @Test func `a row that cannot be read shows nothing, and the next delete finds out`()
        async throws
    {
        let world = try World(.mobileApps, TableOptions(softDelete: false))
        for id in ["a", "b"] { try await world.seed(id, #"{"text":"milk"}"#) }
        _ = await world.engine.pull(world.todo)
        try await world.delete("a")
        _ = await world.pushWithoutLearning()
        #expect(try await deletion(world) == .unknown)
        #expect(try await world.operations([.done]).count == 1)
        try await world.delete("b")
        _ = await world.engine.push()
        #expect(try await deletion(world) == .hard)
    }

    @Test func `another backend is not known`() async throws {
        let world = try World(.mobileApps, TableOptions(softDelete: true))
        try await world.seed("a", #"{"text":"milk"}"#)
        try await world.elsewhere("DELETE", "a")
        _ = await world.engine.pull(world.todo)
        #expect(try await deletion(world) == .soft)
        try await world.engine.rebind()
        #expect(try await deletion(world) == .unknown)
    }
}
