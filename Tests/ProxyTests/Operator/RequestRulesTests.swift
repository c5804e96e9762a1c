import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

struct RequestRulesTests {
    /// A store with two queued inserts and one row of the backend.
    private func withQueue(_ body: (TestApp) async throws -> Void) async throws {
        try await TestApp.run { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"r","text":"theirs"}"#)
            _ = try await test.ask("POST", "/tables/todoitem/pull?wait=10")
            for id in ["a", "b"] { _ = await test.table("POST", "todoitem", "{\"id\":\"\(id)\"}") }
            try await body(test)
        }
    }

    private func queued(_ test: TestApp) async throws -> Int64? {
        try await test.ask("GET", "/operations").body["total"]?.integer
    }

    private static let vagueActions = [
        #"{"filter":{"state":"quarantined"}}"#, #"{"filter":{},"dryRun":"true"}"#,
        #"{"filter":{}}"#, "{}", #"{"filter":{"states":["queued"]}}"#,
        #"{"filter":{"table":["todoitem"]}}"#, #"{"filter":{"state":[]}}"#,
        #"{"filter":{"q":""}}"#, #"{"filter":{"table":""}}"#, #"{"filter":{"state":["all"]}}"#,
        #"{"filter":{},"all":false}"#, #"{"filter":{"table":"todoitem"},"all":true}"#,
        #"{"filter":{"table":"todoitem"},"after":"c1"}"#,
        #"{"filter":{"table":"todoitem"},"limit":5,"after":"garbage"}"#,
        #"{"filter":{"table":"none"},"filter":{"table":"todoitem"}}"#, "[]", "null", #"{"all":1}"#,
        #"{"filter":{"q":" "}}"#, #"{"filter":{"table":"\t"}}"#, #"{"filter":{"reason":""}}"#,
        #"{"filter":{"reason":" ","table":"todoitem"}}"#,
    ]

    @Test func `a bulk action without a clear selection does nothing`() async throws {
        try await withQueue { test in
            for body in Self.vagueActions {
                let choice = body.hasPrefix("{") ? #"{"choice":"server","# + body.dropFirst() : body
                for (path, body) in [
                    ("/operations/discard", body), ("/operations/retry", body),
                    ("/conflicts/resolve", choice),
                ] {
                    let answer = try await test.ask("POST", path, body)
                    #expect(answer.status == 400, "\(path) \(body): \(answer.body.text)")
                }
                #expect(try await queued(test) == 2, "\(body)")
            }
        }
    }

    @Test func `a bulk action for all says so`() async throws {
        try await withQueue { test in
            let dry = #"{"all":true,"dryRun":true}"#
            let planned = try await test.ask("POST", "/operations/discard", dry)
            #expect(planned.body["matched"]?.integer == 2)
            #expect(try await queued(test) == 2)
            let body = #"{"filter":{},"all":true}"#
            #expect(try await test.ask("POST", "/operations/discard", body).status == 200)
            #expect(try await queued(test) == 0)
        }
    }

    private static let vaguePurges = [
        "{}", "", #"{"force":true}"#, #"{"all":false}"#,
        #"{"force":true,"query":["$filter=id eq 'x'"]}"#, #"{"query":""}"#, #"{"query":" "}"#,
        #"{"query":"$filter="}"#, #"{"query":"$filter=%20"}"#, #"{"query":"$top=1"}"#,
        #"{"query":"$filter=id eq 'r'&$top=1"}"#,
        #"{"query":"$filter=id eq 'x'&$filter=id eq 'r'"}"#,
        #"{"query":"$filter=id eq 'r'","all":true}"#, #"{"quary":"$filter=id eq 'r'"}"#,
        #"{"all":"true"}"#,
    ]

    @Test func `a purge without a clear selection does nothing`() async throws {
        try await withQueue { test in
            for body in Self.vaguePurges {
                let answer = try await test.ask("POST", "/tables/todoitem/purge", body)
                #expect(answer.status == 400, "\(body): \(answer.body.text)")
                let rows = try await test.ask("GET", "/tables/todoitem/items")
                #expect(rows.body["total"]?.integer == 3, "\(body)")
                #expect(try await queued(test) == 2, "\(body)")
            }
        }
    }

    @Test func `a purge of a whole table says so`() async throws {
        try await withQueue { test in
            let one = try await test.ask(
                "POST", "/tables/todoitem/purge", #"{"query":"$filter=id%20eq%20'r'","force":true}"#
            )
            #expect(one.body["purged"]?.integer == 1)
            let all = try await test.ask(
                "POST", "/tables/todoitem/purge", #"{"all":true,"force":true}"#)
            #expect(all.body["discarded"]?.integer == 2)
        }
    }

    @Test func `a misspelt setting is named with the nearest`() async throws {
        try await TestApp.run { test in
            let answer = try await test.ask("PATCH", "/settings", #"{"intervalSecond":60}"#)
            #expect(answer.status == 400)
            #expect(
                answer.body["detail"]?.string
                    == "/intervalSecond is not known here; did you mean intervalSeconds?")
            #expect(answer.body["pointer"]?.string == "/intervalSecond")
            let other = try await test.ask("PATCH", "/settings", #"{"colour":60}"#)
            let detail = other.body["detail"]?.string ?? ""
            #expect(
                detail.hasSuffix(
                    "known are triggers, intervalSeconds, debounceMs, parallelism, "
                        + "maxAttempts, pageRows, tables."))
        }
    }

    @Test func `members that say nothing together are refused`() async throws {
        try await withQueue { test in
            for (path, body) in [
                ("/mode", #"{"mode":"online","forSeconds":5}"#),
                ("/conflicts/x/resolve", #"{"revision":1,"choice":"mine","item":{}}"#),
                ("/conflicts/x/resolve", #"{"revision":1,"choice":"edited"}"#),
                ("/import", "{}"), ("/sync", #"{"wait":0}"#),
            ] {
                let answer = try await test.ask("POST", path, body)
                #expect(answer.status == 400, "\(path) \(body): \(answer.body.text)")
            }
        }
    }

    /// A path, and the methods that it has.
    private static let methods: [(String, String)] = [
        ("/-/livez", "GET, HEAD"), ("/-/", "GET, HEAD"), ("/-/app.js", "GET, HEAD"),
        ("/-/api/v1/status", "GET, HEAD"), ("/-/api/v1/session", "GET, HEAD, POST, DELETE"),
        ("/-/api/v1/settings", "GET, HEAD, PATCH"), ("/-/api/v1/operations/x", "GET, HEAD, PATCH"),
        ("/-/api/v1/operations/retry", "POST"), ("/-/api/v1/operations/groups", "GET, HEAD"),
        ("/-/api/v1/access/phone", "DELETE"), ("/-/api/v1/tables/t", "PATCH"),
    ]

    @Test func `a refused method is answered with those that there are`() async throws {
        try await TestApp.run { test in
            let fields: KeyValuePairs = [
                "Authorization": "Bearer \(try test.folder.token() ?? "")",
                "Content-Type": "application/json",
            ]
            for (path, allowed) in Self.methods {
                for method in ["PUT", "OPTIONS", "TRACE"] {
                    let answer = await test.send(.make(method, path, fields))
                    #expect(answer.head.status.code == 405, "\(method) \(path)")
                    #expect(answer.head.headerFields[.allow] == allowed, "\(method) \(path)")
                }
            }
            let row = await test.send(.make("TRACE", "/tables/todoitem/a"))
            #expect(row.head.headerFields[.allow]?.hasPrefix("GET, HEAD, POST, PATCH") == true)
        }
    }

    @Test func `what is made or begun has a location`() async throws {
        try await withQueue { test in
            let token = try test.folder.token() ?? ""
            func location(_ path: String, _ body: String) async throws -> String? {
                let answer = await test.send(
                    .make(
                        "POST", "/-/api/v1\(path)",
                        ["Authorization": "Bearer \(token)", "Content-Type": "application/json"],
                        body: body))
                #expect([201, 202].contains(answer.head.status.code), "\(path)")
                return answer.head.headerFields[.location]
            }
            let run = try #require(try await location("/sync?wait=0&identity=anonymous", "{}"))
            #expect(run.hasPrefix("/-/api/v1/runs/") && run.hasSuffix("?identity=anonymous"))
            #expect(try await test.ask("GET", run).status == 200)
            #expect(
                try await location("/access", #"{"name":"phone"}"#) == "/-/api/v1/access/phone")
            #expect(try await location("/links", "{}") == "/-/")
            let url = try #require(try await test.ask("POST", "/links").body["url"]?.string)
            let link = url.split(separator: "=").last ?? ""
            #expect(
                try await location("/session", "{\"link\":\"\(link)\"}") == "/-/api/v1/session")
        }
    }

    @Test func `the page of the dashboard takes any parameters`() async throws {
        try await TestApp.run { test in
            for path in ["/-/?identity=x&y=1&y=2", "/-/livez?t=1&t=2", "/-/readyz?verbose"] {
                #expect(await test.send(.make("GET", path)).head.status == .ok, "\(path)")
            }
        }
    }
}

struct ValueSchemaTests {
    @Test(arguments: [
        ("intervalSecond", "intervalSeconds"), ("IntervalSeconds", "intervalSeconds"),
        ("table", "tables"), ("pagerow", "pageRows"), ("intervallSekonds", "intervalSeconds"),
    ])
    func `the nearest name is found`(_ text: String, _ name: String) {
        #expect(NearestName.of(text, in: ["tables", "pageRows", "intervalSeconds"]) == name)
    }

    @Test(arguments: ["", "colour", "t", "seconds"])
    func `a name that is near to none has no nearest`(_ text: String) {
        #expect(NearestName.of(text, in: ["tables", "pageRows", "intervalSeconds"]) == nil)
    }

    @Test func `a place is a JSON pointer`() {
        let place = JSONPointer().member("a/b~c").element(3)
        #expect(place.text == "/a~1b~0c/3")
        #expect(JSONPointer().name == "The body")
        // A character may have any number of accents.
        let long = JSONPointer().member("a" + String(repeating: "\u{301}", count: 100_000))
        #expect(long.text.unicodeScalars.count == Limits.namedCharacters + 1)
    }

    @Test func `a name twice is found at any depth`() throws {
        let body = try JSONValue(
            parsing: Array(#"{"columns":{"a":[{"b":1,"b":1}]}}"#.utf8), names: .mayRepeat)
        let schema = ValueSchema.object([QueueRoutes.columns])
        #expect(throws: Misfit.self) { try schema.check(body: body) }
    }
}
