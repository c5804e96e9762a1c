import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// `PUT` of the third generation with `deleted` in its body.
struct DeletedByReplaceTests {
    private func ask(
        _ test: TestApp, _ method: String, _ target: String, _ body: String = ""
    ) async -> ClientResponse {
        await test.send(as: .toolkit, method, "/tables/\(target)", body)
    }

    /// A proxy that has pulled the item `a`.
    private func withItem(
        isDeleted: Bool, _ body: (TestApp) async throws -> Void
    ) async throws {
        try await TestApp.run(backend: BackendOptions(flavour: .datasync)) { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"a","text":"x"}"#)
            if isDeleted { _ = test.elsewhere("DELETE", "todoitem/a") }
            let engine = test.graph.tenants.anonymous.engine
            _ = await engine.pull(try #require(TableName("todoitem")))
            try await body(test)
        }
    }

    @Test func `a deleted item stays deleted, and comes back without the mark`() async throws {
        try await withItem(isDeleted: true) { test in
            let target = "todoitem/a?__includedeleted=true"
            let told = await ask(test, "PUT", target, #"{"id":"a","text":"y","deleted":true}"#)
            #expect(told.status == 410)
            let ledger = try await test.graph.tenants.anonymous.store.ledger()
            #expect(ledger.accepted == 0)
            let back = await ask(test, "PUT", target, #"{"id":"a","text":"y","deleted":false}"#)
            #expect(back.status == 200 && back.item?.own == ["text": #""y""#])
            _ = await test.graph.tenants.anonymous.engine.sync()
            #expect(test.elsewhere("GET", "todoitem/a")["text"]?.string == "y")
        }
    }

    @Test(arguments: ["todoitem/a", "todoitem/a?__includedeleted=true"])
    func `an item is deleted, here and at the backend`(target: String) async throws {
        try await withItem(isDeleted: false) { test in
            let told = await ask(test, "PUT", target, #"{"id":"a","text":"y","deleted":true}"#)
            #expect(told.status == 200 && told.item?["deleted"] == "true")
            #expect(await ask(test, "GET", "todoitem/a").status == 410)
            // The deletion is not sent yet, and a second one does not bring the item back.
            let again = await ask(test, "PUT", target, #"{"id":"a","text":"z","deleted":true}"#)
            #expect(again.status == 410)
            _ = await test.graph.tenants.anonymous.engine.push()
            #expect(test.elsewhere("GET", "todoitem/a")["text"] == nil)
            #expect(await ask(test, "GET", "todoitem/a").status == 410)
        }
    }
}
