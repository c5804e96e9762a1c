import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Queries that the store does not evaluate.
struct BackendsQueryTests {
    private static let filter = "tags/any(t:%20t%20eq%20'x')%20or%20geo.distance(a,b)%20lt%201"
    private static let row =
        #"[{"id":"a","version":"AA==","updatedAt":"2024-01-01T00:00:00.000Z"}]"#

    /// The backend gives its one row for every list by `any`, and refuses those by `has`.
    private func script(_ test: TestApp) {
        test.transport.decide { request, _ in
            guard let path = request.head.path, request.head.method == .get else { return nil }
            func answer(_ status: HTTPResponse.Status, _ body: String) -> Response {
                Response(
                    status: status, headerFields: [.contentType: "application/json"],
                    body: Array(body.utf8))
            }
            if path.contains("any(") { return .instead(answer(.ok, Self.row)) }
            if path.contains("has") {
                return .instead(answer(.badRequest, #"{"error":"I know no flags."}"#))
            }
            return nil
        }
    }

    @Test func `the backend answers in the client's own words, and refuses in its own`()
        async throws
    {
        try await TestApp.run(tables: ["todoitem"]) { test in
            #expect(await test.graph.tenants.anonymous.engine.sync().state == .complete)
            script(test)
            let target = "todoitem?$filter=\(Self.filter)&$orderby=text%20desc&$top=5"
            let list = try await test.list(target, as: .mobileApps)
            #expect(list.status == 200, "\(list.body.text)")
            #expect(list.body.array?.map { $0["id"] } == [.string("a")])
            let sent = try #require(test.transport.sent.last?.head.path)
            #expect(sent.contains("$filter=\(Self.filter)&$orderby=text%20desc"), "\(sent)")
            let refused = try await test.list("todoitem?$filter=a%20has%202", as: .mobileApps)
            #expect(refused.status == 400)
            #expect(refused.body["error"]?.string == "I know no flags.")
        }
    }

    @Test
    func `without the backend the answer is 501 and says why, and what is no OData stays 400`()
        async throws
    {
        try await TestApp.run(tables: ["todoitem"]) { test in
            #expect(await test.graph.tenants.anonymous.engine.sync().state == .complete)
            script(test)
            // The backend of the test is of the second generation.
            let other = try await test.list("todoitem?$filter=\(Self.filter)", as: .datasync)
            #expect(other.status == 501, "\(other.body.text)")
            _ = try await test.ask("POST", "/mode", #"{"mode":"offline"}"#)
            let away = try await test.list("todoitem?$filter=\(Self.filter)", as: .mobileApps)
            #expect(away.status == 501, "\(away.body.text)")
            #expect(
                away.body["error"]?.string?.hasSuffix(
                    "$filter: 'any' over a collection is not supported (at index 5)") == true)
            let bad = try await test.list("todoitem?$filter=a%20eq", as: .mobileApps)
            #expect(bad.status == 400)
        }
    }
}
