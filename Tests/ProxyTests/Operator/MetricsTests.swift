import Foundation
import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import TablesProtocol
import TestSupport
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
            // Those of a node are another program's matter.
            guard line.hasPrefix("| `understudy_") || line.hasPrefix("| `process_"),
                !line.hasPrefix("| `understudy_node_")
            else { return nil }
            return String(line.dropFirst("| `".count).prefix { $0 != "`" })
        }
    }

    @Test func `docs/OPERATIONS.md has every metric, and no other`() throws {
        #expect(try Self.told().sorted() == Metric.allCases.map(\.rawValue).sorted())
    }

    @Test(arguments: Metric.allCases)
    func `a metric is named by the conventions and has a help text`(metric: Metric) {
        let name = metric.rawValue
        #expect(name.hasPrefix("understudy_") || name.hasPrefix("process_"))
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
            let lines = try await test.metrics()
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

    @Test(arguments: [
        (SyncLimits.requestTimeBoundsMilliseconds, 30_000),
        (Limits.clientTimeBoundsMilliseconds, 10_000),
    ])
    func `the bounds of a histogram rise, and reach the longest request`(
        bounds: [Int], longest: Int
    ) {
        #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 })
        #expect(bounds.last == longest)
    }

    @Test func `the sum of the closed operations counts each operation once`() async throws {
        try await TestApp.run { test in
            for id in ["a", "b", "c"] {
                _ = await test.table("POST", "todoitem", #"{"id":"\#(id)"}"#)
            }
            _ = try await test.ask("POST", "/sync?wait=10")
            _ = await test.table("PATCH", "todoitem/a", #"{"text":"one"}"#)
            let lines = try await test.metrics()
            #expect(
                lines.contains(#"understudy_operations_accepted_total{identity="anonymous"} 4"#))
            let closed = lines.filter { $0.hasPrefix("understudy_operations_total{") }
                .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
            #expect(closed.reduce(0, +) == 3)
        }
    }

    @Test func `conflicts, refused operations and retries are counters, which do not go back`()
        async throws
    {
        try await TestApp.run { test in
            for id in ["a", "b"] { _ = await test.table("POST", "todoitem", #"{"id":"\#(id)"}"#) }
            _ = try await test.ask("POST", "/sync?wait=10")
            _ = test.elsewhere("PATCH", "todoitem/a", #"{"text":"theirs"}"#)
            for id in ["a", "b"] {
                _ = await test.table("PATCH", "todoitem/\(id)", #"{"text":"mine"}"#)
            }
            test.transport.decide { request, _ in
                request.head.method == .patch && request.head.path?.hasSuffix("/b") == true
                    ? .instead(Response(status: .badRequest, body: Array("{}".utf8))) : nil
            }
            _ = try await test.ask("POST", "/sync?wait=10")
            func counts() async throws -> [String] {
                try await test.metrics().filter { line in
                    ["conflicts", "quarantined", "operation_retries"].contains {
                        line.hasPrefix("understudy_\($0)_total{")
                    }
                }
            }
            #expect(
                try await counts() == [
                    #"understudy_conflicts_total{identity="anonymous"} 1"#,
                    #"understudy_quarantined_total{identity="anonymous"} 1"#,
                    #"understudy_operation_retries_total{identity="anonymous"} 0"#,
                ])
            let open = try await test.ask("GET", "/operations")
            for one in open.body["items"]?.array ?? [] {
                let action = one["state"]?.string == "conflict" ? "discard" : "retry"
                let answer = try await test.ask(
                    "POST", "/operations/\(one["id"]?.string ?? "")/\(action)",
                    #"{"revision":\#(one["revision"]?.integer ?? 0)}"#)
                #expect(answer.status == 200)
            }
            _ = try await test.ask("POST", "/sync?wait=10")
            #expect(
                try await counts() == [
                    #"understudy_conflicts_total{identity="anonymous"} 1"#,
                    #"understudy_quarantined_total{identity="anonymous"} 2"#,
                    #"understudy_operation_retries_total{identity="anonymous"} 1"#,
                ])
        }
    }

    @Test func `store, log, free and budget bytes, and the process, are measured`() async throws {
        try await TestApp.run(configure: { $0.diskBudgetBytes = 8 << 20 }) { test in
            _ = await test.table("POST", "todoitem", #"{"id":"a"}"#)
            let lines = try await test.metrics()
            func value(_ series: String) -> Double {
                let line = lines.first { $0.hasPrefix("\(series) ") }
                return line.flatMap { Double($0.dropFirst(series.count + 1)) } ?? .nan
            }
            let store = test.graph.tenants.anonymous.store
            #expect(
                value(#"understudy_store_bytes{identity="anonymous"}"#)
                    == Double(Files.size(store.path) ?? 0))
            #expect(value(#"understudy_store_log_bytes{identity="anonymous"}"#) > 0)
            let used = value(#"understudy_disk_budget_used_ratio{identity="anonymous"}"#)
            #expect(used > 0 && used < 0.5)
            #expect(value("understudy_disk_free_bytes") > 1_048_576)
            #expect(value("process_open_fds") > 3)
            #expect(value("process_open_fds") < value("process_max_fds"))
            #expect(value("process_resident_memory_bytes") > 1_048_576)
            #expect(
                value("process_virtual_memory_bytes") >= value("process_resident_memory_bytes"))
            let age =
                Double(ThisProcess.now.milliseconds) / 1000
                - value("process_start_time_seconds")
            #expect(age > -2 && age < 86_400)
            #expect(value("process_cpu_seconds_total") > 0)
        }
    }
}
