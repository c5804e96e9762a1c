import HTTPMessage
import HTTPTypes
import ReferenceBackend
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// A column that came later: the SQL tables behind real servers have null in it for older rows.
@Suite struct LaterColumnTests {
    /// A client's answer without what no column of its own is.
    private func own(_ body: JSONValue) -> String {
        guard case .object(let members) = body else { return body.text }
        let system = ["createdAt", "updatedAt", "version", "deleted"]
        return JSONValue.object(members.filter { !system.contains($0.name) }).text
    }

    private func stamps(_ body: JSONValue) -> [String?] {
        ["createdAt", "updatedAt", "version"].map { body[$0]?.string }
    }

    /// A table of two rows, of which the second has one more column.
    private func fill(_ test: TestHouse) async {
        _ = test.elsewhere("POST", "todoitem", #"{"id":"a","text":"old"}"#)
        _ = test.elsewhere("POST", "todoitem", #"{"id":"b","later":1.10,"text":"n"}"#)
        _ = await test.house.homes.nobody.engine.sync()
    }

    @Test func `older rows show null in it, and nothing else of them changes`() async throws {
        try await TestHouse.run(tables: ["todoitem"]) { test in
            await fill(test)
            let shown = await test.table("GET", "todoitem/a").body
            #expect(own(shown) == #"{"id":"a","text":"old","later":null}"#)
            let list = await test.table("GET", "todoitem?$orderby=id").body.array ?? []
            #expect(
                list.map(own) == [
                    #"{"id":"a","text":"old","later":null}"#,
                    #"{"id":"b","later":1.10,"text":"n"}"#,
                ])
            let third = await test.table("POST", "todoitem", #"{"id":"c"}"#).body
            #expect(own(third) == #"{"id":"c","later":null,"text":null}"#)
            // The third generation's clients see what the row has.
            let datasync = await test.send(
                .make("GET", "/tables/todoitem/a", ["ZUMO-API-VERSION": "3.0.0"]))
            let body = try JSONValue(parsing: datasync.bytes ?? [])
            #expect(own(body) == #"{"id":"a","text":"old"}"#)
        }
    }

    @Test func `a column that only a write made here has is shown in no other row`() async throws {
        try await TestHouse.run(tables: ["todoitem"]) { test in
            await fill(test)
            test.unplug()
            let made = await test.table("POST", "todoitem", #"{"id":"c","junk":1}"#).body
            #expect(own(made) == #"{"id":"c","junk":1,"later":null,"text":null}"#)
            let shown = await test.table("GET", "todoitem/b").body
            #expect(own(shown) == #"{"id":"b","later":1.10,"text":"n"}"#)
        }
    }

    @Test func `the nulls are sent nowhere, also by a client that writes back what it saw`()
        async throws
    {
        try await TestHouse.run(tables: ["todoitem"]) { test in
            await fill(test)
            let engine = test.house.homes.nobody.engine
            let seen = await test.table("GET", "todoitem/a")
            #expect(own(seen.body) == #"{"id":"a","text":"old","later":null}"#)
            test.transport.forget()
            let put = await test.table("PUT", "todoitem/a", own(seen.body))
            #expect(put.status == 200)
            #expect(stamps(put.body) == stamps(seen.body))
            let patch = await test.table("PATCH", "todoitem/a", #"{"text":"mine"}"#)
            #expect(own(patch.body) == #"{"id":"a","text":"mine","later":null}"#)
            _ = await engine.sync()
            let sent = test.transport.sent.filter { $0.head.method == .patch }
            #expect(sent.map { String(decoding: $0.body, as: UTF8.self) } == [#"{"text":"mine"}"#])
            #expect(own(test.elsewhere("GET", "todoitem/a")) == #"{"id":"a","text":"mine"}"#)
            let again = await test.table("GET", "todoitem/a")
            #expect(own(again.body) == #"{"id":"a","text":"mine","later":null}"#)
            #expect(stamps(again.body) == stamps(patch.body))
        }
    }
}
