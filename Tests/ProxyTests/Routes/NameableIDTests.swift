import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// Ids of inserts, and the paths of their items.
struct NameableIDTests {
    @Test(arguments: ["%2e", "%2E%2e", ".;a", "\u{AD}."])
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
}
