import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

struct OperatorAPITests {
    @Test func `every operation of openapi.json answers by its schema`() async throws {
        let document = try JSONValue(parsing: PackageResources.openapi_json)
        let schemas = OpenAPIShapes(document)
        try await TestApp.run { test in
            _ = await test.table("POST", "todoitem", #"{"id":"a","text":"one"}"#)
            for (method, path, operation) in schemas.operations {
                let target = path.split(separator: "/", omittingEmptySubsequences: false)
                    .map { $0.first == "{" ? "nothing" : String($0) }.joined(separator: "/")
                if path.hasSuffix("/events") || method == "DELETE" { continue }
                let token = try test.folder.token() ?? ""
                var request = Request.make(
                    method, target, ["Authorization": "Bearer \(token)"],
                    body: method == "GET" ? "" : "{}")
                if method != "GET" { request.head.headerFields[.contentType] = "application/json" }
                let response = await test.send(request)
                let problem = schemas.problem(of: response, operation)
                #expect(problem == nil, "\(method) \(path): \(problem ?? "")")
            }
        }
    }

    @Test func `a conflict is made, edited, resolved and undone through the operator API`()
        async throws
    {
        let document = try JSONValue(parsing: PackageResources.openapi_json)
        let shapes = OpenAPIShapes(document)
        try await TestApp.run { test in
            _ = await test.table("POST", "todoitem", #"{"id":"eggs","text":"Buy eggs"}"#)
            let first = try await test.ask("POST", "/sync?wait=10")
            #expect(first.status == 200)
            #expect(first.body["state"]?.string == "complete")
            #expect(first.body["push"]?["applied"]?.integer == 1)
            #expect(shapes.mismatch(first.body, "Run") == nil)

            _ = try await test.ask("POST", "/mode", #"{"mode":"offline"}"#)
            let mine = await test.table("PATCH", "todoitem/eggs", #"{"text":"Buy eggs (6)"}"#)
            #expect(mine.status == 200)
            #expect(mine.fields[own: .state] == "pending")
            _ = test.elsewhere("PATCH", "todoitem/eggs", #"{"text":"Buy organic eggs"}"#)
            _ = try await test.ask("POST", "/mode", #"{"mode":"online"}"#)
            let second = try await test.ask("POST", "/sync?wait=10")
            #expect(second.body["push"]?["conflicts"]?.integer == 1)

            let list = try await test.ask("GET", "/conflicts")
            #expect(shapes.mismatch(list.body, "ConflictDetailPage") == nil)
            let conflict = try #require(list.body["items"]?.array?.first)
            #expect(conflict["base"]?["text"]?.string == "Buy eggs")
            #expect(conflict["mine"]?["text"]?.string == "Buy eggs (6)")
            #expect(conflict["server"]?["text"]?.string == "Buy organic eggs")
            let rows = try await test.ask("GET", "/tables/todoitem/items")
            #expect(shapes.mismatch(rows.body, "TableItemPage") == nil)
            #expect(rows.body["items"]?.array?.first?["state"]?.string == "conflict")

            let id = try #require(conflict["id"]?.string)
            let revision = try #require(conflict["revision"]?.integer)
            let stale = try await test.ask(
                "POST", "/conflicts/\(id)/resolve",
                "{\"revision\":\(revision + 1),\"choice\":\"mine\"}")
            #expect(stale.status == 409)
            #expect(stale.body["code"]?.string == "operation-changed")
            let decided = try await test.ask(
                "POST", "/conflicts/\(id)/resolve", "{\"revision\":\(revision),\"choice\":\"mine\"}"
            )
            #expect(decided.status == 200)
            _ = try await test.ask("POST", "/sync?wait=10")
            #expect(test.elsewhere("GET", "todoitem/eggs")["text"]?.string == "Buy eggs (6)")

            for (path, schema) in [
                ("/status", "Status"), ("/operations?state=all", "OperationSummaryPage"),
                ("/operations/\(id)", "OperationDetail"), ("/history", "HistoryPage"),
                ("/runs", "RunPage"), ("/tables", "TableStatusPage"), ("/settings", "Settings"),
                ("/samples", "SamplePage"), ("/rejections", "RejectionPage"),
                ("/session", "Session"),
            ] {
                let answer = try await test.ask("GET", path)
                #expect(answer.status == 200, "\(path)")
                let mismatch = shapes.mismatch(answer.body, schema)
                #expect(mismatch == nil, "\(path): \(mismatch ?? "")")
            }
        }
    }

    @Test func `a browser signs in by link, and the cookie alone is not enough`() async throws {
        try await TestApp.run { test in
            let link = try await test.ask("POST", "/links")
            #expect(link.status == 201)
            let url = try #require(link.body["url"]?.string)
            let value = try #require(url.split(separator: "=").last)
            #expect(url.hasPrefix("http://127.0.0.1:8080/-/#link="))
            let signIn = Request.make(
                "POST", "/-/api/v1/session",
                ["Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"],
                body: "{\"link\":\"\(value)\"}")
            let response = await test.send(signIn)
            #expect(response.head.status == .created)
            let set = try #require(response.head.headerFields[.setCookie])
            #expect(set.contains("HttpOnly") && set.contains("SameSite=Strict"))
            let cookie = String(set.prefix { $0 != ";" })
            let session = try #require(
                try JSONValue(parsing: response.bytes ?? [])["session"]?.string)
            func status(_ fields: KeyValuePairs<String, String>) async -> Int {
                await test.send(.make("GET", "/-/api/v1/session", fields)).head.status.code
            }
            #expect(await status(["Cookie": cookie, "Understudy-Session": session]) == 200)
            #expect(await status(["Cookie": cookie]) == 401)
            #expect(await status(["Understudy-Session": session]) == 401)
            #expect(await test.send(signIn).head.status.code == 401)
            let both: KeyValuePairs = ["Cookie": cookie, "Understudy-Session": session]
            #expect(await test.send(.make("POST", "/-/api/v1/links", both)).head.status == 401)
            let out = await test.send(.make("DELETE", "/-/api/v1/session", both))
            #expect(out.head.status == .noContent)
            #expect(await status(both) == 401)
        }
    }

    @Test func `bad requests are problems with a code`() async throws {
        try await TestApp.run { test in
            let cases: [(String, String, String, Int, String)] = [
                ("GET", "/operations?limit=0", "", 400, "invalid-request"),
                ("GET", "/operations?state=lost", "", 400, "invalid-request"),
                ("GET", "/operations?q=%FF", "", 400, "invalid-request"),
                ("GET", "/operations/nothing", "", 404, "not-found"),
                ("POST", "/operations/nothing/retry", "{}", 400, "invalid-request"),
                ("POST", "/operations/nothing/retry", #"{"revision":1}"#, 404, "not-found"),
                ("POST", "/conflicts/x/resolve", #"{"revision":1}"#, 400, "invalid-request"),
                ("POST", "/mode", #"{"mode":"sideways"}"#, 400, "invalid-request"),
                ("POST", "/mode", "[]", 400, "invalid-request"),
                ("POST", "/mode", "{", 400, "invalid-request"),
                ("PATCH", "/settings", #"{"parallelism":0}"#, 400, "invalid-request"),
                ("GET", "/status?identity=nobody", "", 404, "not-found"),
                ("DELETE", "/status", "", 405, "method-not-allowed"),
                ("GET", "/nowhere", "", 404, "not-found"),
                ("GET", "/tables/none/items", "", 404, "not-found"),
                ("POST", "/tables/none/purge", #"{"all":true}"#, 404, "not-found"),
                ("POST", "/tables/none/purge", "{}", 400, "invalid-request"),
            ]
            for (method, path, body, status, code) in cases {
                let answer = try await test.ask(method, path, body)
                #expect(answer.status == status, "\(method) \(path)")
                #expect(answer.body["code"]?.string == code, "\(method) \(path)")
            }
        }
    }

    @Test func `a discarded change restores the server's row, and an undo restores the change`()
        async throws
    {
        try await TestApp.run { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"a","text":"theirs"}"#)
            _ = try await test.ask("POST", "/tables/todoitem/pull?wait=10")
            _ = await test.table("PATCH", "todoitem/a", #"{"text":"a mistake"}"#)
            let list = try await test.ask("GET", "/operations")
            let operation = try #require(list.body["items"]?.array?.first)
            let id = try #require(operation["id"]?.string)
            let revision = try #require(operation["revision"]?.integer)
            let done = try await test.ask(
                "POST", "/operations/\(id)/discard", "{\"revision\":\(revision)}")
            #expect(done.status == 200)
            #expect(await test.table("GET", "todoitem/a").body["text"]?.string == "theirs")
            let history = try await test.ask("GET", "/history")
            let entry = history.body["items"]?.array?.first { $0["undoable"]?.bool == true }
            let number = try #require(entry?["id"]?.integer)
            #expect(try await test.ask("POST", "/history/\(number)/undo").status == 200)
            #expect(await test.table("GET", "todoitem/a").body["text"]?.string == "a mistake")
        }
    }

    @Test func `the first list of a table pulls its rows`() async throws {
        try await TestApp.run(triggers: Set(Trigger.allCases)) { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"a","text":"theirs"}"#)
            let rows = try await test.ask("GET", "/tables/todoitem/items")
            #expect(rows.body["total"]?.integer == 1)
            #expect(rows.body["items"]?.array?.first?["state"]?.string == "synced")
        }
    }

    @Test func `settings are changed one by one`() async throws {
        try await TestApp.run { test in
            let changed = try await test.ask(
                "PATCH", "/settings", #"{"parallelism":2,"triggers":["manual","interval"]}"#)
            #expect(changed.status == 200)
            let now = try await test.ask("GET", "/settings")
            #expect(now.body["parallelism"]?.integer == 2)
            #expect(now.body["triggers"]?.array?.compactMap(\.string) == ["interval", "manual"])
        }
    }
}
