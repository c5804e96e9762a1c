import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

struct TablesRoutesTests {
    @Test func `the first read of a table pulls it, and later ones need no backend`() async throws {
        try await TestApp.run(triggers: Set(Trigger.allCases)) { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"a","text":"there"}"#)
            let first = await test.table("GET", "todoitem")
            #expect(first.status == 200)
            #expect(first.body.array?.count == 1)
            try await test.firstPull(of: "todoitem")
            test.unplug()
            let second = await test.table("GET", "todoitem/a")
            #expect(second.body["text"]?.string == "there")
            #expect(second.fields[own: .state] == "synced")
            #expect(second.fields[.age] != nil)
        }
    }

    @Test(.ends)
    func `a write to a table whose first pull takes long is made on the row itself`() async throws {
        try await TestApp.run(triggers: Set(Trigger.allCases)) { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"a","text":"theirs","rank":1}"#)
            let gate = Gate()
            defer { gate.open() }
            test.transport.decide { request, _ in
                (request.head.path ?? "").contains("orderby=updatedAt") ? .held(gate) : nil
            }
            let list = await test.table("GET", "todoitem")
            #expect(list.status == 200 && list.body.array?.count == 1)
            let answer = await test.table("PATCH", "todoitem/a", #"{"text":"mine"}"#)
            #expect(answer.status == 200)
            #expect(answer.body["text"]?.string == "mine")
            #expect(answer.body["rank"]?.integer == 1)
            #expect(await test.table("PATCH", "todoitem/b", #"{"text":"none"}"#).status == 404)
            gate.open()
            try await test.firstPull(of: "todoitem")
            #expect(await test.table("GET", "todoitem/a").body["text"]?.string == "mine")
            #expect(try await test.graph.tenants.anonymous.store.ledger().accepted == 1)
        }
    }

    @Test(arguments: ["2.0.0", "3.0.0", ""], ["Tables", "TABLES", "%54ables"])
    func `every verb is answered at tables in any case, without a request to the backend`(
        version: String, tables: String
    ) async throws {
        try await TestApp.run { test in
            test.unplug()
            func ask(_ method: String, _ path: String, _ body: String = "") async -> Response {
                var request = Request.make(method, "/\(tables)/\(path)", body: body)
                if let name = HTTPField.Name(
                    version.isEmpty ? "X-ZUMO-APPLICATION" : "ZUMO-API-VERSION")
                {
                    request.head.headerFields[name] = version.isEmpty ? "key" : version
                }
                if !body.isEmpty { request.head.headerFields[.contentType] = "application/json" }
                return await test.send(request)
            }
            let made = await ask("POST", "Movies", #"{"id":"a","text":"x"}"#)
            #expect(made.head.status == .created)
            #expect(
                made.head.headerFields[.location] == "http://127.0.0.1:8080/\(tables)/Movies/a")
            #expect(await ask("GET", "MOVIES/a").head.status == .ok)
            #expect(await ask("GET", "movies").head.status == .ok)
            #expect(await ask("PATCH", "moVies/a", #"{"text":"y"}"#).head.status == .ok)
            let put = await ask("PUT", "Movies/a", #"{"id":"a","text":"z"}"#).head.status
            #expect(put == (version.isEmpty ? .methodNotAllowed : .ok))
            let wrong = await ask("POST", "Movies", String(repeating: " ", count: 2 << 20))
            #expect(wrong.head.status == .contentTooLarge)
            #expect(await ask("DELETE", "MOVIES/a").head.status == .noContent)
        }
    }

    @Test func `offline, a table that was never pulled is not an empty list`() async throws {
        try await TestApp.run { test in
            test.unplug()
            let list = await test.table("GET", "todoitem")
            #expect(list.status == 503)
            #expect(list.fields[.retryAfter] != nil)
            #expect(list.fields[own: .backend] == "offline")
            let item = await test.table("GET", "todoitem/a")
            #expect(item.status == 503)
            #expect(item.fields[.retryAfter] != nil)
            // The client's own writes are listed, and the list is marked as incomplete.
            _ = await test.table("POST", "todoitem", #"{"id":"b","text":"mine"}"#)
            let own = await test.table("GET", "todoitem")
            #expect(own.body.array?.map { $0["id"]?.string } == ["b"])
            #expect(own.fields[own: .complete] == "no")
            #expect(await test.table("GET", "todoitem/a").status == 503)
        }
    }

    /// The path below `/tables`, the client's version, and the methods.
    private static let methods: [(path: String, version: String, methods: String)] = [
        ("todoitem", "2.0.0", "GET, HEAD, POST, PATCH, OPTIONS"),
        ("todoitem/a", "2.0.0", "GET, HEAD, POST, PATCH, PUT, DELETE, OPTIONS"),
        ("todoitem/", "3.0.0", "GET, HEAD, POST, OPTIONS"),
        ("todoitem/a", "3.0.0", "GET, HEAD, PATCH, PUT, DELETE, OPTIONS"),
        ("todoitem", "", "GET, HEAD, POST, OPTIONS"),
        ("todoitem/a", "", "GET, HEAD, POST, PATCH, DELETE, OPTIONS"),
        ("todoitem", "9", "GET, HEAD, POST, PATCH, OPTIONS"),
    ]

    @Test func `OPTIONS of a program is answered by the path, without store and backend`()
        async throws
    {
        try await TestApp.run { test in
            for (path, version, methods) in Self.methods {
                let marks: KeyValuePairs =
                    version.isEmpty
                    ? ["X-ZUMO-VERSION": "ZUMO/1.3"] : ["ZUMO-API-VERSION": version]
                let answer = await test.send(.make("OPTIONS", "/tables/\(path)", marks))
                #expect(answer.head.status == .ok, "\(path) \(version)")
                #expect(answer.head.headerFields[.allow] == methods, "\(path) \(version)")
                #expect(answer.head.headerFields[.accessControlAllowOrigin] == nil)
                #expect((answer.bytes ?? []).isEmpty)
            }
            let known = try await test.graph.tenants.anonymous.store.tables()
            #expect(known.isEmpty && test.transport.sent.isEmpty)
        }
    }

    @Test func `OPTIONS of a listed page is a preflight only if it requests a method`()
        async throws
    {
        try await TestApp.run { test in
            let asked = await test.send(
                .make("OPTIONS", "/tables/todoitem", ["Origin": "http://app.example"]))
            #expect(asked.head.status == .ok)
            #expect(asked.head.headerFields[.allow] == "GET, HEAD, POST, PATCH, OPTIONS")
            #expect(asked.head.headerFields[.accessControlAllowOrigin] == "http://app.example")
            let evil = await test.send(
                .make("OPTIONS", "/tables/todoitem", ["Origin": "http://evil.example"]))
            #expect(evil.head.status == .forbidden)
            #expect(evil.head.headerFields[.allow] == nil)
        }
    }

    @Test func `a body with an empty content type is JSON`() async throws {
        try await TestApp.run { test in
            test.unplug()
            var insert = Request.make(
                "POST", "/tables/todoitem", ["ZUMO-API-VERSION": "2.0.0", "Content-Type": ""],
                body: #"{"id":"a","text":"one"}"#)
            #expect(await test.send(insert).head.status == .created)
            #expect(await test.table("GET", "todoitem/a").body["text"]?.string == "one")
            insert.head.headerFields[.contentType] = "text/plain"
            #expect(await test.send(insert).head.status == .unsupportedMediaType)
        }
    }

    @Test func `offline writes are answered as online ones`() async throws {
        try await TestApp.run { test in
            test.unplug()
            let made = await test.table("POST", "todoitem", #"{"id":"a","text":"one"}"#)
            #expect(made.status == 201)
            #expect(made.fields[.location] == "http://127.0.0.1:8080/tables/todoitem/a")
            let version = try #require(made.body["version"]?.string)
            let twice = await test.table("POST", "todoitem", #"{"id":"a","text":"two"}"#)
            #expect(twice.status == 409)
            let stale = await test.table(
                "PATCH", "todoitem/a", #"{"text":"x"}"#, ["If-Match": "\"AAAA\""])
            #expect(stale.status == 412)
            #expect(stale.body["text"]?.string == "one")
            let good = await test.table(
                "PATCH", "todoitem/a", #"{"text":"x"}"#, ["If-Match": "\"\(version)\""])
            #expect(good.status == 200)
            #expect(good.body["text"]?.string == "x")
            #expect(await test.table("DELETE", "todoitem/a").status == 204)
            #expect(await test.table("GET", "todoitem/a").status == 404)
            #expect(await test.table("POST", "todoitem/a").status == 201)
            #expect(await test.table("GET", "todoitem?$filter=text%20eq").status == 400)
        }
    }

    @Test func `only the listed tables exist`() async throws {
        try await TestApp.run(tables: ["todoitem"]) { test in
            #expect(await test.table("POST", "other", #"{"id":"a"}"#).status == 404)
            #expect(await test.table("GET", "other").status == 404)
            #expect(await test.table("POST", "TodoItem", #"{"id":"a"}"#).status == 201)
        }
    }

    @Test func `a browser at the root is redirected to the dashboard`() async throws {
        try await TestApp.run { test in
            let page = await test.send(.make("GET", "/", ["Accept": "text/html,*/*"]))
            #expect(page.head.status == .found)
            #expect(page.head.headerFields[.location] == "/-/")
            #expect(await test.send(.make("GET", "/-")).head.headerFields[.location] == "/-/")
            let dashboard = await test.send(.make("GET", "/-/"))
            #expect(
                dashboard.head.headerFields[.contentSecurityPolicy]?.contains("'unsafe") == false)
        }
    }

    @Test func `other paths are passed through without the fields of the connection`()
        async throws
    {
        try await TestApp.run { test in
            test.transport.decide { request, _ in
                .instead(
                    Response(
                        status: .ok,
                        headerFields: [
                            .contentType: "text/plain", .connection: "X-Hop",
                            .location: "http://backend.test/next",
                            .setCookie: "a=b; Path=/",
                        ], body: Array((request.head.path ?? "").utf8)))
            }
            let request = Request.make(
                "POST", "/api/a%2Fb?x=%201",
                [
                    "Connection": "X-Hop", "X-Hop": "1", "X-Zumo-Auth": "token",
                    "Content-Type": "text/plain", "Referer": "http://127.0.0.1:8080/c/s/x",
                    "Cookie": "a=b; understudy_8080=s; other=c",
                ], body: "hello")
            _ = await test.send(request)
            // Only cookies that the backend has set are sent, so at first none.
            #expect(test.transport.sent.last?.head.headerFields[.cookie] == nil)
            let answer = await test.send(request)
            #expect(answer.head.status == .ok)
            #expect(String(decoding: answer.bytes ?? [], as: UTF8.self) == "/api/a%2Fb?x=%201")
            #expect(answer.head.headerFields[.location] == "http://127.0.0.1:8080/next")
            let sent = try #require(test.transport.sent.last)
            #expect(sent.head.authority == "backend.test")
            #expect(sent.head.headerFields[.connection] == nil)
            #expect(sent.head.headerFields[.cookie] == "a=b")
            #expect(sent.head.headerFields[.referer] == nil)
            #expect(answer.head.headerFields[.contentSecurityPolicy] == PassedAnswer.sandbox)
            #expect(sent.body == Array("hello".utf8))
        }
    }

    @Test func `offline, other paths are refused in the client's form`() async throws {
        try await TestApp.run { test in
            test.unplug()
            let answer = await test.send(.make("GET", "/api/x", ["ZUMO-API-VERSION": "2.0.0"]))
            #expect(answer.head.status == .serviceUnavailable)
            #expect(answer.head.headerFields[.retryAfter] != nil)
            let body = try JSONValue(parsing: answer.bytes ?? [])
            #expect(body["error"]?.string?.contains("cannot be reached") == true)
        }
    }
}
