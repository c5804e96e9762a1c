import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Variants of address, query and origin by browsers and SDKs, through the real routes.
@Suite struct WireTraitTests {
    private static let zumo = ("ZUMO-API-VERSION", "2.0.0")

    private func call(
        _ method: String, _ target: String, _ body: String = "", _ more: [(String, String)] = []
    ) -> Call {
        let type = body.isEmpty ? [] : [("Content-Type", "application/json")]
        return Call(
            method: method, target: target, fields: [Self.zumo] + type + more, body: body)
    }

    /// A proxy with three items. `a+b` cannot be an id, so it is in a column.
    private func withItems(
        _ body: (_ ask: (Call) async -> ClientResponse) async throws -> Void
    ) async throws {
        try await TestApp.run { test in
            func ask(_ call: Call) async -> ClientResponse { await test.send(call) }
            for (id, text) in [("a", "a+b"), ("b", "a b"), ("c d%&#é", "O'Neil")] {
                let body = #"{"id":"\#(id)","text":"\#(text)"}"#
                #expect(await ask(call("POST", "/tables/todoitem", body)).status == 201)
            }
            try await body(ask)
        }
    }

    /// The target of a list, and the ids in its answer.
    private static let spellings: [(String, [String])] = [
        // Trailing slashes and the table's case.
        ("/tables/todoitem/?$orderby=id", ["a", "b", "c d%&#é"]),
        ("/tables/TodoItem?$orderby=id", ["a", "b", "c d%&#é"]),
        // A name with its `$` encoded, values with everything encoded, a plus as a space.
        ("/tables/todoitem?%24filter=text%20eq%20%27a%2Bb%27", ["a"]),
        ("/tables/todoitem?$filter=text+eq+'a+b'", ["b"]),
        ("/tables/todoitem?$filter=text%20eq%20'O''Neil'", ["c d%&#é"]),
        ("/tables/todoitem?$filter=%28text%20eq%20%27O%27%27Neil%27%29", ["c d%&#é"]),
        // A second question mark instead of an ampersand.
        ("/tables/todoitem?$filter=id%20eq%20'a'?__includeDeleted=true", ["a"]),
        ("/tables/todoitem?$filter=text%20eq%20'a%3Fb'%20or%20id%20eq%20'a'", ["a"]),
        // Names that are not known, an empty query.
        ("/tables/todoitem?$filter=id%20eq%20'a'&audience=x&&", ["a"]),
        ("/tables/todoitem?$skip=1&$top=1&$orderby=id", ["b"]),
    ]

    @Test func `a list is answered for every spelling of its query`() async throws {
        try await withItems { ask in
            for (target, ids) in Self.spellings {
                let told = await ask(call("GET", target))
                #expect(told.status == 200, "\(target): \(told.text)")
                #expect(told.items.compactMap { $0.string("id") } == ids, "\(target)")
            }
        }
    }

    @Test func `an id is decoded once, without its trailing slashes`() async throws {
        try await withItems { ask in
            for target in [
                "/tables/todoitem/c%20d%25%26%23%C3%A9", "/tables/todoitem/c%20d%25&%23%c3%a9/",
            ] {
                #expect(await ask(call("GET", target)).item?.string("text") == "O'Neil")
            }
            #expect(await ask(call("GET", "/tables/todoitem/c%2520d")).item?["text"] == nil)
            #expect(await ask(call("GET", "/tables/todoitem/a%2Fb")).status == 400)
            let made = await ask(call("POST", "/tables/todoitem/", #"{"id":"x y"}"#))
            #expect(made.status == 201)
            let place = made.field("Location")
            #expect(place == "http://127.0.0.1:8080/tables/todoitem/x%20y")
        }
    }

    @Test func `the body of a GET or DELETE is ignored`() async throws {
        try await withItems { ask in
            let refresh = await ask(
                call("GET", "/tables/todoitem?$filter=id%20eq%20'a'", #"{"id":"a","text":"old"}"#))
            #expect(refresh.items.map { $0.string("text") } == ["a+b"])
            let torn = await ask(call("GET", "/tables/todoitem/a", "{torn"))
            #expect(torn.item?.string("text") == "a+b")
            #expect(await ask(call("DELETE", "/tables/todoitem/a", "{torn")).status == 204)
        }
    }

    @Test(arguments: [ClientFamily.mobileServices, .mobileApps, .datasync, .toolkit])
    func `conditions are evaluated as by the generation's servers`(
        family: ClientFamily
    ) async throws {
        let sdk = SDK(family: family)
        try await TestApp.run { test in
            func ask(_ call: Call, _ field: String, _ value: String) async -> ClientResponse {
                var call = call
                call.fields.append((field, value))
                return await test.send(call)
            }
            let made = await ask(sdk.insert(#"{"id":"a","text":"x"}"#), "X-Own", "1")
            let etag = try #require(made.etag)
            let early = "Mon, 27 Mar 1972 00:00:00 GMT"
            let late = "Fri, 27 Mar 2099 00:00:00 GMT"
            let get = sdk.get("a")
            let knows = family != .mobileApps
            #expect(await ask(get, "If-None-Match", etag).status == (knows ? 304 : 200))
            #expect(await ask(get, "If-None-Match", "\"other\"").status == 200)
            #expect(await ask(get, "If-Modified-Since", early).status == 200)
            #expect(await ask(get, "If-Modified-Since", late).status == (sdk.isThird ? 304 : 200))
            let failed = sdk.isThird ? 412 : 200
            for (field, value) in [("If-Match", "\"other\""), ("If-Unmodified-Since", early)] {
                let told = await ask(get, field, value)
                #expect(told.status == failed && told.etag == etag, "\(field)")
                #expect(told.item == made.item)
            }
            #expect(await ask(get, "If-Match", etag).status == 200)
            #expect(await ask(get, "If-Match", "*").status == 200)
            let change = sdk.update("a", #""text":"y""#, whole: #""text":"y""#)
            let (refused, taken) = (sdk.isThird ? 412 : 200, 200)
            let delete = sdk.delete("a")
            for (field, value) in [
                ("If-None-Match", "*"), ("If-None-Match", etag), ("If-Unmodified-Since", early),
                ("If-Modified-Since", late),
            ] where sdk.isThird {
                for call in [change, delete] {
                    let told = await ask(call, field, value)
                    #expect(told.status == 412 && told.etag == etag, "\(call.method) \(field)")
                    #expect(told.item == made.item)
                }
            }
            #expect(await ask(change, "If-None-Match", "*").status == refused)
            #expect(await ask(change, "If-Unmodified-Since", early).status == refused)
            #expect(await ask(change, "If-Modified-Since", late).status == refused)
            #expect(await ask(change, "If-Unmodified-Since", late).status == taken)
            #expect(await ask(change, "If-Modified-Since", early).status == taken)
            #expect(await ask(change, "If-None-Match", "\"other\"").status == taken)
            #expect(await ask(change, "If-Unmodified-Since", "soon").status == taken)
            // First: 400; second: weak tags never match, and one unquoted is a version.
            let odd = [("W/\"a\"", [400, 412, 412]), ("a", [400, 412, 200])]
            for (value, statuses) in odd {
                let expected = statuses[sdk.isFirst ? 0 : sdk.isThird ? 2 : 1]
                #expect(await ask(change, "If-Match", value).status == expected, "\(value)")
            }
            let now = try #require(await ask(get, "X-Own", "1").etag)
            let several = sdk.isThird ? 200 : 400
            #expect(await ask(change, "If-Match", "\"a\", \(now)").status == several)
        }
    }

    @Test func `a number as the id of a table with string ids is its text`() async throws {
        try await withItems { ask in
            let made = await ask(call("POST", "/tables/todoitem", #"{"id":77,"text":"n"}"#))
            #expect(made.item?["id"] == #""77""#)
            #expect(await ask(call("GET", "/tables/todoitem/77")).item?["id"] == #""77""#)
        }
    }

    @Test(arguments: ["http://app.example", "null", "file://"])
    func `a page of a listed origin may send and read all header fields of its SDK`(
        origin: String
    ) async throws {
        let wanted = "zumo-api-version,x-zumo-features,if-match,content-type,x-zumo-auth"
        try await withItems { ask in
            let preflight = await ask(
                call(
                    "OPTIONS", "/tables/todoitem/a", "",
                    [
                        ("Origin", origin), ("Access-Control-Request-Method", "PATCH"),
                        ("Access-Control-Request-Headers", wanted),
                    ]))
            #expect([200, 204].contains(preflight.status) && preflight.text.isEmpty)
            #expect(preflight.field("Access-Control-Allow-Origin") == origin)
            #expect(preflight.field("Access-Control-Allow-Headers") == wanted)
            let methods = preflight.field("Access-Control-Allow-Methods") ?? ""
            for method in ["GET", "POST", "PATCH", "PUT", "DELETE"] {
                #expect(methods.contains(method))
            }
            for (method, target, body) in [
                ("GET", "/tables/todoitem?$top=1", ""), ("GET", "/tables/todoitem/none", ""),
                ("GET", "/tables/todoitem?$filter=(", ""),
                ("POST", "/tables/todoitem", #"{"text":"x"}"#),
            ] {
                let told = await ask(call(method, target, body, [("Origin", origin)]))
                #expect(told.field("Access-Control-Allow-Origin") == origin)
                #expect(told.field("Vary")?.contains("Origin") == true)
                let exposed = told.field("Access-Control-Expose-Headers")?.lowercased() ?? ""
                for name in ["link", "etag", "location"] { #expect(exposed.contains(name)) }
            }
        }
    }

    @Test func `a page of another origin is refused in its SDK's form, and its preflight too`()
        async throws
    {
        try await TestApp.run { test in
            let origins = [
                "http://app.example:80", "https://app.example", "http://app.example.evil",
                "http://evil", "file:///x", "Null", "http://evil.example",
            ]
            for origin in origins {
                let preflight = await test.send(
                    call(
                        "OPTIONS", "/tables/todoitem", "",
                        [("Origin", origin), ("Access-Control-Request-Method", "GET")]))
                #expect(preflight.field("Access-Control-Allow-Origin") == nil, "\(origin)")
                let told = await test.send(
                    call("POST", "/tables/todoitem", #"{"id":"a"}"#, [("Origin", origin)]))
                #expect(told.status == 403, "\(origin)")
                #expect(told.json["error"]?.string != nil && told.json["type"] == nil)
                #expect(told.field("Access-Control-Allow-Origin") == nil, "\(origin)")
            }
            let rejections = try await test.ask("GET", "/rejections")
            #expect(rejections.body["total"]?.integer == 1)
            let entry = rejections.body["items"]?.array?.first
            #expect(entry?["reason"]?.string == "cross-origin")
            #expect(entry?["lastDetail"]?.string == origins.last)
            // A program is no page.
            let own = await test.send(call("GET", "/tables/todoitem"))
            #expect(own.field("Access-Control-Allow-Origin") == nil)
        }
    }

    @Test func `without a listed origin there are no CORS header fields`() async throws {
        try await TestApp.run(configure: { $0.rules.allowedOrigins = [] }) { test in
            for origin in ["http://app.example", "null", "file://"] {
                let call = call("GET", "/tables/todoitem", "", [("Origin", origin)])
                #expect(await test.send(call).status == 403)
            }
        }
    }

    /// The client's custom query pairs are sent to the backend unchanged; the device's fields are not.
    @Test(arguments: BackendFlavour.allCases)
    func `the backend gets its own dialect, and the client's custom parameters`(
        flavour: BackendFlavour
    ) async throws {
        try await TestApp.run(tables: ["todoitem"], backend: BackendOptions(flavour: flavour)) {
            test in
            var insert = SDK(family: .mobileServices).insert(#"{"id":"a","text":"x"}"#)
            insert.target += "&audience=a%20b&x=1"
            insert.fields.append(("traceparent", "00-1-2-01"))
            #expect(await test.send(insert).status == 201)
            _ = await test.graph.tenants.tenant(Identity.anonymousKey)?.engine.sync()
            let sent = try #require(test.transport.sent.first { $0.head.method == .post })
            let target = sent.head.path ?? ""
            #expect(target.contains("audience=a%20b&x=1"))
            #expect(target.contains("__systemproperties=*") == (flavour == .mobileServices))
            let names = Set(sent.head.headerFields.map(\.name.canonicalName))
            #expect(names.contains("zumo-api-version") == (flavour != .mobileServices))
            #expect(names.isDisjoint(with: ["x-zumo-installation-id", "x-zumo-version"]))
            #expect(names.isSuperset(of: ["idempotency-key", "traceparent", "content-type"]))
        }
    }
}
