import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Every request that is not as openapi.json describes it is 400, and changes nothing. The requests are made
/// from the document, so that a new route is tested by being described.
struct StrictRequestTests {
    /// A route of the document.
    struct Route: Sendable, CustomTestStringConvertible {
        let method: String
        let path: String
        var testDescription: String { "\(method) \(path)" }
    }

    private static let document = try? JSONValue(parsing: PackageResources.openapi_json)

    private static func routes(_ isWanted: (JSONValue) -> Bool) -> [Route] {
        OpenAPIShapes(document ?? .null).operations.filter { isWanted($0.operation) }
            .map { Route(method: $0.method, path: $0.path) }
            .filter { $0.path.hasPrefix("/-/api/v1/") }
    }

    private static let withBody = routes { $0["requestBody"] != nil }
    private static let all = routes { _ in true }

    /// Members that do not go with the others in one body.
    private static let leftOut: [String: Set<String>] = [
        "BulkRequest": ["all"], "ResolveAll": ["all"], "PurgeRequest": ["all"],
        "Resolve": ["item"], "ModeRequest": ["forSeconds"],
    ]

    @Test func `every route is there`() {
        #expect(Self.withBody.count == 21)
        #expect(Self.all.count > 40)
    }

    @Test(arguments: withBody)
    func `a body with a misspelt, doubled, null or mistyped place is 400 and changes nothing`(
        _ route: Route
    ) async throws {
        let document = try #require(Self.document)
        try await TestApp.run { test in
            let stage = try await Stage(test)
            let operation = document["paths"]?[route.path]?[route.method.lowercased()]
            let schema = operation?["requestBody"]?["content"]?["application/json"]?["schema"]
            let name = schema?["$ref"]?.string?.split(separator: "/").last.map(String.init)
            let bodies = RequestBodies(
                document: document, schema: try #require(schema),
                given: stage.given(route.path), leftOut: Self.leftOut[name ?? ""] ?? [])
            let target = stage.target(route.path)
            let before = try await stage.snapshot()
            let wrong = bodies.wrong
            #expect(wrong.count > 5)
            for one in wrong {
                let answer = try await test.ask(route.method, target, one.body.text)
                let about = Comment("\(one.what) at \(one.pointer): \(answer.body.text)")
                #expect(answer.status == 400, about)
                #expect(answer.body["pointer"]?.string == one.pointer, about)
                let detail = answer.body["detail"]?.string ?? ""
                let place = one.pointer.isEmpty ? "The body" : one.pointer
                #expect(detail.hasPrefix(place + " "), about)
            }
            if operation?["requestBody"]?["required"] == .bool(true) {
                #expect(try await test.ask(route.method, target, "").status == 400)
            }
            #expect(try await stage.snapshot() == before)
            // The body is wrong in these places alone.
            let right = try await test.ask(route.method, target, bodies.right.text)
            #expect(right.status != 400, "\(bodies.right.text): \(right.body.text)")
        }
    }

    @Test func `an unknown, doubled or mistyped parameter is 400 and changes nothing`()
        async throws
    {
        let document = try #require(Self.document)
        try await TestApp.run { test in
            let stage = try await Stage(test)
            let before = try await stage.snapshot()
            for route in Self.all {
                let target = stage.target(route.path)
                for (name, text) in Self.wrongParameters(route, document) {
                    let query = "?\(name)=\(text)"
                    let answer = try await test.ask(route.method, target + query)
                    let about = Comment("\(route) \(query): \(answer.body.text)")
                    #expect(answer.status == 400, about)
                    #expect(answer.body["parameter"]?.string == name, about)
                }
                #expect(try await stage.snapshot() == before, "\(route)")
            }
        }
    }

    /// Names and values that a route does not take.
    private static func wrongParameters(
        _ route: Route, _ document: JSONValue
    ) -> [(String, String)] {
        let operation = document["paths"]?[route.path]?[route.method.lowercased()]
        var wrong = [("nothing", "1"), ("Identity", "anonymous"), ("", "1")]
        for given in operation?["parameters"]?.array ?? [] {
            let parameter = OpenAPIShapes(document).resolved(given)
            guard parameter["in"] == .string("query"), let name = parameter["name"]?.string
            else { continue }
            // In these lists every text is a place.
            let isPlace =
                name == "after"
                && ["/set-aside", "/server-rows"].contains { route.path.hasSuffix($0) }
            wrong += Self.misfits(isPlace ? "" : name, parameter["schema"] ?? .null)
                .map { (name, isPlace ? "1&after=1" : $0) }
            wrong.append((name + "s", "1"))
        }
        return wrong
    }

    /// Texts that a parameter does not take, and its name a second time.
    private static func misfits(_ name: String, _ schema: JSONValue) -> [String] {
        let twice = "1&\(name)=1"
        switch (name, schema["type"]?.string) {
        case ("after", _): return ["garbage", "c", "c-", "c1x%21", "C1", "", "c1&after=c1"]
        case (_, "integer"):
            let beyond = [
                schema["minimum"]?.integer.map { $0 - 1 },
                schema["maximum"]?.integer.map { $0 + 1 },
            ]
            return ["", "x", "1.5", "%2B1", "01", "null", twice]
                + beyond.compactMap { $0.map { String($0) } }
        case (_, "boolean"): return ["", "1", "True", "on", "true&\(name)=true"]
        default: return [twice]
        }
    }

    /// A proxy with rows, a queue, a conflict, a refused operation and a history.
    private struct Stage {
        let test: TestApp
        private let queued: JSONValue
        private let conflict: JSONValue

        init(_ test: TestApp) async throws {
            self.test = test
            for id in ["a", "b", "eggs"] {
                _ = test.elsewhere("POST", "todoitem", "{\"id\":\"\(id)\",\"text\":\"theirs\"}")
            }
            _ = try await test.ask("POST", "/tables/todoitem/pull?wait=10")
            _ = await test.table("PATCH", "todoitem/eggs", #"{"text":"mine"}"#)
            _ = test.elsewhere("PATCH", "todoitem/eggs", #"{"text":"other"}"#)
            _ = try await test.ask("POST", "/sync?wait=10")
            _ = await test.table("PATCH", "todoitem/a", #"{"text":"queued"}"#)
            _ = await test.table("POST", "todoitem", #"{"id":"c","text":"new"}"#)
            _ = try await test.ask("POST", "/access", #"{"name":"phone"}"#)
            let found = try await test.ask("GET", "/operations?state=queued")
            queued = try #require(found.body["items"]?.array?.first)
            let conflicts = try await test.ask("GET", "/conflicts")
            conflict = try #require(conflicts.body["items"]?.array?.first)
        }

        /// The path with what is there for its parameters.
        func target(_ path: String) -> String {
            let id = path.contains("/conflicts/") ? conflict["id"] : queued["id"]
            return path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
                switch segment {
                case "{table}": "todoitem"
                case "{id}": id?.string ?? ""
                case "{name}": "phone"
                default: String(segment)
                }
            }.joined(separator: "/")
        }

        /// Values that fit what is there.
        func given(_ path: String) -> [String: JSONValue] {
            let one = path.contains("/conflicts/") ? conflict : queued
            return [
                "/revision": one["revision"] ?? .null, "/query": .string("$filter=id eq 'b'"),
                "/indexes/0": .string("text"),
                "/after": .string("c1"), "/parents/0/column": .string("listId"),
            ]
        }

        /// All that the operator API shows.
        func snapshot() async throws -> [String] {
            var texts: [String] = []
            for path in [
                "/operations?state=all", "/conflicts", "/history", "/runs", "/tables", "/settings",
                "/access", "/sessions", "/tables/todoitem/items",
            ] {
                let answer = try await test.ask("GET", path)
                #expect(answer.status == 200, "\(path)")
                texts.append(answer.body.text)
            }
            let status = try await test.ask("GET", "/status").body
            return texts + ["mode", "queue", "ledger"].map { status[$0]?.text ?? "none" }
        }
    }
}
