import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// A column that the backend's script for reads leaves out of every row, `secret`.
@Suite struct HiddenColumnTests {
    /// A server, and whether its answers to writes leave the column out too.
    private static let servers: [(BackendFlavour, Bool)] = [
        (.node, false), (.node, true), (.mobileApps, true), (.datasync, true),
    ]

    private func run(
        _ flavour: BackendFlavour, isHiddenInAnswers: Bool, _ body: (TestApp) async throws -> Void
    ) async throws {
        try await TestApp.run(
            tables: ["todoitem"], backend: BackendOptions(flavour: flavour)
        ) { test in
            _ = test.native("POST", "todoitem", #"{"id":"old","text":"o"}"#, flavour)
            let backend = test.backend
            test.transport.decide { request, _ in
                guard request.head.method == .get || isHiddenInAnswers else { return nil }
                var response = backend.respond(to: request)
                response.body = .bytes(Self.withoutSecret(response.bytes ?? []))
                return .instead(response)
            }
            _ = await test.graph.tenants.anonymous.engine.sync()
            try await body(test)
        }
    }

    private static func withoutSecret(_ bytes: [UInt8]) -> [UInt8] {
        func shown(_ value: JSONValue) -> JSONValue {
            switch value {
            case .object(let members):
                .object(
                    members.filter { $0.name != "secret" }
                        .map { JSONValue.Member($0.name, shown($0.value)) })
            case .array(let elements): .array(elements.map(shown))
            default: value
            }
        }
        guard let value = try? JSONValue(parsing: bytes) else { return bytes }
        return Array(shown(value).text.utf8)
    }

    private func secrets(_ test: TestApp) async -> [JSONValue?] {
        let list = await test.table("GET", "todoitem?$orderby=id").body.array ?? []
        return list.map { $0["secret"] }
    }

    @Test(arguments: servers)
    func `what reads hide is the writer's until the backend has answered, and then hidden`(
        flavour: BackendFlavour, isHiddenInAnswers: Bool
    ) async throws {
        try await run(flavour, isHiddenInAnswers: isHiddenInAnswers) { test in
            let engine = test.graph.tenants.anonymous.engine
            let made = await test.table(
                "POST", "todoitem", #"{"id":"a","text":"t","secret":"s"}"#)
            #expect(made.body["secret"] == .string("s"))
            #expect(await secrets(test) == [.string("s"), nil])
            #expect(await engine.push().state == .complete)
            #expect(await secrets(test) == [nil, nil])
            // The client's own version is good, since no other writer has changed the row.
            let version = made.body["version"]?.string ?? ""
            let patched = await test.table(
                "PATCH", "todoitem/a", #"{"text":"u"}"#, ["If-Match": ETag.quote(version)])
            #expect(patched.status == 200 && patched.body["secret"] == nil)
            #expect(await engine.push().state == .complete)
            #expect(await engine.sync().state == .complete)
            #expect(await secrets(test) == [nil, nil])
            let answer = test.native("GET", "todoitem/a", "", flavour)
            let there = try JSONValue(parsing: answer.bytes ?? [])
            #expect(there["text"] == .string("u"))
            // A third generation's PUT has the row as its client reads it.
            if flavour != .datasync { #expect(there["secret"] == .string("s")) }
        }
    }

    @Test(arguments: servers)
    func `it is asked once which columns reads give`(
        flavour: BackendFlavour, isHiddenInAnswers: Bool
    ) async throws {
        try await run(flavour, isHiddenInAnswers: isHiddenInAnswers) { test in
            let engine = test.graph.tenants.anonymous.engine
            for id in ["a", "b"] {
                _ = await test.table(
                    "POST", "todoitem", #"{"id":"\#(id)","text":"t","secret":"s"}"#)
                test.transport.forget()
                #expect(await engine.push().state == .complete)
                let reads = test.transport.sent.count { $0.head.method == .get }
                #expect(reads == (id == "a" ? 1 : 0), "\(test.transport.targets)")
            }
            _ = await test.table("PATCH", "todoitem/b", #"{"secret":"t"}"#)
            test.transport.forget()
            #expect(await engine.push().state == .complete)
            #expect(test.transport.sent.count { $0.head.method == .get } == 0)
            #expect(await secrets(test) == [nil, nil, nil])
        }
    }

    @Test func `an answer counts where the backend gives no reads, and is not asked for again`()
        async throws
    {
        try await TestApp.run(
            tables: ["todoitem"], backend: BackendOptions(flavour: .node)
        ) { test in
            _ = await test.graph.tenants.anonymous.engine.sync()
            test.transport.decide { request, _ in
                guard request.head.path?.contains("id%20eq") == true else { return nil }
                return .instead(
                    Response(
                        status: .methodNotAllowed,
                        headerFields: [.contentType: "application/json"],
                        body: Array(#"{"error":"no"}"#.utf8)))
            }
            for id in ["a", "b"] {
                _ = await test.table("POST", "todoitem", #"{"id":"\#(id)","note":"n"}"#)
                test.transport.forget()
                #expect(await test.graph.tenants.anonymous.engine.push().state == .complete)
                #expect(test.transport.sent.count { $0.head.method == .get } == (id == "a" ? 1 : 0))
            }
            #expect(await test.table("GET", "todoitem/b").body["note"] == .string("n"))
        }
    }
}
