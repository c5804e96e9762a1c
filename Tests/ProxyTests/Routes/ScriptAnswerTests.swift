import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Tables whose script answers a read with something else than rows.
struct ScriptAnswerTests {
    private static func answer(_ body: String) -> Response {
        Response(
            status: .ok, headerFields: [.contentType: "application/json"], body: Array(body.utf8))
    }

    /// The backend answers reads of the table `sum`, or of all tables, with a body.
    private func script(_ test: TestApp, _ body: String, everywhere: Bool = false) {
        test.transport.decide { request, _ in
            guard request.head.method == .get,
                everywhere || request.head.path?.contains("/tables/sum") == true
            else { return nil }
            return .instead(Self.answer(body))
        }
    }

    private func state(_ test: TestApp) async throws -> String? {
        try await test.ask("GET", "/status").body["backend"]?["state"]?.string
    }

    @Test(
        arguments: [#"{"total":3}"#, "[1,2]", #"[{"total":3}]"#, "7"],
        [Generation.mobileServices, .mobileApps, .datasync])
    func `what a script answers is passed on, and other tables go on`(
        body: String, client: Generation
    ) async throws {
        try await TestApp.run(tables: ["sum", "todoitem"]) { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"a","text":"x"}"#)
            script(test, body)
            for isProven in [false, true] {
                for target in [
                    "sum", "sum?$top=5&$skip=0", "sum?$orderby=\(updatedAt(client))",
                ] {
                    let answer = try await test.list(target, as: client)
                    #expect(answer.status == 200, "\(target)")
                    #expect(answer.body.text == body, "\(target)")
                    #expect(answer.fields[own: .backend] == "online", "\(target)")
                }
                #expect(try await state(test) == "online")
                guard !isProven else { continue }
                #expect(try await test.list("todoitem", as: client).ids == ["a"])
                _ = await test.table("POST", "todoitem", #"{"id":"b","text":"mine"}"#)
                let run = try await test.ask("POST", "/sync?wait=60")
                let pulls = run.body["pull"]?.array ?? []
                let sum = pulls.first { $0["table"]?.string == "sum" }
                #expect(sum?["error"]?.string?.contains("gives no list") == true, "\(run.body)")
                #expect(test.elsewhere("GET", "todoitem/b")["text"]?.string == "mine")
            }
            // A waiting change does not need the script's table.
            _ = await test.table("PATCH", "todoitem/a", #"{"text":"y"}"#)
            _ = try await test.ask("POST", "/sync?wait=60")
            #expect(test.elsewhere("GET", "todoitem/a")["text"]?.string == "y")
            test.unplug()
            for target in ["sum", "sum/x"] {
                #expect(try await test.list(target, as: client).status == 503)
            }
            #expect(Set(try await test.list("todoitem", as: client).ids) == ["a", "b"])
        }
    }

    @Test(arguments: [
        #""hello""#, "[]", #"[{"id":"a","text":"x"}]"#, #"{"text":"x"}"#, #"{"id":"b","text":"x"}"#,
        "",
    ])
    func `a read by id that is answered without the item is 503, whichever way it takes`(
        body: String
    ) async throws {
        try await TestApp.run(tables: ["todoitem"]) { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"a","text":"x"}"#)
            test.transport.decide { request, _ in
                guard request.head.path?.contains("/todoitem/a") == true else { return nil }
                return .instead(Self.answer(body))
            }
            func isRefused(
                _ method: String, _ path: String, _ body: String = "", token: Bool = false
            ) async {
                let answer = await test.table(
                    method, path, body, token ? ["X-ZUMO-AUTH": "t"] : [:])
                #expect(answer.status == 503, "\(method) \(path) \(token)")
                #expect(answer.fields[.retryAfter] != nil)
                #expect(answer.body["error"]?.string?.contains("item a") == true, "\(answer.body)")
            }
            await isRefused("GET", "todoitem/a")
            await isRefused("PATCH", "todoitem/a", #"{"text":"y"}"#)
            await isRefused("GET", "todoitem/a", token: true)
            #expect(try await state(test) == "online")
            _ = try await test.ask("POST", "/sync?wait=60")
            await isRefused("GET", "todoitem/a?region=EU")
            #expect(await test.table("GET", "todoitem/a").body["text"]?.string == "x")
        }
    }

    @Test func `a row in another spelling of its id answers a read by id, and is changed under it`()
        async throws
    {
        try await TestApp.run(tables: ["todoitem"]) { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"A1","text":"x"}"#)
            let row = test.elsewhere("GET", "todoitem/A1").text
            test.transport.decide { request, _ in
                guard request.head.path?.contains("/todoitem/a1%20") == true else { return nil }
                return .instead(Self.answer(row))
            }
            let read = await test.table("GET", "todoitem/a1%20")
            #expect(read.status == 200 && read.body["id"]?.string == "A1")
            let changed = await test.table("PATCH", "todoitem/a1%20", #"{"text":"y"}"#)
            #expect(changed.status == 200 && changed.body["id"]?.string == "A1", "\(changed.body)")
            _ = try await test.ask("POST", "/sync?wait=60")
            #expect(test.elsewhere("GET", "todoitem/A1")["text"]?.string == "y")
        }
    }

    private func updatedAt(_ client: Generation) -> String {
        client == .mobileServices ? "__updatedAt" : "updatedAt"
    }

    @Test func `a table with waiting changes says why it is not copied`() async throws {
        try await TestApp.run(tables: ["sum", "todoitem"]) { test in
            script(test, #"{"total":3}"#)
            _ = await test.table("POST", "sum", #"{"id":"a"}"#)
            _ = try await test.ask("POST", "/sync?wait=60")
            let tables = try await test.ask("GET", "/status").body["tables"]?.array ?? []
            let sum = tables.first { $0["name"]?.string == "sum" }
            #expect(sum?["pullError"]?.string?.contains("gives no list") == true, "\(tables)")
            // Its inserts are sent: another table proves the backend.
            #expect(try await test.ask("GET", "/status").body["queue"]?["queued"]?.integer == 0)
        }
    }

    @Test func `a server whose every table answers with an object gets no change`() async throws {
        try await TestApp.run(tables: ["sum", "todoitem"]) { test in
            script(test, #"{"hello":"world"}"#, everywhere: true)
            _ = await test.table("POST", "todoitem", #"{"id":"a","text":"x"}"#)
            _ = await test.table("POST", "sum", #"{"id":"a"}"#)
            #expect(try await test.list("sum", as: .mobileApps).status == 200)
            _ = try await test.ask("POST", "/sync?wait=60")
            #expect(try await state(test) == "notTables")
            #expect(!test.transport.targets.contains { $0.hasPrefix("POST") })
            let queue = try await test.ask("GET", "/status").body["queue"]
            #expect(queue?["queued"]?.integer == 2)
        }
    }
}
