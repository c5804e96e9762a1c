import HTTPMessage
import HTTPTypes
import Testing

@testable import TablesProtocol

@Suite struct TablePathTests {
    @Test(arguments: [
        ("/tables/todoitem", "todoitem", nil), ("/tables/TodoItem/", "TodoItem", nil),
        ("/Tables/t", "t", nil), ("/%74ables/t", "t", nil), ("/tables/t/a1", "t", "a1"),
        ("/tables/t/a1/", "t", "a1"), ("/tables/t/it's%20a%20%25%20id", "t", "it's a % id"),
        ("/tables/t/%2525", "t", "%25"), ("/tables/t/%C3%A9", "t", "é"),
        ("/tables/t/12", "t", "12"),
        ("/tables/t/a&b=c;d#", "t", "a&b=c;d#"),
    ])
    func `names table and item`(path: String, table: String, id: String?) throws {
        let parsed = try TablePath(path[...])
        #expect(TablePath.isTables(path[...]))
        #expect(parsed.table.text == table)
        #expect(parsed.id?.text == id)
    }

    @Test(arguments: [
        ("/tables/t/%", 400), ("/tables/t/%4", 400), ("/tables/t/%zz", 400), ("/tables/t/%00", 400),
        ("/tables/t/%FF", 400), ("/tables/t/a%2Fb", 400), ("/tables/t/a+b", 400),
        ("/tables/t/%2E%2E", 400), ("/tables/t/a%3Fb", 400), ("/tables/t/%5C", 400),
        ("/tables/t/" + String(repeating: "x", count: 256), 400), ("/tables", 404),
        ("/tables/", 404),
        ("/tables//a", 404), ("/tables/t//", 400), ("/tables/t//b", 400),
        ("/tables/t/a%2Fb/c", 400), ("/tables/1t", 404),
        ("/tables/a%2Fb", 404), ("/tables/%00", 400), ("/other/t", 404), ("tables/t", 404),
    ])
    func `refuses`(path: String, status: Int) {
        #expect {
            try TablePath(path[...])
        } throws: {
            ($0 as? TablesError)?.status(in: .mobileApps).code == status
        }
    }

    @Test(arguments: [
        ("/tables/t/a1", "", "/tables/t/b%201"), ("/tables/t/a1/", "", "/tables/t/b%201"),
        ("/Tables/t/a%201/Files", "/Files", "/Tables/t/b%201/Files"),
        ("/tables/t/a1/Files/", "/Files/", "/tables/t/b%201/Files/"),
        ("/%74ables/t/a1/F%20s/p%2Fq.jpg", "/F%20s/p%2Fq.jpg", "/%74ables/t/b%201/F%20s/p%2Fq.jpg"),
    ])
    func `keeps what is below an item as it came, also under another id`(
        path: String, below: String, other: String
    ) throws {
        let parsed = try TablePath(path[...])
        #expect(parsed.below == below)
        #expect(parsed.naming(try ItemID("b 1")) == other)
    }

    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    func `what is below an item is no call of a table`(method: String) throws {
        let request = Request(
            head: HTTPRequest(
                method: try #require(HTTPRequest.Method(method)), scheme: "http", authority: "h",
                path: "/tables/t/a/b", headerFields: [:]))
        #expect {
            try TableCall.parse(request, defaultGeneration: .mobileApps)
        } throws: {
            ($0 as? TablesError)?.status(in: .mobileApps).code == 404
        }
    }

    @Test func `only the first segment decides whether a path is a table path`() {
        for path in ["/", "", "/tablesx/t", "/x/tables/t", "/%2Ftables", "/%", "/tables%2Ft"] {
            #expect(!TablePath.isTables(path[...]))
        }
        #expect(TablePath.isTables("/tables"))
    }
}
