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
                    "sum", "sum?$top=5&$skip=0", "sum/x", "sum?$orderby=\(updatedAt(client))",
                ] {
                    let answer = try await test.list(target, as: client)
                    #expect(answer.status == 200, "\(target)")
                    #expect(answer.body.text == body, "\(target)")
                    #expect(answer.fields[.understudyBackend] == "online", "\(target)")
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
