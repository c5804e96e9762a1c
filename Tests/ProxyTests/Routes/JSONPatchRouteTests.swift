import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// Updates in Datasync's form: JSON Patch, and version and time in the body.
struct JSONPatchRouteTests {
    private func ask(
        _ test: TestApp, _ method: String, _ target: String, _ body: String = "",
        _ fields: [(String, String)] = [], family: ClientFamily = .datasync,
        type: String = "application/json"
    ) async -> ClientResponse {
        await test.send(as: family, method, "/tables/\(target)", body, fields, type: type)
    }

    private func patch(
        _ test: TestApp, _ patch: String, _ fields: [(String, String)] = [],
        family: ClientFamily = .datasync
    ) async -> ClientResponse {
        await ask(
            test, "PATCH", "todoitem/a", patch, fields, family: family,
            type: "application/json-patch+json")
    }

    /// A proxy whose client has inserted `{"id":"a","text":"x","n":1.10}`.
    private func withItem(
        _ backend: BackendOptions = BackendOptions(flavour: .datasync),
        _ body: (TestApp, ClientResponse) async throws -> Void
    ) async throws {
        try await TestApp.run(backend: backend) { test in
            let made = await ask(test, "POST", "todoitem", #"{"id":"a","text":"x","n":1.10}"#)
            #expect(made.status == 201)
            try await body(test, made)
        }
    }

    @Test func `a patch changes the named columns, and the backend gets their texts`()
        async throws
    {
        try await withItem { test, made in
            let told = await patch(
                test,
                """
                [{"op":"test","path":"/n","value":1.1},{"op":"replace","path":"/n","value":2.50},
                 {"op":"add","path":"/big","value":9007199254740993},
                 {"op":"remove","path":"/text"}]
                """)
            #expect(told.status == 200)
            #expect(told.item?.own == ["n": "2.50", "big": "9007199254740993"])
            #expect(told.etag != made.etag && told.field("Last-Modified") != nil)
            #expect(await ask(test, "GET", "todoitem/a").item == told.item)
            _ = await test.graph.tenants.anonymous.engine.push()
            let there = test.elsewhere("GET", "todoitem/a")
            #expect(there["n"] == .number(JSONNumber("2.50") ?? JSONNumber(0)))
            #expect(there["big"]?.integer == 9_007_199_254_740_993)
            #expect(there["text"] == .null)
        }
    }

    @Test func `a failed test changes nothing and answers the item`() async throws {
        try await withItem { test, made in
            let told = await patch(
                test,
                """
                [{"op":"replace","path":"/text","value":"y"},
                 {"op":"test","path":"/n","value":2}]
                """)
            #expect(told.status == 412 && told.etag == made.etag)
            #expect(told.item == made.item)
            #expect(await ask(test, "GET", "todoitem/a").item == made.item)
        }
    }

    @Test(arguments: [ClientFamily.mobileServices, .mobileApps, .datasync, .toolkit])
    func `any client deletes and undeletes by a patch of the deleted mark`(
        family: ClientFamily
    ) async throws {
        let sdk = SDK(family: family)
        let mark = sdk.isFirst ? "/__deleted" : "/deleted"
        try await withItem { test, made in
            func set(_ value: Bool) async -> ClientResponse {
                await patch(
                    test, "[{\"op\":\"replace\",\"path\":\"\(mark)\",\"value\":\(value)}]",
                    family: family)
            }
            #expect(await set(true).status == 200)
            let gone = sdk.isThird ? 410 : 404
            #expect(await ask(test, "GET", "todoitem/a", family: family).status == gone)
            #expect(await set(true).status == gone)
            #expect(await set(false).status == 200)
            let back = await ask(test, "GET", "todoitem/a", family: family)
            #expect(back.item?.own == made.item?.own)
        }
    }

    @Test
    func `a row that the backend has deleted is gone, except for a patch that undeletes it`()
        async throws
    {
        try await TestApp.run(backend: BackendOptions(flavour: .datasync)) { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"a","text":"x"}"#)
            _ = test.elsewhere("DELETE", "todoitem/a")
            let engine = test.graph.tenants.anonymous.engine
            _ = await engine.pull(try #require(TableName("todoitem")))
            let told = await patch(test, #"[{"op":"replace","path":"/text","value":"y"}]"#)
            #expect(told.status == 410)
            let back = await patch(
                test,
                """
                [{"op":"replace","path":"/deleted","value":false},
                 {"op":"replace","path":"/text","value":"y"}]
                """)
            #expect(back.status == 200 && back.item?.own == ["text": #""y""#])
            _ = await engine.sync()
            #expect(test.elsewhere("GET", "todoitem/a")["text"]?.string == "y")
        }
    }

    /// Content type, body, status.
    private static let refusals: [(String, String, Int)] = [
        ("application/json-patch+json", #"{"text":"y"}"#, 400),
        ("application/json-patch+json", "[", 400),
        ("application/json-patch+json", #"[{"op":"move","path":"/a","from":"/b"}]"#, 400),
        ("application/json-patch+json", #"[{"op":"add","path":"/a/b","value":1}]"#, 400),
        ("application/json-patch+json", #"[{"op":"replace","path":"/id","value":"b"}]"#, 400),
        (
            "application/json-patch+json", #"[{"op":"replace","path":"/version","value":"AA=="}]"#,
            400
        ),
        (
            "application/json-patch+json",
            #"[{"op":"replace","path":"/updatedAt","value":"2018-12-31T05:00:00.000Z"}]"#, 400
        ),
        ("application/json", #"[{"op":"add","path":"/a","value":1}]"#, 400),
        ("application/json", #"{"id":"b"}"#, 400),
        ("application/json", #"{"version":"AA=="}"#, 400),
        ("application/json", #"{"updatedAt":"2018-12-31T05:00:00.000Z"}"#, 400),
        ("application/json+problem", #"{"text":"y"}"#, 415),
    ]

    @Test func `an invalid update is refused and changes nothing`() async throws {
        try await withItem { test, made in
            for (type, body, status) in Self.refusals {
                let told = await ask(test, "PATCH", "todoitem/a", body, type: type)
                #expect(told.status == status, "\(type) \(body): \(told.text)")
                #expect(told.json["error"]?.string?.isEmpty == false, "\(type) \(body)")
                let item = await ask(test, "GET", "todoitem/a").item
                #expect(item == made.item, "\(type) \(body)")
            }
        }
    }

    @Test func `an update may have the current version and time of the item`() async throws {
        try await withItem { test, made in
            let version = try #require(made.item?["version"])
            let time = try #require(made.item?["updatedAt"])
            let body = #"{"id":"a","version":\#(version),"updatedAt":\#(time),"n":2}"#
            let told = await ask(test, "PATCH", "todoitem/a", body)
            #expect(told.status == 200 && told.item?["n"] == "2")
            let stale = await ask(test, "PUT", "todoitem/a", body)
            #expect(stale.status == 200)
        }
    }

    @Test func `a version in the body of the second generation that differs is 412`() async throws {
        try await withItem { test, made in
            let body = #"{"text":"y","version":"AA=="}"#
            let told = await ask(test, "PATCH", "todoitem/a", body, family: .mobileApps)
            #expect(told.status == 412 && told.etag == made.etag)
            #expect(told.item?["text"] == #""x""#)
            let version = try #require(made.item?["version"])
            let good = await ask(
                test, "PATCH", "todoitem/a", #"{"text":"y","version":\#(version)}"#,
                family: .mobileApps)
            #expect(good.status == 200 && good.item?["text"] == #""y""#)
        }
    }

    @Test(arguments: [
        (ClientFamily.mobileServices, true), (.mobileApps, true), (.datasync, true),
        (.toolkit, true), (.mobileServices, false), (.mobileApps, false), (.datasync, false),
        (.toolkit, false),
    ])
    func `an insert over a queued deletion is answered as by a backend that has deleted the item`(
        family: ClientFamily, isSoft: Bool
    ) async throws {
        var options = BackendOptions(flavour: .datasync)
        options.dynamicTable = TableOptions(softDelete: isSoft)
        try await TestApp.run(backend: options) { test in
            for id in ["a", "b"] {
                _ = test.elsewhere("POST", "todoitem", #"{"id":"\#(id)","text":"x"}"#)
            }
            _ = test.elsewhere("DELETE", "todoitem/b")
            let engine = test.graph.tenants.anonymous.engine
            _ = await engine.pull(try #require(TableName("todoitem")))
            let query = family == .mobileServices ? "?__systemproperties=*" : ""
            #expect(await ask(test, "DELETE", "todoitem/a", family: family).status == 204)
            let told = await ask(
                test, "POST", "todoitem\(query)", #"{"id":"a","text":"y"}"#, family: family)
            #expect(told.status == (isSoft ? 409 : 201), "\(told.text)")
            switch (isSoft, family) {
            case (true, .mobileServices): #expect(told.json["error"]?.string != nil)
            case (true, _):
                #expect(told.item?["deleted"] == "true" && told.item?["text"] == #""x""#)
            case (false, _): #expect(told.item?["text"] == #""y""#)
            }
            _ = await engine.sync()
            let there = test.elsewhere("GET", "todoitem/a")
            #expect(there["text"]?.string == (isSoft ? nil : "y"))
        }
    }
}
