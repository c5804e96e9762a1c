import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Answers of the store in the words of the server behind, which names itself in `x-zumo-server-version`.
@Suite struct ServerKindTests {
    private func run(
        _ flavour: BackendFlavour, maxTop: Int? = nil, _ body: (TestApp) async throws -> Void
    ) async throws {
        var options = BackendOptions(flavour: flavour)
        options.maxTop = maxTop ?? options.maxTop
        try await TestApp.run(tables: ["todoitem"], backend: options) { test in
            for id in ["a", "b", "c"] {
                _ = test.native("POST", "todoitem", #"{"id":"\#(id)","text":"x"}"#, flavour)
            }
            _ = await test.graph.tenants.anonymous.engine.sync()
            try await body(test)
        }
    }

    @Test func `a Node server's deletion is answered with the row`() async throws {
        try await run(.node) { test in
            for id in ["a", "b"] {
                if id == "b" { test.unplug() }
                let shown = await test.table("GET", "todoitem/\(id)").body
                let answer = await test.table("DELETE", "todoitem/\(id)")
                #expect(answer.status == 200)
                #expect(answer.body["id"] == .string(id) && answer.body["text"] == .string("x"))
                #expect(answer.body["deleted"] == .bool(true))
                #expect(answer.body["version"] != shown["version"])
                #expect(
                    answer.fields[.eTag] == answer.body["version"]?.string.map(ETag.quote))
            }
            // A client of another generation is not answered by its own server.
            let first = await test.send(
                .make("DELETE", "/tables/todoitem/c", ["X-ZUMO-APPLICATION": "key"]))
            #expect(first.head.status == .noContent)
        }
    }

    @Test(arguments: [BackendFlavour.dotnet, .datasync, .mobileServices])
    func `any other deletion is answered with 204`(flavour: BackendFlavour) async throws {
        try await run(flavour) { test in
            let answer = await test.table("DELETE", "todoitem/a")
            #expect(answer.status == 204 && answer.fields[.eTag] == nil)
        }
    }

    @Test func `a Node server's limit of rows is its own word, or its default while it is away`()
        async throws
    {
        try await run(.node) { test in
            let refusal = #"{"error":"You cannot request more than 1000 records"}"#
            for isAway in [false, true] {
                if isAway { test.unplug() }
                let refused = try await test.list("todoitem?$top=1001", as: .mobileApps)
                #expect(refused.status == 400 && refused.body.text == refusal)
                let taken = try await test.list("todoitem?$top=1000", as: .mobileApps)
                #expect(taken.status == 200 && taken.ids.count == 3)
                let other = try await test.list("todoitem?$top=1001", as: .mobileServices)
                #expect(other.status == 200 && other.ids.count == 3)
            }
        }
        try await run(.node, maxTop: 5000) { test in
            let taken = try await test.list("todoitem?$top=5000", as: .mobileApps)
            #expect(taken.status == 200 && taken.ids.count == 3)
            let refused = try await test.list("todoitem?$top=5001", as: .mobileApps)
            #expect(refused.status == 400)
            #expect(refused.body["error"]?.string?.contains("5000") == true)
        }
    }
}
