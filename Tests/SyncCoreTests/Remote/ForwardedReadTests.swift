import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Lists that are sent to the backend for clients that name no order.
@Suite struct ForwardedReadTests {
    private func read(
        _ query: TableQuery = TableQuery(), rows: Int? = nil, from client: Generation
    ) throws -> ForwardedRead {
        ForwardedRead(
            table: try #require(TableName("todoitem")), target: .list(query, rows: rows),
            generation: client)
    }

    /// The client's generation, the backend's, and the pairs of the request.
    @Test(arguments: [
        (
            Generation.mobileServices, Generation.mobileServices,
            ["$orderby=id", "$top=50", "__systemproperties=*"]
        ),
        (.mobileApps, .mobileServices, ["$orderby=id", "$top=50", "__systemproperties=*"]),
        (.datasync, .mobileServices, ["$orderby=id", "$top=100", "__systemproperties=*"]),
        (.mobileServices, .mobileApps, ["$orderby=id"]),
        (.datasync, .mobileApps, ["$orderby=id"]),
        (.mobileApps, .datasync, ["$orderby=id"]),
    ])
    func `the backend is asked in the order of ids, and an old one for the client's page`(
        client: Generation, backend: Generation, pairs: [String]
    ) throws {
        let target = try #require(try read(from: client).request(for: backend)).target
        let text = try #require(PercentCoding.decode(Substring(target)))
        let query = try #require(text.split(separator: "?").last)
        #expect(query.split(separator: "&").map(String.init).sorted() == pairs)
    }

    @Test func `a backend that refuses the order of ids lists in its own order`() async throws {
        let world = try World()
        try await world.seed("b", #"{"text":"x"}"#)
        try await world.seed("a", #"{"text":"x"}"#)
        world.transport.decide { request, _ in
            guard request.head.path?.contains("orderby") == true else { return nil }
            return .instead(
                Response(
                    status: .badRequest, headerFields: [.contentType: "application/json"],
                    body: Array(#"{"error":"No order is supported."}"#.utf8)))
        }
        let unordered = await world.engine.forward(try read(rows: 50, from: .mobileApps))
        guard case .page(let page) = unordered else {
            Issue.record("no page")
            return
        }
        #expect(page.items.map(\.id.text).sorted() == ["a", "b"])
        #expect(world.transport.targets.suffix(2).map { $0.contains("orderby") } == [true, false])
        // The client's own order is not left out.
        let query = TableQuery(orderBy: try Ordering.parse("text", generation: .mobileApps))
        let ordered = await world.engine.forward(try read(query, rows: 50, from: .mobileApps))
        guard case .refused(let response, _, _) = ordered else {
            Issue.record("no refusal")
            return
        }
        #expect(response.head.status == .badRequest)
    }

    @Test func `a failure of one moment is no refusal of the order`() async throws {
        let world = try World()
        for id in ["c", "a", "b"] { try await world.seed(id, #"{"text":"x"}"#) }
        let failure = Response(
            status: .internalServerError, headerFields: [.contentType: "application/json"],
            body: Array(#"{"error":"timeout"}"#.utf8))
        world.transport.once(.instead(failure)) { $0.head.path?.contains("orderby") == true }
        let list = try read(rows: 50, from: .mobileApps)
        guard case .refused(let response, _, _) = await world.engine.forward(list) else {
            Issue.record("no refusal")
            return
        }
        #expect(response.head.status == .internalServerError)
        #expect(response.bytes == failure.bytes)
        guard case .page(let page) = await world.engine.forward(list) else {
            Issue.record("no page")
            return
        }
        #expect(page.items.map(\.id.text) == ["a", "b", "c"])
        #expect(world.transport.targets.suffix(2).allSatisfy { $0.contains("orderby") })
    }

    @Test func `a full page of a first generation backend says that more rows may follow`()
        async throws
    {
        let world = try World(BackendOptions(flavour: .mobileServices))
        let ids = (0..<60).map { "r\(100 + $0)" }
        for id in ids.reversed() { try await world.seed(id, #"{"text":"x"}"#) }
        for (client, rows) in [(Generation.mobileApps, 50), (.datasync, 60)] {
            guard case .page(let page) = await world.engine.forward(try read(from: client)) else {
                Issue.record("no page")
                continue
            }
            #expect(page.items.map(\.id.text) == Array(ids.prefix(rows)))
            #expect(page.hasMore == (rows < ids.count))
        }
    }
}
