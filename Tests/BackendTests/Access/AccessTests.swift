import TablesProtocol
import Testing

@testable import Backend

/// What users, strangers and the administrator may do.
@Suite struct AccessTests {
    /// A request of each verb on the table `todos`, whose item `a` is there.
    static func send(
        _ verb: TableOptions.Operation, _ client: Client, _ fields: [String: String]
    ) throws -> Client.Answer {
        switch verb {
        case .read: try client.send("GET", "/tables/todos", nil, fields)
        case .insert: try client.send("POST", "/tables/todos", #"{"id":"b"}"#, fields)
        case .update: try client.send("PATCH", "/tables/todos/a", #"{"n":2}"#, fields)
        case .delete: try client.send("DELETE", "/tables/todos/a", nil, fields)
        case .undelete: try client.send("POST", "/tables/todos/c", nil, fields)
        }
    }

    /// All that a backend holds.
    static func content(_ client: Client) throws -> [Row] {
        try client.backend.storage.rows(in: try #require(TableName("todos")))
    }

    private func filled(_ table: TableOptions, _ flavour: BackendFlavour = .mobileApps) throws
        -> Client
    {
        let client = try SiteUnderTest.client(table, flavour)
        try fill(client, table)
        return client
    }

    /// Puts two items into the storage, one of which is deleted.
    private func fill(_ client: Client, _ table: TableOptions) throws {
        for id in ["a", "c"] {
            _ = try client.backend.storage.insert(
                NewRow(
                    id: id, columns: try Columns(parsing: #"{"n":1,"userId":"ana"}"#),
                    deleted: id == "c"),
                into: try #require(TableName("todos")), creating: table,
                Write(at: SiteUnderTest.now, stamps: .increasing, method: "POST"))
        }
    }

    private func fields(_ token: String) -> [String: String] { ["X-ZUMO-AUTH": token] }

    @Test(arguments: TableOptions.Operation.allCases)
    func `each verb has a level of its own`(verb: TableOptions.Operation) throws {
        let good = try fields(SiteUnderTest.token())
        let bad = try fields(SiteUnderTest.token(.own, ["exp": .number(JSONNumber(1))]))
        let successes = [200, 201, 204]
        for level in 0..<3 {
            let table = TableOptions(
                disabled: level == 2 ? [verb] : [], signedIn: level == 1 ? [verb] : [])
            for (fields, status) in [
                ([:], [200, 401, 405][level]), (good, [200, 200, 405][level]), (bad, 401),
            ] {
                let client = try filled(table)
                let before = try Self.content(client)
                let answer = try Self.send(verb, client, fields)
                let isAsExpected =
                    status == 200 ? successes.contains(answer.status) : answer.status == status
                #expect(isAsExpected, "\(verb) \(level) \(answer.status) \(answer.text)")
                if status != 200 || verb == .read {
                    #expect(try Self.content(client) == before)
                } else {
                    #expect(try Self.content(client) != before)
                }
                for other in TableOptions.Operation.allCases where other != verb && level > 0 {
                    let client = try filled(table)
                    #expect(
                        successes.contains(try Self.send(other, client, [:]).status), "\(other)")
                }
            }
        }
    }

    @Test(arguments: BackendFlavour.allCases)
    func `a token that is not good touches nothing, whatever the table allows`(
        flavour: BackendFlavour
    ) throws {
        let client = try filled(TableOptions(), flavour)
        let before = try Self.content(client)
        let unsigned =
            try SiteUnderTest.token().split(separator: ".").prefix(2).joined(separator: ".") + "."
        let tokens = [
            try SiteUnderTest.token(.own, ["exp": .number(JSONNumber(1))]),
            try SiteUnderTest.token(.rsa, ["iss": .string("https://site.example")]),
            try SiteUnderTest.token(.own, head: ["alg": .string("none")]), unsigned, "nonsense",
        ]
        for token in tokens {
            for fields in [["X-ZUMO-AUTH": token], ["Authorization": "Bearer \(token)"]] {
                for verb in TableOptions.Operation.allCases {
                    let answer = try Self.send(verb, client, fields)
                    #expect(answer.status == 401, "\(verb) \(answer.text)")
                    #expect(answer.field("WWW-Authenticate")?.contains("invalid_token") == true)
                    #expect(!answer.text.contains(#""n""#))
                }
            }
        }
        #expect(try Self.content(client) == before)
        #expect(try client.backend.effects().count == 2)
    }

    @Test func `a write that deletes or brings back needs what that would need`() throws {
        for (flavour, id, body) in [
            (BackendFlavour.mobileApps, "a", #"{"deleted":true}"#),
            (.datasync, "a", #"{"deleted":true}"#), (.datasync, "c", #"{"deleted":false}"#),
        ] {
            let client = try filled(TableOptions(disabled: [.delete, .undelete]), flavour)
            let before = try Self.content(client)
            let answer = try client.send("PATCH", "/tables/todos/\(id)", body)
            #expect(answer.status == 405, "\(flavour) \(answer.status) \(answer.text)")
            #expect(try Self.content(client) == before)
        }
    }

    @Test(arguments: [BackendFlavour.mobileServices, .mobileApps, .datasync, .toolkit])
    func `an insert shows nothing of an item that its sender may not read`(
        flavour: BackendFlavour
    ) throws {
        for table in [TableOptions(disabled: [.read]), TableOptions(signedIn: [.read])] {
            let client = try filled(table, flavour)
            let before = try Self.content(client)
            let answer = try client.send("POST", "/tables/todos", #"{"id":"a","n":7}"#)
            #expect(answer.status == 409, "\(answer.status) \(answer.text)")
            #expect(!answer.text.contains("ana") && answer.field("ETag") == nil)
            #expect(try Self.content(client) == before)
        }
    }

    @Test func `all else is the administrator's`() throws {
        let client = try SiteUnderTest.client(TableOptions())
        let paths = [
            "/-/effects", "/-/faults", "/api/x", "/", "/other", "/%74ables/todos",
            "/-/%65ffects",
        ]
        for path in paths {
            for fields in [
                [:], try fields(SiteUnderTest.token()), ["Authorization": "Bearer x"],
                ["Authorization": "Bearer \(try SiteUnderTest.token())"],
            ] {
                let answer = try client.send("GET", path, nil, fields)
                #expect(answer.status == 401, "\(path)")
            }
        }
        let admin = ["Authorization": "Bearer \(SiteUnderTest.adminToken)"]
        #expect(try client.send("GET", "/-/effects", nil, admin).status == 200)
        #expect(try client.send("PUT", "/-/faults", "{}", [:]).status == 401)
        #expect(try client.send("GET", "/other", nil, admin).status == 404)
        #expect(try client.send("OPTIONS", "/tables/todos").status == 200)
    }

    @Test func `a path of no table is not there, whoever asks`() throws {
        let client = try SiteUnderTest.client(TableOptions())
        let admin = ["Authorization": "Bearer \(SiteUnderTest.adminToken)"]
        for fields in [[:], try fields(SiteUnderTest.token()), fields("nonsense"), admin] {
            for path in ["/tables", "/tables/", "/tables/todos/a/b"] {
                let answer = try client.send("GET", path, nil, fields)
                #expect(answer.status == 404, "\(path) \(fields)")
            }
        }
    }

    @Test func `a page of an allowed origin can read a refusal`() throws {
        let client = try SiteUnderTest.client(TableOptions(signedIn: [.read]))
        let requests: [(path: String, fields: [String: String])] = [
            ("/tables/todos", ["X-ZUMO-AUTH": "nonsense"]), ("/tables/todos", [:]),
            ("/-/effects", [:]),
        ]
        for request in requests {
            for (origin, allowed) in [
                ("http://localhost:8000", "http://localhost:8000"), ("https://other.example", nil),
            ] as [(String, String?)] {
                let fields = request.fields.merging(["Origin": origin]) { $1 }
                let answer = try client.send("GET", request.path, nil, fields)
                #expect(answer.status == 401, "\(request.path)")
                #expect(
                    answer.field("Access-Control-Allow-Origin") == allowed, "\(request.path)")
            }
        }
    }

    @Test(arguments: [BackendFlavour.mobileServices, .mobileApps])
    func `a stored table that no setting names is not there`(flavour: BackendFlavour) throws {
        var options = BackendOptions(flavour: flavour)
        options.tokens = .verified
        options.dynamicTable = nil
        options.unknownTable = .notFound
        let client = try Client(options, clock: { SiteUnderTest.now })
        client.backend.access = try SiteUnderTest.access()
        try fill(client, TableOptions())
        let before = try Self.content(client)
        #expect(before.count == 2)
        for fields in [[:], try fields(SiteUnderTest.token())] {
            for verb in TableOptions.Operation.allCases {
                let answer = try Self.send(verb, client, fields)
                #expect(answer.status == 404, "\(verb) \(answer.status) \(answer.text)")
                #expect(!answer.text.contains("ana"))
            }
        }
        #expect(try Self.content(client) == before)
    }

    @Test func `without keys nobody is known`() throws {
        let client = try SiteUnderTest.client(TableOptions(signedIn: [.read]))
        let good = try fields(SiteUnderTest.token())
        #expect(try client.send("GET", "/tables/todos", nil, good).status == 200)
        client.backend.access = nil
        #expect(try client.send("GET", "/tables/todos", nil, good).status == 401)
        #expect(try client.send("GET", "/tables/todos").status == 401)
        let admin = ["Authorization": "Bearer \(SiteUnderTest.adminToken)"]
        #expect(try client.send("GET", "/-/effects", nil, admin).status == 401)
    }
}
