import HTTPMessage
import HTTPTypes
import TablesProtocol
import Testing

@testable import Backend

/// Health and metrics of a site's backend.
@Suite struct HealthTests {
    @Test func `health needs no token, and metrics the administrator's`() throws {
        var options = BackendOptions()
        options.tokens = .verified
        options.servesHealth = true
        let client = try Client(options, clock: { SiteUnderTest.now })
        client.backend.access = try SiteUnderTest.access()
        for path in ["/-/livez", "/-/readyz"] {
            let answer = try client.send("GET", path)
            #expect(answer.status == 200 && answer.json["status"]?.string == "ok", "\(answer.text)")
            #expect(try client.send("POST", path, "{}").status == 401)
        }
        #expect(try client.send("GET", "/-/metrics").status == 401)
        let admin = ["Authorization": "Bearer \(SiteUnderTest.adminToken)"]
        let metrics = try client.send("GET", "/-/metrics", nil, admin)
        #expect(metrics.status == 200)
        #expect(metrics.text.hasPrefix("# HELP understudy_node_request_duration_seconds "))
    }

    @Test func `a node that drains is not ready, answers on, and sends its clients elsewhere`()
        throws
    {
        var options = BackendOptions()
        options.servesHealth = true
        let client = try Client(options, clock: { SiteUnderTest.now })
        #expect(try client.send("GET", "/-/readyz").status == 200)
        let before = try client.send("POST", "/tables/todos", #"{"id":"a"}"#)
        #expect(before.status == 201 && before.field("Connection") == nil)
        client.backend.beginToDrain()
        let ready = try client.send("GET", "/-/readyz")
        #expect(ready.status == 503 && ready.field("Retry-After") != nil)
        #expect(ready.json["reason"]?.string == "The node is about to stop.")
        #expect(try client.send("GET", "/-/livez").status == 200)
        let answer = try client.send("POST", "/tables/todos", #"{"id":"b"}"#)
        #expect(answer.status == 201 && answer.field("Connection") == "close")
        #expect(try client.send("GET", "/tables/todos").ids == ["a", "b"])
    }

    @Test func `tokens that were refused are counted by reason, without the token`() throws {
        var options = BackendOptions()
        options.tokens = .verified
        options.servesHealth = true
        let client = try Client(options, clock: { SiteUnderTest.now })
        client.backend.access = try SiteUnderTest.access()
        let expired = try SiteUnderTest.token(.own, ["exp": .number(JSONNumber(1))])
        for token in [expired, expired, "nonsense"] {
            let answer = try client.send("GET", "/tables/todos", nil, ["X-ZUMO-AUTH": token])
            #expect(answer.status == 401)
        }
        client.backend.count(.repeatedField)
        let admin = ["Authorization": "Bearer \(SiteUnderTest.adminToken)"]
        let lines = try client.send("GET", "/-/metrics", nil, admin).text.split(separator: "\n")
        for line in [
            #"understudy_node_refused_tokens_total{reason="expired"} 2"#,
            #"understudy_node_refused_tokens_total{reason="malformed"} 1"#,
            #"understudy_node_rejected_requests_total{reason="repeatedField"} 1"#,
        ] { #expect(lines.contains { $0 == line }, "\(line)") }
        #expect(!lines.contains { $0.contains("nonsense") })
    }

    @Test(arguments: StorageUnderTest.all)
    func `the use of the database is counted on every storage`(storage: StorageUnderTest) throws {
        var options = BackendOptions()
        options.servesHealth = true
        let backend = try TablesBackend(
            on: storage.open(), options: options, clock: { SiteUnderTest.now })
        let before = backend.storage.load
        #expect(before.limit >= 1 && before.inUse == 0 && before.waiting == 0)
        let table = try #require(TableName("todos"))
        for _ in 0..<3 { _ = try backend.storage.rows(in: table) }
        try backend.storage.declare(table, TableOptions())
        let after = backend.storage.load
        #expect(after.calls >= before.calls + 4 && after.seconds > before.seconds)
        #expect(after.inUse == 0 && after.waiting == 0)
        let lines = backend.health.metrics.split(separator: "\n")
        #expect(lines.contains("understudy_node_database_calls_total \(after.calls)"))
        #expect(lines.contains("understudy_node_database_connections_limit \(after.limit)"))
    }

    @Test func `a backend that does not say so has none of them`() throws {
        let client = try Client()
        for path in ["/-/livez", "/-/readyz", "/-/metrics"] {
            #expect(try client.send("GET", path).status == 404)
        }
    }

    @Test func `requests are counted by table, verb and status, and invented tables together`()
        throws
    {
        let meter = RequestMeter()
        func call(_ method: String, _ path: String) throws -> Call {
            Call(
                .init(
                    head: .init(
                        method: try #require(.init(method)), scheme: "http",
                        authority: "127.0.0.1", path: path)))
        }
        meter.add(try call("GET", "/tables/Todos?$top=1"), status: 200, seconds: 0.003)
        meter.add(try call("GET", "/tables/todos/a"), status: 200, seconds: 0.4)
        meter.add(try call("POST", "/tables/todos"), status: 201, seconds: 60)
        meter.add(try call("GET", "/tables/invented"), status: 404, seconds: 0.001)
        meter.add(try call("GET", "/-/livez"), status: 200, seconds: 0.001)
        let read = try #require(meter.all[.init(table: "todos", verb: "read", status: 200)])
        #expect(read.counts == [0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2] && read.count == 2)
        let insert = try #require(meter.all[.init(table: "todos", verb: "insert", status: 201)])
        #expect(insert.counts.allSatisfy { $0 == 0 } && insert.count == 1 && insert.seconds == 60)
        #expect(meter.all[.init(table: "(other)", verb: "read", status: 404)]?.count == 1)
        #expect(meter.all.count == 3)
        for number in 0..<1000 {
            meter.add(try call("GET", "/tables/s\(number)"), status: 401, seconds: 0)
        }
        #expect(meter.all[.init(table: "(other)", verb: "read", status: 401)]?.count == 1000)
        #expect(meter.all.count == 4)
        for number in 0..<1000 {
            meter.add(try call("OPTIONS", "/tables/p\(number)"), status: 200, seconds: 0)
        }
        #expect(meter.all[.init(table: "(other)", verb: "other", status: 200)]?.count == 1000)
        #expect(meter.all.count == 5)
        for number in 0..<1000 {
            meter.add(try call("GET", "/tables/t\(number)"), status: 200, seconds: 0)
        }
        #expect(Set(meter.all.keys.map(\.table)).count == Limits.meteredTables + 1)
    }
}
