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
            ["$top=50", "__systemproperties=*"]
        ),
        (.mobileApps, .mobileServices, ["$top=50", "__systemproperties=*"]),
        (.datasync, .mobileServices, ["$top=100", "__systemproperties=*"]),
        (.mobileServices, .mobileApps, []), (.datasync, .mobileApps, []),
        (.mobileApps, .datasync, []),
    ])
    func
        `the backend is asked in the client's order, a further page in that of ids, and an old one for a page`(
            client: Generation, backend: Generation, pairs: [String]
        ) throws
    {
        for (skip, more) in [(0, []), (50, ["$orderby=id", "$skip=50"])] {
            let read = try read(TableQuery(skip: skip), from: client)
            let target = try #require(read.request(for: backend)).target
            let text = try #require(PercentCoding.decode(Substring(target)))
            let query = text.split(separator: "?").dropFirst().joined()
            #expect(
                query.split(separator: "&").map(String.init).sorted() == (more + pairs).sorted())
        }
    }

    @Test func `a list is asked for again in the order of ids only if more rows follow`()
        async throws
    {
        let world = try World()
        for id in ["c", "a", "b"] { try await world.seed(id, #"{"text":"x"}"#) }
        _ = await world.engine.forward(try read(rows: 50, from: .mobileApps))
        for (rows, orders) in [(50, [false]), (2, [false, true])] {
            world.transport.forget()
            guard
                case .page(let page) = await world.engine.forward(
                    try read(rows: rows, from: .mobileApps))
            else { throw World.Failure("no page") }
            #expect(page.items.map(\.id.text) == Array(["a", "b", "c"].prefix(rows)))
            #expect(page.hasMore == (rows == 2))
            #expect(world.transport.targets.map { $0.contains("orderby=id") } == orders)
        }
    }

    @Test func `a backend that refuses the order of ids lists in its own order`() async throws {
        let world = try World()
        try await world.seed("b", #"{"text":"x"}"#)
        try await world.seed("a", #"{"text":"x"}"#)
        world.transport.decide { request, _ in
            guard request.head.path?.contains("orderby") == true else { return nil }
            return .instead(.json(#"{"error":"No order is supported."}"#, 400))
        }
        let unordered = await world.engine.forward(try read(rows: 1, from: .mobileApps))
        guard case .page(let page) = unordered else { throw World.Failure("no page") }
        #expect(page.items.count == 1)
        #expect(world.transport.targets.suffix(2).map { $0.contains("orderby") } == [true, false])
        // The client's own order is not left out.
        let query = TableQuery(orderBy: try Ordering.parse("text", generation: .mobileApps))
        let ordered = await world.engine.forward(try read(query, rows: 50, from: .mobileApps))
        guard case .refused(let response, _, _) = ordered else { throw World.Failure("no refusal") }
        #expect(response.head.status == .badRequest)
    }

    @Test func `a failure of one moment is no refusal of the order`() async throws {
        let world = try World()
        for id in ["c", "a", "b"] { try await world.seed(id, #"{"text":"x"}"#) }
        let failure = Response.json(#"{"error":"timeout"}"#, 500)
        world.transport.once(.instead(failure)) { $0.head.path?.contains("orderby") == true }
        let list = try read(rows: 2, from: .mobileApps)
        guard case .refused(let response, _, _) = await world.engine.forward(list) else {
            throw World.Failure("no refusal")
        }
        #expect(response.head.status == .internalServerError)
        #expect(response.bytes == failure.bytes)
        guard case .page(let page) = await world.engine.forward(list) else {
            throw World.Failure("no page")
        }
        #expect(page.items.map(\.id.text) == ["a", "b"])
        #expect(world.transport.targets.suffix(2).map { $0.contains("orderby") } == [false, true])
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
