import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// A column that is added later. SQL tables of JavaScript servers have null in it for older rows.
@Suite struct LaterColumnTests {
    /// A client's answer with only its user columns.
    private func own(_ body: JSONValue) -> String {
        guard case .object(let members) = body else { return body.text }
        let system = ["createdAt", "updatedAt", "version", "deleted"]
        return JSONValue.object(members.filter { !system.contains($0.name) }).text
    }

    private func stamps(_ body: JSONValue) -> [String?] {
        ["createdAt", "updatedAt", "version"].map { body[$0]?.string }
    }

    /// A table of two rows. The second one has one more column, and is added after the pull of the first.
    private func fill(_ test: TestApp) async {
        _ = test.elsewhere("POST", "todoitem", #"{"id":"a","text":"old"}"#)
        _ = await test.graph.tenants.anonymous.engine.sync()
        _ = test.elsewhere("POST", "todoitem", #"{"id":"b","text":"n","later":1.5}"#)
        _ = await test.graph.tenants.anonymous.engine.sync()
    }

    private func run(
        _ flavour: BackendFlavour, _ body: (TestApp) async throws -> Void
    ) async throws {
        try await TestApp.run(
            tables: ["todoitem"], backend: BackendOptions(flavour: flavour)
        ) { test in
            await fill(test)
            try await body(test)
        }
    }

    @Test func `older rows get null in a new column, and nothing else of them changes`()
        async throws
    {
        try await run(.node) { test in
            let shown = await test.table("GET", "todoitem/a").body
            #expect(own(shown) == #"{"id":"a","text":"old","later":null}"#)
            #expect(stamps(shown)[0] != nil)
            let list = await test.table("GET", "todoitem?$orderby=id").body.array ?? []
            #expect(
                list.map(own) == [
                    #"{"id":"a","text":"old","later":null}"#,
                    #"{"id":"b","text":"n","later":1.5}"#,
                ])
            #expect(list.first.map(stamps) == stamps(shown))
            let chosen = await test.table("GET", "todoitem?$select=later,id&$orderby=id").body
            #expect(
                chosen.array?.map(own) == [
                    #"{"later":null,"id":"a"}"#, #"{"later":1.5,"id":"b"}"#,
                ])
            let third = await test.table("POST", "todoitem", #"{"id":"c"}"#).body
            #expect(own(third) == #"{"id":"c","later":null,"text":null}"#)
            // The third generation's clients get the row's own columns.
            let datasync = await test.send(
                .make("GET", "/tables/todoitem/a", ["ZUMO-API-VERSION": "3.0.0"]))
            let body = try JSONValue(parsing: datasync.bytes ?? [])
            #expect(own(body) == #"{"id":"a","text":"old"}"#)
        }
    }

    /// A client that syncs would miss a null that is added without a new `updatedAt`.
    @Test(arguments: [BackendFlavour.mobileApps, .dotnet])
    func `rows of other servers have only their own columns`(flavour: BackendFlavour) async throws {
        try await run(flavour) { test in
            let list = await test.table("GET", "todoitem?$orderby=id").body.array ?? []
            #expect(
                list.map(own) == [
                    #"{"id":"a","text":"old"}"#, #"{"id":"b","text":"n","later":1.5}"#,
                ])
        }
    }

    @Test func `a column of a local write is shown in no other row`() async throws {
        try await run(.node) { test in
            test.unplug()
            let made = await test.table("POST", "todoitem", #"{"id":"c","junk":1,"other":2}"#).body
            #expect(own(made) == #"{"id":"c","junk":1,"other":2,"later":null,"text":null}"#)
            let shown = await test.table("GET", "todoitem/b").body
            #expect(own(shown) == #"{"id":"b","text":"n","later":1.5}"#)
        }
    }

    @Test func `the nulls are never sent, also if a client writes back the row that it has read`()
        async throws
    {
        try await run(.node) { test in
            let engine = test.graph.tenants.anonymous.engine
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
            let theirs = own(test.elsewhere("GET", "todoitem/a"))
            #expect(theirs == #"{"id":"a","text":"mine","later":null}"#)
            let again = await test.table("GET", "todoitem/a")
            #expect(own(again.body) == theirs)
            #expect(stamps(again.body) == stamps(patch.body))
        }
    }

    @Test func `another backend's rows are shown unchanged`() async throws {
        try await run(.node) { test in
            try await test.graph.tenants.anonymous.engine.rebind()
            #expect(own(await test.table("GET", "todoitem/a").body) == #"{"id":"a","text":"old"}"#)
        }
    }
}
