import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// Ids of inserts, and the paths of their items.
struct NameableIDTests {
    @Test func `an id that would make a dot segment of every path is refused, any other is taken`()
        async throws
    {
        try await TestApp.run { test in
            test.unplug()
            for id in ["%2e", "%2E%2e", ".;a", "\u{AD}.", "\u{2003}."] {
                let told = await test.table("POST", "todoitem", "{\"id\":\"\(id)\"}")
                #expect(told.status == 400, "\(id)")
                #expect(
                    told.body["error"]?.string
                        == "No request could name an item with the id '\(id)'. "
                        + "The path holds a dot segment. Use another id.")
            }
            let ledger = try await test.graph.tenants.anonymous.store.ledger()
            #expect(ledger.accepted == 0)
            for id in ["a.b", "...", "..a", "a%", "%41", "%2e%2ea", "é."] {
                let made = await test.table("POST", "todoitem", "{\"id\":\"\(id)\"}")
                #expect(made.status == 201, "\(id)")
                let found = await test.table("GET", "todoitem/\(PercentCoding.encode(id))")
                #expect(found.status == 200 && found.body["id"]?.string == id, "\(id)")
            }
        }
    }

    @Test(arguments: [ClientFamily.mobileServices, .mobileApps, .datasync])
    func `an id of dots and spaces names its item here and at the backend, in every generation`(
        family: ClientFamily
    ) async throws {
        try await TestApp.run { test in
            for id in [" .", " ..", ". ", ". .", " . "] {
                let path = "todoitem/\(PercentCoding.encode(id))"
                func send(
                    _ method: String, _ path: String, _ body: String = ""
                ) async -> Int {
                    await test.send(as: family, method, "/tables/\(path)", body).status
                }
                #expect(await send("POST", "todoitem", "{\"id\":\"\(id)\"}") == 201, "'\(id)'")
                #expect(await send("GET", path) == 200, "'\(id)'")
                let whole = "{\"id\":\"\(id)\",\"text\":\"x\"}"
                let change = family == .datasync ? "PUT" : "PATCH"
                #expect(await send(change, path, whole) == 200, "'\(id)'")
                _ = try await test.ask("POST", "/sync?wait=60")
                #expect(test.elsewhere("GET", path)["text"]?.string == "x", "'\(id)'")
                #expect((200..<300).contains(await send("DELETE", path)), "'\(id)'")
                _ = try await test.ask("POST", "/sync?wait=60")
                #expect(test.elsewhere("GET", path)["text"] == nil, "'\(id)'")
            }
        }
    }
}
