import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// What an answer of the operator API says of a request that it refuses.
struct WrongPlaceTests {
    @Test func `a wrong value has its place`() async throws {
        try await TestApp.run { test in
            for (method, path, body, place) in [
                ("PATCH", "/settings", #"{"tables":["a/b"]}"#, "/tables"),
                ("POST", "/access", #"{"name":"../x"}"#, "/name"),
                ("POST", "/tables/todoitem/pull", #"{"query":"$filter=("}"#, "/query"),
            ] {
                let refused = try await test.ask(method, path, body)
                #expect(refused.status == 400, "\(path)")
                #expect(refused.body["pointer"]?.string == place, "\(path)")
            }
        }
    }

    @Test func `a page without rows has no next one`() async throws {
        try await TestApp.run { test in
            _ = await test.table("POST", "todoitem", #"{"id":"a"}"#)
            let page = try await test.ask("GET", "/tables/todoitem/items?top=0")
            #expect(page.status == 200 && page.body["next"] == .null)
        }
    }

    @Test func `a purge counts the open operations of the table`() async throws {
        try await TestApp.run { test in
            _ = await test.table("POST", "todoitem", #"{"id":"a"}"#)
            let refused = try await test.ask(
                "POST", "/tables/todoitem/purge", #"{"query":"$filter=id eq 'zz'"}"#)
            #expect(refused.status == 409)
            #expect(
                refused.body["detail"]?.string?.hasPrefix(
                    "The table has 1 change that is not on the server: ")
                    == true)
        }
    }
}
