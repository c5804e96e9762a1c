import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A row counts as gone only if a list and a read by its id say so.
@Suite struct AbsenceTests {
    private static let kinds: [OperationKind] = [.update, .delete, .undelete]
    private static let page =
        Response(
            status: .notFound, headerFields: [.contentType: "text/html"],
            body: Array("<pre>Cannot GET /tables/todoitem/a</pre>".utf8))
    private static let noPath = Response(status: .notFound, body: Array("Cannot GET /x".utf8))
    private static let notFound = Response.json(#"{"error":"No such item."}"#, 404)

    /// Sends a change of item `a` whose answer is lost, or never arrives, in a table that deletes softly. Lists of
    /// one row are answered with `[]`, and reads by id as given; nil is the backend's own answer.
    private func world(_ kind: OperationKind, isApplied: Bool) async throws -> World {
        let world = try World()
        for id in ["a", "b"] { try await world.seed(id, #"{"text":"milk"}"#) }
        _ = await world.engine.pull(world.todo)
        try await world.delete("b")
        _ = await world.engine.push()
        if kind == .undelete {
            try await world.delete("a")
            _ = await world.engine.push()
        }
        world.clock.advance(by: .seconds(3600))
        switch kind {
        case .update: try await world.update("a", #"{"text":"mine"}"#)
        case .delete: try await world.delete("a")
        default: _ = await world.write(.undelete(try ItemID("a")))
        }
        world.transport.decide { request, _ in
            request.head.method == .get ? nil : isApplied ? .answerLost : .vanished
        }
        _ = await world.engine.push()
        return world
    }

    private func hide(_ world: World, byID: Response?, writes: Response? = nil) {
        world.transport.decide { request, _ in
            let path = request.head.path ?? ""
            guard request.head.method == .get else { return writes.map { .instead($0) } }
            if path.contains("filter=id") {
                return .instead(Response(status: .ok, body: Array("[]".utf8)))
            }
            return path.contains("todoitem/a") ? byID.map { .instead($0) } : nil
        }
    }

    @Test(arguments: kinds, [true, false])
    func `a list without the row is no answer where a read by id gives the row`(
        _ kind: OperationKind, _ isApplied: Bool
    ) async throws {
        let world = try await world(kind, isApplied: isApplied)
        hide(world, byID: nil)
        for _ in 0..<3 { _ = await world.engine.push() }
        #expect(try await world.open().isEmpty)
        let row = try #require(try await world.remote("a"))
        #expect(row.deleted == (kind == .delete))
        #expect(row.columns.text == (kind == .update ? #"{"text":"mine"}"# : #"{"text":"milk"}"#))
        #expect(try await world.row("a")?.columns == row.columns)
        #expect(try await world.row("a")?.deleted == row.deleted)
    }

    @Test(
        arguments: kinds,
        [
            page, noPath, Response(status: .forbidden, body: []),
            Response(status: .unauthorized, body: []),
        ])
    func `what is no answer of the backend to a read by id confirms nothing`(
        _ kind: OperationKind, _ answer: Response
    ) async throws {
        let world = try await world(kind, isApplied: false)
        hide(world, byID: answer)
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(60))
            _ = await world.engine.push()
        }
        #expect(try await world.open().map(\.state) == [.unknown])
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(3600))
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("a")?.deleted == (kind == .delete))
    }

    @Test(arguments: kinds)
    func `where the row must be both answers are doubted for a minute`(
        _ kind: OperationKind
    ) async throws {
        let world = try await world(kind, isApplied: false)
        hide(world, byID: Self.notFound, writes: Self.notFound)
        _ = await world.engine.push()
        #expect(try await world.open().map(\.state) == [.unknown])
        world.clock.advance(by: .seconds(SyncLimits.doubtedAbsenceSeconds))
        _ = await world.engine.push()
        let open = try await world.open()
        #expect(open.map(\.state) == (kind == .delete ? [] : [.conflict]))
        #expect(try await world.store.ledger().balances)
    }

    @Test(arguments: [OperationKind.update, .delete])
    func `a change that is refused with 404 is sent again while the row is doubted`(
        _ kind: OperationKind
    ) async throws {
        let world = try await world(kind, isApplied: false)
        world.transport.decide { _, _ in nil }
        _ = await world.engine.push()
        world.clock.advance(by: .seconds(3600))
        if kind == .update {
            try await world.update("a", #"{"text":"again"}"#)
        } else {
            _ = await world.write(.undelete(try ItemID("a")))
        }
        hide(world, byID: Self.page, writes: Self.notFound)
        _ = await world.engine.push()
        #expect(try await world.open().map(\.state) == [.waiting])
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(3600))
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("a")?.deleted == false)
    }

    @Test func `an insert needs no read by id to be sent again`() async throws {
        let world = try World()
        try await world.insert("n")
        world.transport.once(.vanished) { $0.head.method == .post }
        _ = await world.engine.push()
        world.transport.forget()
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        #expect(world.transport.targets.filter { $0.contains("todoitem/n") }.isEmpty)
        #expect(try await world.remote("n")?.deleted == false)
    }
}
