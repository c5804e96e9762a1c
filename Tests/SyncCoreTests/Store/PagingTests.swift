import TablesProtocol
import Testing

@testable import SyncCore

/// A client that pages in the order of change while items change under it.
@Suite struct PagingTests {
    let fixture: StoreFixture

    init() async throws {
        fixture = try StoreFixture()
        for id in ["a", "b", "c"] { try await fixture.insert(id) }
    }

    private func page(_ text: String, _ generation: Generation) throws -> [Item] {
        let query = try TableQuery.parse(
            try QueryParameter.split(text.replacing(" ", with: "%20")[...]), generation: generation)
        guard
            case .partial(let page) = fixture.store.list(
                fixture.store.find(fixture.todo, worker: 0), query, generation: generation,
                pageRows: 2)
        else { throw Unexpected() }
        return page.items
    }

    struct Unexpected: Error {}

    @Test func `a next link misses no item when an item of the previous page moved`()
        async throws
    {
        let first = try page("$orderby=updatedAt", .datasync)
        #expect(first.map(\.id.text) == ["a", "b"])
        try await fixture.update("a", #"{"text":"bread"}"#)
        let after = try #require(first.last).updatedAt.text
        let next = try page("$orderby=updatedAt&__after=\(after)&$skip=2", .datasync)
        #expect(next.map(\.id.text) == ["c", "a"])
    }

    @Test(arguments: [Generation.mobileServices, .mobileApps])
    func `a moved row does not make $skip miss another row`(
        generation: Generation
    ) async throws {
        let name = generation == .mobileServices ? "__updatedAt" : "updatedAt"
        let token = try #require(try page("$orderby=\(name)&$skip=2", generation).last).updatedAt
        let since = "$filter=(\(name) ge datetimeoffset'\(token.text)')&$orderby=\(name)"
        let sync = "\(since)&__includeDeleted=true"
        #expect(try page("\(sync)&$skip=0", generation).map(\.id.text) == ["c"])
        #expect(try page("\(sync)&$skip=1", generation).isEmpty)
        try await fixture.insert("d")
        try await fixture.update("c", #"{"text":"bread"}"#)
        #expect(try page("\(sync)&$skip=1", generation).map(\.id.text) == ["d", "c"])
        // A list that is no sync query keeps its own order.
        #expect(try page("\(since)&$skip=1", generation).map(\.id.text) == ["c"])
    }
}
