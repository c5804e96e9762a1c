import HTTPTypes
import TablesProtocol
import Testing

@testable import Proxy

struct OperatorRoutesTests {
    private func withRoutes(_ body: ([OperatorRoute]) throws -> Void) async throws {
        try await TestApp.run { test in try body(test.graph.routes.operatorAPI.routes) }
    }

    @Test func `each route is there once`() async throws {
        try await withRoutes { routes in
            let names = routes.map { "\($0.description.method.rawValue) \($0.description.path)" }
            #expect(Set(names).count == names.count)
            #expect(Set(routes.map(\.description.id)).count == routes.count)
        }
    }

    @Test func `the names in a path are told`() async throws {
        try await withRoutes { routes in
            for route in routes.map(\.description) {
                let names = route.segments.filter { $0.hasPrefix("{") }.map {
                    String($0.dropFirst().dropLast())
                }
                #expect(Set(route.names.keys) == Set(names), "\(route.path)")
            }
        }
    }

    @Test func `a literal segment comes before a parameter`() async throws {
        try await TestApp.run { test in
            func first(_ path: String) -> String? {
                let segments = path.dropFirst().split(
                    separator: "/", omittingEmptySubsequences: false
                ).map(String.init)
                return test.graph.routes.operatorAPI.matches(segments).first?.route.description
                    .path
            }
            #expect(first("/-/livez") == "/-/livez")
            #expect(first("/-/") == "/-/")
            #expect(first("/-/app.js") == "/-/{file}")
            #expect(first("/-/queue/state.js") == "/-/{folder}/{file}")
            #expect(first("/-/api/v1/operations/retry") == "/-/api/v1/operations/retry")
            #expect(first("/-/api/v1/operations/x/retry") == "/-/api/v1/operations/{id}/retry")
            #expect(first("/-/api/v1/operations/") == nil)
            #expect(first("/-/api/v2/status") == nil)
        }
    }

    @Test func `a request has the path and the values of its route`() {
        let request = QueueRoutes.retry("a/b", body: [QueueRoutes.revision(3)])
        #expect(request.target(identity: nil) == "/-/api/v1/operations/a%2Fb/retry")
        #expect(JSONValue.object(request.body).text == #"{"revision":3}"#)
        let list = QueueRoutes.list(query: [
            OperationSelection.text("a b"), Fields.limit(5), OperationSelection.reason(nil),
        ])
        #expect(
            list.target(identity: "ana")
                == "/-/api/v1/operations?q=a%20b&limit=5&identity=ana")
        #expect(list.path == "/operations")
    }

    @Test func `a stop waits for changes of a store, and not for the backend`() async throws {
        try await withRoutes { routes in
            let waits = routes.filter { route in
                if case .later = route.action { return route.description.method != .get }
                return false
            }
            #expect(
                Set(waits.map(\.description.path)) == [
                    "/-/api/v1/backups/{at}/rehearse", "/-/api/v1/notify/test",
                    "/-/api/v1/sync", "/-/api/v1/push", "/-/api/v1/tables/{table}/pull",
                    // It only asks; its ids are too many for an address.
                    "/-/api/v1/operations/outcomes",
                ])
            let reads = routes.filter { route in
                if case .change = route.action { return route.description.method == .get }
                return false
            }
            #expect(reads.isEmpty)
        }
    }

    @Test func `every file of the dashboard has a media type of its own`() {
        for file in DashboardFile.all {
            #expect(file.mediaType != "application/octet-stream", "\(file.name)")
            #expect(!file.bytes.isEmpty, "\(file.name)")
        }
    }
}
