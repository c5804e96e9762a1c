import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Refusals as scripts send them: a sentence, which Express sends as HTML.
@Suite struct RefusalInTextTests {
    private static let sentence = "only the owner may do this"
    private static let html: HTTPFields = [.contentType: "text/html; charset=utf-8"]

    private static func answer(_ status: Int, _ body: String = sentence) -> Response {
        Response(status: .init(code: status), headerFields: html, body: Array(body.utf8))
    }

    private static func isWrite(_ request: Request) -> Bool { request.head.method != .get }

    @Test(arguments: [400, 403, 405, 413, 422], [OperationKind.insert, .update, .delete])
    func `a sentence refuses a write at once, and is kept`(status: Int, kind: OperationKind)
        async throws
    {
        let world = try World()
        try await world.insert("a", #"{"text":"old","n":1}"#)
        #expect(await world.engine.sync().state == .complete)
        switch kind {
        case .insert: try await world.insert("b")
        case .update, .replace, .undelete: try await world.update("a", #"{"text":"new"}"#)
        case .delete: try await world.delete("a")
        }
        world.transport.decide { request, _ in
            Self.isWrite(request) ? .instead(Self.answer(status)) : nil
        }
        #expect(await world.engine.push().push?.quarantined == 1)
        let open = try await world.open()
        #expect(open.map(\.state) == [.quarantined] && open.map(\.attempts) == [1])
        #expect(
            open.first?.reason == "The backend refused it with \(status): \(Self.sentence)")
        #expect(await world.engine.backendStatus.state == .online)
        #expect(try await world.store.ledger().balances)
    }

    @Test(arguments: [404, 409, 410, 412])
    func `a sentence beside an unchanged row refuses the write`(status: Int) async throws {
        let world = try World()
        try await world.insert("a", #"{"text":"old","n":1}"#)
        #expect(await world.engine.sync().state == .complete)
        try await world.update("a", #"{"text":"new"}"#)
        world.transport.decide { request, _ in
            Self.isWrite(request) ? .instead(Self.answer(status)) : nil
        }
        #expect(await world.engine.push().push?.quarantined == 1)
        #expect(
            try await world.open().first?.reason
                == "The backend refused it with \(status): \(Self.sentence)")
        #expect(try await world.remote("a")?.columns["text"]?.string == "old")
    }

    @Test func `what refuses all requests in text is no verdict, and all is sent behind it`()
        async throws
    {
        for body in ["Access denied by policy 17.", "<html>Access denied</html>"] {
            let world = try World()
            try await world.insert("first")
            #expect(await world.engine.sync().state == .complete)
            for id in ["a", "b", "c"] { try await world.insert(id) }
            world.transport.decide { _, _ in .instead(Self.answer(403, body)) }
            _ = await world.engine.push()
            #expect(try await world.store.ledger().queue.quarantined == 0)
            #expect(try await world.open().count == 3)
            world.transport.decide { _, _ in nil }
            #expect(await world.engine.sync().state == .complete)
            for id in ["a", "b", "c"] { #expect(try await world.remote(id) != nil) }
        }
    }

    @Test func `a table whose lists are refused in text is not copied, and is no portal`()
        async throws
    {
        let world = try World()
        try await world.insert("a")
        #expect(await world.engine.sync().state == .complete)
        world.transport.decide { request, _ in
            request.path.hasPrefix("/tables/closed") ? .instead(Self.answer(405)) : nil
        }
        let closed = try #require(TableName("closed"))
        let run = await world.engine.pull(closed)
        #expect(run.pull.map(\.error) == ["Table closed cannot be listed (405)."])
        #expect(await world.engine.backendStatus.state == .online)
    }
}
