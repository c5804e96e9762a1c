import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// Ids of inserts, and the paths of their items.
struct NameableIDTests {
    @Test(arguments: ["%2e", "%2E%2e", ".;a", "\u{AD}.", "\u{2003}."])
    func `an id that would make a dot segment of every path is refused`(id: String) async throws {
        try await TestApp.run { test in
            test.unplug()
            let told = await test.table("POST", "todoitem", "{\"id\":\"\(id)\"}")
            #expect(told.status == 400)
            #expect(
                told.body["error"]?.string
                    == "No request could name an item with the id '\(id)'. "
                    + "The path holds a dot segment. Use another id.")
            let ledger = try await test.graph.tenants.anonymous.store.ledger()
            #expect(ledger.accepted == 0)
        }
    }

    @Test(arguments: ["a.b", "...", "..a", "a%", "%41", "%2e%2ea", "é."])
    func `any other id is taken, and its path names the item`(id: String) async throws {
        try await TestApp.run { test in
            test.unplug()
            #expect(await test.table("POST", "todoitem", "{\"id\":\"\(id)\"}").status == 201)
            let found = await test.table("GET", "todoitem/\(PercentCoding.encode(id))")
            #expect(found.status == 200 && found.body["id"]?.string == id)
        }
    }

    @Test(arguments: [" .", " ..", ". ", ". .", " . "], ["1", "2", "3"])
    func `an id of dots and spaces names its item here and at the backend, in every generation`(
        id: String, generation: String
    ) async throws {
        let version =
            generation == "1"
            ? ("X-ZUMO-APPLICATION", "key") : ("ZUMO-API-VERSION", "\(generation).0.0")
        try await TestApp.run { test in
            func send(_ method: String, _ path: String, _ body: String = "") async -> Response {
                var request = Request.make(method, "/tables/\(path)", body: body)
                if let name = HTTPField.Name(version.0) {
                    request.head.headerFields[name] = version.1
                }
                if !body.isEmpty { request.head.headerFields[.contentType] = "application/json" }
                return await test.send(request)
            }
            let path = "todoitem/\(PercentCoding.encode(id))"
            #expect(await send("POST", "todoitem", "{\"id\":\"\(id)\"}").head.status == .created)
            #expect(await send("GET", path).head.status == .ok)
            let whole = "{\"id\":\"\(id)\",\"text\":\"x\"}"
            let changed = await send(generation == "3" ? "PUT" : "PATCH", path, whole)
            #expect(changed.head.status == .ok)
            _ = try await test.ask("POST", "/sync?wait=60")
            #expect(test.elsewhere("GET", path)["text"]?.string == "x")
            #expect((200..<300).contains(await send("DELETE", path).head.status.code))
            _ = try await test.ask("POST", "/sync?wait=60")
            #expect(test.elsewhere("GET", path)["text"] == nil)
        }
    }
}
