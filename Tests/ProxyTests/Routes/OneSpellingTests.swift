import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// Two spellings of one property in a body: nothing says which of the values is meant.
@Suite struct OneSpellingTests {
    @Test func `two spellings of one property are refused, and nothing changes`() async throws {
        try await TestApp.run(tables: ["todoitem"]) { test in
            let made = await test.table("POST", "todoitem", #"{"id":"a","text":"x"}"#)
            #expect(made.status == 201)
            #expect(await test.graph.tenants.anonymous.engine.sync().state == .complete)
            let calls = [
                ("PATCH", "todoitem/a", #""text":"one","TEXT":"two""#, "'text' and 'TEXT'"),
                ("PUT", "todoitem/a", #""text":"one","Text":"two""#, "'text' and 'Text'"),
                ("POST", "todoitem", #""id":"b","text":"one","TEXT":2"#, "'text' and 'TEXT'"),
                (
                    "PATCH", "todoitem/a", #""text":"one","version":"AA","VERSION":null"#,
                    "'version' and 'VERSION'"
                ),
            ]
            for (method, path, members, names) in calls {
                let told = await test.table(method, path, "{\(members)}")
                #expect(told.status == 400, "\(method) \(members)")
                #expect(
                    told.body["error"]?.string == "\(names) are one property. Send it once.")
            }
            #expect(await test.table("GET", "todoitem").body == .array([made.body]))
        }
    }

    @Test func `the id in another case is the id`() async throws {
        try await TestApp.run(tables: ["todoitem"]) { test in
            let made = await test.table("POST", "todoitem", #"{"ID":"a","text":"x"}"#)
            #expect(made.status == 201)
            #expect(made.body["id"]?.string == "a" && made.body["ID"] == nil)
            #expect(await test.graph.tenants.anonymous.engine.sync().state == .complete)
            let other = await test.table("PATCH", "todoitem/a", #"{"Id":"b","text":"y"}"#)
            #expect(other.status == 400)
            #expect(await test.table("GET", "todoitem").body == .array([made.body]))
        }
    }
}
