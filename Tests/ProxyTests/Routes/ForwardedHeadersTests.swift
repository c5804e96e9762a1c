import Backend
import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Header fields of clients that are forwarded to the backend (`--forward-header`).
@Suite struct ForwardedHeadersTests {
    private static func configure(_ configuration: inout ProxyConfiguration) {
        configuration.forwardedHeaders = ["X-Tenant", "x-app-version"].compactMap {
            ForwardableName($0)
        }
    }

    private func names(_ texts: String...) -> [ForwardableName] {
        texts.compactMap { ForwardableName($0) }
    }

    private func fields(_ pairs: KeyValuePairs<String, String>) -> HTTPFields {
        Request.make("GET", "/", pairs).head.headerFields
    }

    /// The forwarded fields of a request.
    private func own(_ request: Request) -> [String] {
        request.head.headerFields.filter { $0.name.canonicalName.hasPrefix("x-") }
            .map { "\($0.name.canonicalName): \($0.value)" }.sorted()
    }

    @Test func `listed fields are picked in any case, with all values`() {
        let picked = ForwardedHeaders.pick(
            names("X-Tenant", "x-app"),
            from: fields(["x-tenant": "a", "X-Other": "b", "X-App": "1", "X-APP": "2"]))
        #expect(picked == fields(["X-Tenant": "a", "X-App": "1", "X-App": "2"]))
        #expect(ForwardedHeaders.pick([], from: fields(["X-Tenant": "a"])).isEmpty)
    }

    @Test(arguments: [
        "Host", "Content-Length", "content-type", "Transfer-Encoding", "Connection", "TE",
        "Upgrade",
        "Authorization", "Proxy-Authorization", "Cookie", "X-ZUMO-AUTH", "X-Zumo-Application",
        "ZUMO-API-VERSION", "If-Match", "if-none-match", "Range", "Idempotency-Key", "traceparent",
        "Understudy-Session", "Sec-Fetch-Mode", "Access-Control-Request-Method", "Origin", "a b",
        "",
    ])
    func `a name that must not be forwarded is refused`(name: String) {
        #expect(ForwardableName(name) == nil)
    }

    @Test func `an operation keeps the listed fields, and every attempt has them`() async throws {
        try await TestApp.run(
            backend: BackendOptions(flavour: .mobileApps), configure: Self.configure
        ) {
            test in
            test.unplug()
            _ = await test.table(
                "POST", "todoitem", #"{"id":"a","text":"x"}"#,
                ["X-Tenant": "north", "X-App-Version": "7", "X-Other": "no"])
            let engine = test.graph.tenants.anonymous.engine
            _ = await engine.sync()
            let id = try await test.ask("GET", "/operations").body["items"]?.array?.first?["id"]?
                .string
            let shown = try await test.ask("GET", "/operations/\(try #require(id))").body
            #expect(shown["headers"]?.text == #"["X-Tenant: north","X-App-Version: 7"]"#)
            // It is not known whether the first attempt arrived: the row is read back, then sent again.
            test.transport.once(.vanished) { $0.head.method == .post }
            _ = await engine.sync()
            test.transport.forget()
            _ = await engine.sync()
            let sent = test.transport.sent.filter {
                $0.head.method == .post || ($0.head.path ?? "").contains("id%20eq")
            }
            #expect(sent.map(\.head.method) == [.get, .post])
            for request in sent {
                #expect(own(request) == ["x-app-version: 7", "x-tenant: north"])
            }
            #expect(try await test.graph.tenants.anonymous.store.ledger().queue.open == 0)
        }
    }

    @Test func `a field that is too long is refused if it is forwarded`() async throws {
        try await TestApp.run(configure: Self.configure) { test in
            let long = String(repeating: "x", count: Limits.forwardedHeaderBytes + 1)
            for method in ["GET", "POST"] {
                let body = method == "GET" ? "" : #"{"id":"a"}"#
                let refused = await test.table(method, "todoitem", body, ["X-Tenant": long])
                #expect(refused.status == 400)
                #expect(refused.body["error"]?.string?.contains("X-Tenant") == true)
            }
            let accepted = try await test.graph.tenants.anonymous.store.ledger().accepted
            #expect(accepted == 0)
            let taken = await test.table("POST", "todoitem", #"{"id":"a"}"#, ["X-Other": long])
            #expect(taken.status == 201)
        }
    }
}
