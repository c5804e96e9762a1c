import Foundation
import HTTPMessage
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

struct MetricsTests {
    /// The first column of the table of metrics in docs/OPERATIONS.md.
    private static func told() throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appending(path: "docs/OPERATIONS.md"), encoding: .utf8)
        return page.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| `understudy_") else { return nil }
            return String(line.dropFirst("| `".count).prefix { $0 != "`" })
        }
    }

    @Test func `docs/OPERATIONS.md has every metric, and no other`() throws {
        #expect(try Self.told().sorted() == Metric.allCases.map(\.rawValue).sorted())
    }

    @Test(arguments: Metric.allCases)
    func `a metric is named by the conventions and has a help text`(metric: Metric) {
        let name = metric.rawValue
        #expect(name.hasPrefix("understudy_"))
        #expect(name.allSatisfy { $0.isLowercase || $0 == "_" })
        #expect(name.hasSuffix("_total") == (metric.type == "counter"), "\(name)")
        // The name of a time ends with its unit, the second.
        let isTime = !Set(name.split(separator: "_")).isDisjoint(
            with: ["time", "age", "duration", "timestamp"])
        #expect(isTime == name.hasSuffix("_seconds"), "\(name)")
        #expect(["counter", "gauge", "histogram"].contains(metric.type))
        #expect(metric.help.hasSuffix("."))
    }

    @Test func `requests to the backend are counted by outcome and duration`()
        async throws
    {
        try await TestApp.run { test in
            _ = await test.table("POST", "todoitem", #"{"id":"a","text":"one"}"#)
            _ = try await test.ask("POST", "/sync?wait=10")
            test.unplug()
            _ = try await test.ask("POST", "/sync?wait=10")
            let times = test.graph.tenants.anonymous.engine.requestTimes
            let succeeded = try #require(times.histograms[.succeeded])
            #expect(succeeded.count >= 2)
            #expect(succeeded.counts.count == SyncLimits.requestTimeBoundsMilliseconds.count + 1)
            #expect(times.histograms[.unreachable]?.count == 1)
            #expect(times.histograms[.failed] == nil)
            let token = try test.folder.token() ?? ""
            let answer = await test.send(
                .make("GET", "/-/metrics", ["Authorization": "Bearer \(token)"]))
            let lines = String(decoding: answer.bytes ?? [], as: UTF8.self).split(separator: "\n")
            let name = Metric.requestDuration.rawValue
            #expect(lines.contains("# TYPE \(name) histogram"))
            #expect(lines.contains(#"\#(name)_bucket{outcome="unreachable",le="+Inf"} 1"#))
            #expect(lines.contains(#"\#(name)_count{outcome="unreachable"} 1"#))
            // Each bucket includes the ones before it.
            let buckets = lines.filter { $0.hasPrefix("\(name)_bucket{outcome=\"succeeded\"") }
                .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
            #expect(buckets.count == SyncLimits.requestTimeBoundsMilliseconds.count + 1)
            #expect(buckets == buckets.sorted() && buckets.last == succeeded.count)
        }
    }

    @Test func `the bounds of a histogram rise, and reach the longest request`() {
        let bounds = SyncLimits.requestTimeBoundsMilliseconds
        #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 })
        #expect(bounds.last == 30_000)
    }
}
