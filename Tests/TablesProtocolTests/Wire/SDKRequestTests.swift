import HTTPMessage
import HTTPTypes
import Testing

@testable import TablesProtocol

/// Requests as the SDKs send them, head and body, and the calls that they become.
@Suite struct SDKRequestTests {
    private func parse(
        _ method: HTTPRequest.Method, _ target: String, _ fields: [String: String],
        _ body: String = ""
    ) throws -> TableCall {
        let request = WireSample.request(method, target, fields, body: body)
        return try TableCall.parse(request, defaultGeneration: .mobileApps)
    }

    @Test func `first generation, managed: insert asking for system properties`() throws {
        let call = try parse(
            .post, "/tables/TodoItem?__systemproperties=__createdAt,__updatedAt",
            [
                "X-ZUMO-APPLICATION": "key", "X-ZUMO-VERSION": "ZUMO/1.3 (lang=Managed)",
                "X-ZUMO-INSTALLATION-ID": "9b5a", "X-ZUMO-FEATURES": "TT",
                "Content-Type": "application/json; charset=utf-8",
            ], "{\"text\":\"x\",\"complete\":false}")
        guard case .insert(let body) = call.verb else { throw Unexpected() }
        #expect(call.client == .mobileServices)
        #expect(call.table.text == "TodoItem" && call.table.key == "todoitem")
        #expect(body.id == nil && body.columns.text == "{\"text\":\"x\",\"complete\":false}")
        #expect(call.systemProperties == [.createdAt, .updatedAt])
        #expect(call.parameters.isEmpty)
    }

    @Test func `first generation, iOS: incremental pull in arbitrary order`() throws {
        let call = try parse(
            .get,
            "/tables/TodoItem?__includeDeleted=true&$top=50"
                + "&$filter=(__updatedAt%20ge%20datetimeoffset'2014-03-01T08:00:00.120Z')"
                + "&$orderby=__updatedAt%20asc&$skip=0"
                + "&__systemProperties=__updatedAt%2C__version%2C__deleted",
            ["X-ZUMO-VERSION": "ZUMO/1.3 (lang=iOS)"])
        guard case .list(let query) = call.verb else { throw Unexpected() }
        #expect(call.client == .mobileServices)
        #expect(query.top == 50 && query.skip == 0 && query.includeDeleted && query.filter != nil)
        #expect(query.orderBy == [Ordering(.column(.system(.updatedAt)))])
        #expect(call.systemProperties == [.updatedAt, .version, .deleted])
    }

    @Test func `second generation, JavaScript: refresh with a body, count with two question marks`()
        throws
    {
        let refresh = try parse(
            .get, "/tables/todoitem?$filter=id%20eq%20'a1'",
            ["ZUMO-API-VERSION": "2.0.0", "Content-Type": "application/json"], "{\"id\":\"a1\"}")
        guard case .list(let filtered) = refresh.verb else { throw Unexpected() }
        #expect(filtered.filter != nil)
        let counted = try parse(
            .get, "/tables/todoitem?$inlinecount=allpages?__includeDeleted=true",
            ["ZUMO-API-VERSION": "2.0.0"])
        guard case .list(let query) = counted.verb else { throw Unexpected() }
        #expect(query.count && query.includeDeleted)
    }

    @Test func `second generation, Android: update of a known version`() throws {
        let call = try parse(
            .patch, "/tables/todoitem/it's%20a%20%25%20id",
            [
                "ZUMO-API-VERSION": "2.0.0", "X-ZUMO-VERSION": "3.4.0",
                "If-Match": "\"AAAA\\\"B=\"",
                "Content-Type": "application/json",
            ], "{\"id\":\"it's a % id\",\"price\":1.10}")
        guard case .update(let id, let body) = call.verb else { throw Unexpected() }
        #expect(id.text == "it's a % id")
        #expect(body.columns["price"]?.text == "1.10")
        #expect(call.conditions.ifMatch == .versions(["AAAA\"B="]))
    }

    @Test func `second generation: an undeletion has no body and no type`() throws {
        let call = try parse(
            .post, "/tables/todoitem/a1?x=1",
            ["ZUMO-API-VERSION": "2.0.0", "Content-Length": "0", "If-Match": "\"v\""])
        guard case .undelete(let id) = call.verb else { throw Unexpected() }
        #expect(id.text == "a1" && call.conditions.ifMatch == .versions(["v"]))
        #expect(call.parameters.map(\.raw) == ["x=1"])
    }

    @Test func `third generation, Datasync: pull`() throws {
        let call = try parse(
            .get,
            "/tables/todoitem?$filter=(updatedAt%20gt%20cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset))"
                + "&$orderby=updatedAt&$count=true&__includedeleted=true", WireSample.datasync)
        guard case .list(let query) = call.verb else { throw Unexpected() }
        #expect(call.client == .datasync && call.origin.wantsPathLinks)
        #expect(query.count && query.includeDeleted && query.filter != nil)
    }

    @Test func `third generation, toolkit: replacement, restoring a deleted item`() throws {
        let call = try parse(
            .put, "/tables/todoitem/a1?__includedeleted=true",
            WireSample.toolkit.merging(["If-Match": "\"v1\""]) { $1 },
            "{\"id\":\"a1\",\"updatedAt\":\"2024-08-23T20:22:54.291Z\",\"version\":\"v1\",\"title\":\"x\"}"
        )
        guard case .replace(let id, let body) = call.verb else { throw Unexpected() }
        #expect(call.client == .toolkit && call.includeDeleted && id.text == "a1")
        #expect(body.columns.text == "{\"title\":\"x\"}")
        #expect(
            body.deleted == nil && body.version == nil
                && call.conditions.ifMatch == .versions(["v1"]))
    }

    @Test func `any request has a JSON response, and its errors are client errors`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("Calls: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("/tables?$%&=+'\"\\(),.:;*{}[]0aé\u{0}-_ eqW".unicodeScalars)
        func noise(_ count: Int) -> String {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...count, using: &random) {
                text.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)])
            }
            return String(text)
        }
        let methods: [HTTPRequest.Method] = [.get, .post, .patch, .put, .delete]
        for _ in 0..<3_000 {
            let client = ClientFamily.allCases[Int.random(in: 0..<4, using: &random)]
            var fields = WireSample.fields(client)
            fields["If-Match"] = noise(6)
            fields["If-None-Match"] = noise(6)
            let request = WireSample.request(
                methods[Int.random(in: 0..<5, using: &random)],
                ["/tables/t", "/tables/t/a", ""][Int.random(in: 0..<3, using: &random)] + noise(24),
                fields, body: Bool.random(using: &random) ? "{\"a\":1}" : noise(16))
            let response: Response
            do {
                let call = try TableCall.parse(request, defaultGeneration: .mobileApps)
                let page = ItemPage(items: [try WireSample.item()], count: 1, hasMore: true)
                response = TablesAnswer(to: call).render(page: page)
            } catch let error as TablesError {
                response = TablesAnswer(client: client).render(error: error)
                #expect((400..<500).contains(response.head.status.code), "seed \(seed)")
            }
            #expect(throws: Never.self, "seed \(seed)") {
                try JSONText(validating: response.bytes ?? [])
            }
        }
    }

    private struct Unexpected: Error {}
}
