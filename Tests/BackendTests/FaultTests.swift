import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import Testing

@Suite struct FaultTests {
    /// A fault, the request it meets, the status that comes back (0 for a closed connection) and how
    /// many effects there are afterwards.
    static let matrix: [(FaultKind, Int, Int)] = [
        (.status(500), 500, 0), (.status(503, applies: true), 503, 1),
        (.drop(applies: false), 0, 0), (.drop(applies: true), 0, 1),
        (.duplicate(answersSecond: false), 201, 1), (.duplicate(answersSecond: true), 409, 1),
        (.torn, 0, 1), (.portal, 200, 0), (.pretend, 201, 0), (.latency(milliseconds: 5), 201, 1),
    ]

    @Test(arguments: matrix)
    func `a fault gives its answer and applies what it says`(
        kind: FaultKind, status: Int, effects: Int
    ) throws {
        let client = try Client()
        client.backend.faults = Faults(rules: [FaultRule(kind, count: 1)])
        let answer = try client.send("POST", "/tables/t", #"{"id":"a"}"#)
        #expect((answer.response.bytes == nil ? 0 : answer.status) == status)
        #expect(try client.backend.effects().count == effects)
        #expect(try client.send("GET", "/tables/t").ids == (effects == 0 ? [] : ["a"]))
        #expect(client.backend.requestCounts == ["POST": 1, "GET": 1])
    }

    @Test func `a dropped answer is a stream that fails at once, a torn one half-way`() throws {
        let client = try Client()
        client.backend.faults = Faults(rules: [
            FaultRule(.drop(applies: true), methods: ["DELETE"]), FaultRule(.torn),
        ])
        let torn = try client.send("POST", "/tables/t", #"{"id":"a"}"#)
        guard case .stream(let stream) = torn.response.body else { throw Unexpected() }
        guard case .bytes(let bytes) = stream.read(maxBytes: 1000, wake: {}) else {
            throw Unexpected()
        }
        #expect(bytes.starts(with: #"{"id":"a""#.utf8))
        #expect(stream.read(maxBytes: 1000) {} == .failed)
        let dropped = try client.send("DELETE", "/tables/t/a")
        guard case .stream(let nothing) = dropped.response.body else { throw Unexpected() }
        #expect(nothing.read(maxBytes: 1000) {} == .failed)
    }

    @Test func `a rule acts only on its methods, tables and items, after its skips, as often`()
        throws
    {
        let client = try Client()
        let table = try #require(TableName("T"))
        client.backend.faults = Faults(rules: [
            FaultRule(
                .status(503, retryAfter: "7"), methods: ["PATCH"], tables: [table], items: ["a"],
                skip: 1, count: 2)
        ])
        for name in ["t", "u"] {
            try client.send("POST", "/tables/\(name)", #"{"id":"a"}"#)
            try client.send("POST", "/tables/\(name)", #"{"id":"b"}"#)
        }
        let patch = { (path: String) in try client.send("PATCH", "/tables/\(path)", #"{"n":1}"#) }
        #expect(try patch("u/a").status == 200)
        #expect(try patch("t/b").status == 200)
        #expect(try patch("t/a").status == 200)
        #expect(try patch("t/a").field("Retry-After") == "7")
        #expect(try patch("t/a").status == 503)
        #expect(try patch("t/a").status == 200)
    }

    @Test func `a rate is a chance, drawn from the injected numbers`() throws {
        let results = try (0..<2).map { _ in
            let client = try Client()
            client.backend.faults = Faults(rules: [FaultRule(.status(500), rate: 0.3)])
            return try (0..<200).map { _ in try client.send("GET", "/tables/t").status }
        }
        #expect(results[0] == results[1])
        #expect((40...80).contains(results[0].count { $0 == 500 }))
    }

    @Test func `a backend that is down closes every connection and applies nothing`() throws {
        let client = try Client()
        client.backend.faults = Faults(isDown: true)
        #expect(try client.send("POST", "/tables/t", "{}").response.bytes == nil)
        #expect(try client.backend.effects().isEmpty)
    }

    @Test func `a latency lets the server answer later`() async throws {
        let client = try Client()
        client.backend.faults = Faults(rules: [FaultRule(.latency(milliseconds: 1))])
        let request = Request(
            head: .init(method: .get, scheme: "http", authority: "b", path: "/tables/t"))
        guard case .later(let begin) = client.backend.handle(request) else { throw Unexpected() }
        let response = await withCheckedContinuation { waiting in
            begin(Reply { waiting.resume(returning: $0) })
        }
        #expect(response.head.status.code == 200)
    }

    @Test func `faults are read, set and cleared under their own path`() throws {
        var options = BackendOptions()
        options.servesFaults = true
        let client = try Client(options)
        let text =
            #"{"down":false,"rules":[{"kind":"status","status":429,"retryAfter":"3","applies":"#
            + #"false,"methods":["POST"],"tables":["t"],"items":["a"],"rate":0.5,"skip":1,"count":"#
            + #"2},{"kind":"latency","milliseconds":5},{"kind":"drop","applies":true},"#
            + #"{"kind":"duplicate","answer":"second"},{"kind":"torn"},{"kind":"portal"},"#
            + #"{"kind":"pretend"}]}"#
        #expect(try client.send("PUT", "/-/faults", text).text == text)
        #expect(try client.send("GET", "/-/faults").text == text)
        #expect(client.backend.faults.rules.count == 7)
        #expect(try client.send("DELETE", "/-/faults").text == #"{"down":false,"rules":[]}"#)
        #expect(client.backend.faults == .none)
    }

    @Test(arguments: [
        "", "[]", #"{"down":1}"#, #"{"rules":[{}]}"#, #"{"rules":[{"kind":"status"}]}"#,
        #"{"rules":[{"kind":"torn","when":1}]}"#, #"{"extra":1}"#,
        #"{"rules":[{"kind":"latency","milliseconds":3600001}]}"#,
        #"{"rules":[{"kind":"latency","milliseconds":-1}]}"#,
        #"{"rules":[{"kind":"portal","count":-9223372036854775808}]}"#,
        #"{"rules":[{"kind":"portal","count":1000000001}]}"#,
        #"{"rules":[{"kind":"torn","skip":0.5}]}"#,
    ])
    func `faults that are not understood change nothing`(text: String) throws {
        var options = BackendOptions()
        options.servesFaults = true
        let client = try Client(options)
        client.backend.faults = Faults(isDown: true)
        let answer = try client.send("PUT", "/-/faults", text)
        #expect(answer.status == 400)
        #expect(answer.json["error"]?.string?.isEmpty == false)
        #expect(client.backend.faults == Faults(isDown: true))
    }

    @Test func `methods that clients invent are counted together`() throws {
        let client = try Client()
        for number in 0..<1000 { try client.send("M\(number)", "/tables/t") }
        try client.send("GET", "/tables/t")
        #expect(client.backend.requestCounts == ["other": 1000, "GET": 1])
    }

    @Test func `without the option the paths of faults are not there`() throws {
        let client = try Client()
        #expect(try client.send("PUT", "/-/faults", #"{"down":true}"#).status == 404)
        #expect(try client.send("GET", "/-/effects").status == 404)
        #expect(client.backend.faults == .none)
    }
}

/// What a test met instead of what it needs to go on.
struct Unexpected: Error {}
