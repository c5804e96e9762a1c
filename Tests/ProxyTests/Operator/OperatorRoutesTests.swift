import HTTPTypes
import TablesProtocol
import Testing

@testable import Proxy

struct OperatorRoutesTests {
    @Test func `openapi.json and the routes are the same`() throws {
        let routed = Set(OperatorRoute.all.map { "\($0.method.rawValue) \($0.pattern)" })
        let document = try JSONValue(parsing: PackageResources.openapi_json)
        let documented = Set(
            OpenAPIShapes(document).operations.map { "\($0.method) \($0.path)" })
        #expect(routed.subtracting(documented) == [])
        #expect(documented.subtracting(routed) == [])
        #expect(routed.count == OperatorRoute.all.count)
    }

    @Test func `a literal segment comes before a parameter`() {
        func first(_ path: String) -> String? {
            let segments = path.dropFirst().split(
                separator: "/", omittingEmptySubsequences: false
            ).map(String.init)
            return OperatorRoute.all.first { $0.match(segments) != nil }?.pattern
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

    @Test func `a stop waits for changes of a store, and not for the backend`() {
        let waits = OperatorRoute.all.filter { route in
            if case .later = route.action { return route.method != .get }
            return false
        }
        #expect(
            waits.map(\.pattern) == [
                "/-/api/v1/backups/{at}/rehearse", "/-/api/v1/notify/test",
                "/-/api/v1/sync", "/-/api/v1/push", "/-/api/v1/tables/{table}/pull",
                // It only asks; its ids are too many for an address.
                "/-/api/v1/operations/outcomes",
            ])
        let reads = OperatorRoute.all.filter { route in
            if case .change = route.action { return route.method == .get }
            return false
        }
        #expect(reads.isEmpty)
    }

    @Test func `every file of the dashboard has a media type of its own`() {
        for file in DashboardFile.all {
            #expect(file.mediaType != "application/octet-stream", "\(file.name)")
            #expect(!file.bytes.isEmpty, "\(file.name)")
        }
    }
}
