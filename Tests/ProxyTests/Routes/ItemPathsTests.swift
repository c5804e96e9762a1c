import Backend
import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Paths below an item, under the ids by which the backend knows it.
@Suite struct ItemPathsTests {
    private static let files = Response(status: .ok, body: Array("[]".utf8))

    private func serveFiles(_ test: TestApp) {
        test.transport.decide { request, _ in
            request.head.path?.contains("/Files") == true ? .instead(Self.files) : nil
        }
    }

    private func get(_ test: TestApp, _ path: String) async -> Int {
        await test.send(.make("GET", "/tables/\(path)", ["ZUMO-API-VERSION": "2.0.0"]))
            .head.status.code
    }

    @Test func `an item that got its id from the backend has it there, under the earlier id too`()
        async throws
    {
        var options = BackendOptions(flavour: .mobileApps)
        let orders = try #require(TableName("orders"))
        options.tables = [orders: TableOptions(idKind: .integer)]
        try await TestApp.run(backend: options) { test in
            _ = test.elsewhere("POST", "orders", #"{"text":"first"}"#)
            _ = await test.table("GET", "orders")
            _ = try await test.ask("POST", "/sync?wait=30", "{}")
            _ = try await test.ask("POST", "/mode", #"{"mode":"offline"}"#)
            let made = await test.table("POST", "orders", #"{"text":"second"}"#)
            let provisional = try #require(made.body["id"]?.integer)
            _ = try await test.ask("POST", "/mode", #"{"mode":"online"}"#)
            serveFiles(test)
            #expect(await get(test, "orders/\(provisional)/Files?x=1") == 503)
            _ = try await test.ask("POST", "/sync?wait=30", "{}")
            test.transport.forget()
            #expect(await get(test, "orders/\(provisional)/Files/a%20b?x=1") == 200)
            #expect(await get(test, "orders/2/Files/a%20b") == 200)
            #expect(
                test.transport.targets == [
                    "GET /tables/orders/2/Files/a%20b?x=1", "GET /tables/orders/2/Files/a%20b",
                ])
        }
    }

    @Test func `the dialect of the backend is spoken below an item as on other paths`()
        async throws
    {
        try await TestApp.run(backend: BackendOptions(flavour: .mobileApps)) { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"a"}"#)
            _ = await test.table("GET", "todoitem")
            _ = try await test.ask("POST", "/sync?wait=30", "{}")
            serveFiles(test)
            test.transport.forget()
            let old = Request.make(
                "GET", "/tables/todoitem/a/Files", ["X-ZUMO-VERSION": "ZUMO/1.3"])
            #expect(await test.send(old).head.status == .ok)
            let version = try #require(HTTPField.Name("ZUMO-API-VERSION"))
            #expect(test.transport.sent.first?.head.headerFields[version] == "2.0.0")
        }
    }
}
