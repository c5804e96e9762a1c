import Backend
import TablesProtocol
import Testing

@Suite struct OptionTests {
    @Test func `the .NET flavour trims fractions, says message and answers 204`() throws {
        var options = BackendOptions(flavour: .dotnet)
        options.allowsPut = true
        if let name = TableName("todo") {
            options.tables[name] = TableOptions(columns: [TableOptions.Column("text", .string)])
        }
        let client = try Client(options, fields: [("ZUMO-API-VERSION", "2.0.0")]) {
            Instant(milliseconds: 1_800_000_000_120)
        }
        let made = try client.send("POST", "/tables/todo", #"{"id":"a"}"#)
        #expect(
            made.text == #"{"id":"a","text":null,"createdAt":"2027-01-15T08:00:00.12Z","#
                + #""updatedAt":"2027-01-15T08:00:00.12Z","version":"MQ==","deleted":false}"#)
        #expect(made.field("x-zumo-server-version") == "net-1.0.0.0")
        let unknown = try client.send("POST", "/tables/todo", #"{"other":1}"#)
        #expect(unknown.status == 400)
        #expect(unknown.json["message"]?.string?.isEmpty == false)
        #expect(unknown.json["error"] == nil)
        #expect(try client.send("POST", "/tables/todo", #"{"id":"a"}"#).status == 409)
        #expect(try client.send("PUT", "/tables/todo/a", #"{"id":"a","text":"y"}"#).status == 200)
        #expect(try client.send("GET", "/tables/todo/a?$select=text").text == #"{"text":"y"}"#)
        #expect(try client.send("DELETE", "/tables/todo/a").status == 204)
        #expect(try client.send("PATCH", "/tables/todo/a", #"{"text":"z"}"#).status == 404)
        let undeleted = try client.send("POST", "/tables/todo/a")
        #expect(undeleted.status == 200)
        #expect(undeleted.json["deleted"]?.bool == false)
        #expect(try Client(options).send("GET", "/tables/todo").status == 400)
    }

    @Test(arguments: [BackendFlavour.mobileServices, .mobileApps, .node, .dotnet])
    func `scripts set an owner, count changes and trim texts`(flavour: BackendFlavour) throws {
        var options = BackendOptions(flavour: flavour)
        let name = try #require(TableName("todo"))
        options.tables[name] = TableOptions(scripts: Set(TableOptions.Script.allCases))
        let client = try Client(options, fields: Client.fields(of: flavour))
        let made = try client.send("POST", "/tables/todo", #"{"id":"a","text":" x y "}"#)
        #expect(made.json["text"]?.string == "x y")
        #expect(made.json["owner"]?.string == "the script")
        #expect(made.json["changes"]?.integer == 1)
        let changed = try client.send("PATCH", "/tables/todo/a", #"{"text":" z"}"#)
        #expect(changed.json["text"]?.string == "z")
        #expect(changed.json["changes"]?.integer == 2)
        let stored = try #require(try backendRows(client, name).first)
        #expect(stored.columns["owner"]?.string == "the script")
        #expect(stored.columns["changes"]?.value.integer == 2)
    }

    private func backendRows(_ client: Client, _ name: TableName) throws -> [Item] {
        try client.backend.items(in: name)
    }

    /// How stamps move, and the `updatedAt` of three inserts while the clock stands still.
    static let stamps: [(BackendOptions.Stamps, [String?])] = [
        (.increasing, ["08:00:00.123Z", "08:00:00.124Z", "08:00:00.125Z"]),
        (.ties(everyMilliseconds: 10), ["08:00:00.120Z", "08:00:00.120Z", "08:00:00.120Z"]),
        (.subMillisecond, ["08:00:00.1230000Z", "08:00:00.1230001Z", "08:00:00.1230002Z"]),
        (.none, [nil, nil, nil]),
    ]

    @Test(arguments: stamps)
    func `stamps move as the option says`(
        stamps: BackendOptions.Stamps, texts: [String?]
    ) throws {
        var options = BackendOptions()
        options.stamps = stamps
        let client = try Client(options) { Instant(milliseconds: 1_800_000_000_123) }
        let made = try (0..<3).map { _ in
            try client.send("POST", "/tables/t", "{}").json["updatedAt"]?.string
        }
        #expect(made == texts.map { $0.map { "2027-01-15T" + $0 } })
    }

    @Test func `stamps between milliseconds are compared and ordered to the last digit`() throws {
        var options = BackendOptions()
        options.stamps = .subMillisecond
        let client = try Client(options)
        for id in ["c", "b", "a"] { try client.send("POST", "/tables/t", "{\"id\":\"\(id)\"}") }
        let list = { (filter: String) in
            let filter = filter.replacing("T", with: "datetimeoffset'2027-01-15T08:00:00.0000001Z'")
                .replacing(" ", with: "%20")
            return try client.send(
                "GET", "/tables/t?$filter=\(filter)&$orderby=updatedAt,id&$inlinecount=allpages"
            ).ids
        }
        #expect(try list("updatedAt ge T") == ["b", "a"])
        #expect(try list("updatedAt gt T") == ["a"])
        #expect(try list("(updatedAt eq T) and (id gt 'a')") == ["b"])
        #expect(try list("not (updatedAt lt T)") == ["b", "a"])
    }

    @Test func `without updatedAt nothing can be filtered by it`() throws {
        var options = BackendOptions()
        options.stamps = .none
        let client = try Client(options)
        try client.send("POST", "/tables/t", #"{"id":"a"}"#)
        #expect(try client.send("GET", "/tables/t?$orderby=updatedAt").status == 400)
        #expect(try client.send("GET", "/tables/t?$orderby=id").ids == ["a"])
    }

    @Test func `random versions never repeat`() throws {
        var options = BackendOptions()
        options.versions = .random
        let client = try Client(options)
        var versions = [
            try client.send("POST", "/tables/t", #"{"id":"a"}"#).json["version"]?.string
        ]
        for number in 0..<20 {
            let changed = try client.send("PATCH", "/tables/t/a", "{\"n\":\(number)}")
            versions.append(changed.json["version"]?.string)
        }
        #expect(Set(versions).count == 21)
        #expect(versions.allSatisfy { $0?.utf8.count == 24 })
    }

    @Test(arguments: BackendOptions.UnknownTable.allCases)
    func `an unknown table is empty or not found, and reading does not create it`(
        unknown: BackendOptions.UnknownTable
    ) throws {
        var options = BackendOptions()
        options.unknownTable = unknown
        let client = try Client(options)
        let status = unknown == .empty ? 200 : 404
        #expect(try client.send("GET", "/tables/t").status == status)
        #expect(try client.send("GET", "/tables/t").status == status)
        #expect(try client.send("PATCH", "/tables/t/a", "{}").status == 404)
        try client.send("POST", "/tables/t", "{}")
        #expect(try client.send("GET", "/tables/t").ids.count == 1)
        options.dynamicTable = nil
        #expect(try Client(options).send("POST", "/tables/t", "{}").status == 404)
    }

    @Test func `a second generation table may number its items too`() throws {
        var options = BackendOptions()
        options.dynamicTable = TableOptions(idKind: .integer)
        let client = try Client(options)
        let made = try client.send("POST", "/tables/t", #"{"text":"x"}"#)
        #expect(made.json["id"]?.integer == 1)
        #expect(made.field("ETag") == #""MQ==""#)
        let stale = try client.send("PATCH", "/tables/t/1", "{}", ["If-Match": #""no""#])
        #expect(stale.status == 412)
        #expect(try client.send("DELETE", "/tables/t/1").status == 204)
        #expect(try client.send("GET", "/tables/t?__includeDeleted=true").ids == ["1"])
    }

    @Test func `page size, highest top and put are options`() throws {
        var options = BackendOptions()
        options.pageRows = 2
        options.maxTop = 10
        let client = try Client(options)
        for id in ["a", "b", "c"] { try client.send("POST", "/tables/t", "{\"id\":\"\(id)\"}") }
        let first = try client.send("GET", "/tables/t?$top=3")
        #expect(first.ids == ["a", "b"])
        #expect(
            first.field("Link") == "http://127.0.0.1:3001/tables/t?$top=1&$skip=2; rel=next")
        #expect(try client.send("GET", "/tables/t?$top=2").field("Link") == nil)
        #expect(try client.send("GET", "/tables/t?$top=11").status == 400)
        #expect(try client.send("PUT", "/tables/t/a", #"{"n":1}"#).status == 405)
        options.allowsPut = true
        let other = try Client(options)
        try other.send("POST", "/tables/t", #"{"id":"a","text":"x"}"#)
        #expect(try other.send("PUT", "/tables/t/a", #"{"n":1}"#).json["text"] == nil)
    }

    @Test func `a bad token is refused everywhere, none only where sign-in is needed`() throws {
        var options = BackendOptions()
        options.tokens = .only(["good"])
        let table = try #require(TableName("private"))
        options.tables[table] = TableOptions(needsSignIn: true)
        let client = try Client(options)
        let status = { (target: String, fields: [String: String]) in
            try client.send("GET", target, nil, fields).status
        }
        #expect(try status("/tables/t", ["X-ZUMO-AUTH": "bad"]) == 401)
        #expect(try status("/tables/t", ["X-ZUMO-AUTH": "good"]) == 200)
        #expect(try status("/tables/t", [:]) == 200)
        #expect(try status("/tables/private", [:]) == 401)
        #expect(try status("/tables/private", ["X-ZUMO-AUTH": "good"]) == 200)
        #expect(try status("/tables/private", ["Authorization": "Bearer good"]) == 401)
        options.flavour = .toolkit
        let third = try Client(options)
        let fields = ["Authorization": "Bearer good"]
        #expect(try third.send("GET", "/tables/private", nil, fields).status == 200)
        let other = ["X-ZUMO-AUTH": "good"]
        #expect(try third.send("GET", "/tables/private", nil, other).status == 401)
    }

    @Test func `the sample todos are there once`() throws {
        let client = try Client()
        #expect(try client.backend.seedSampleTodos() == 12)
        #expect(try client.backend.seedSampleTodos() == 0)
        let todos = try client.send(
            "GET", "/tables/todoitem?$filter=complete&$inlinecount=allpages")
        #expect(todos.json["count"]?.integer == 3)
        let columns = todos.json["results"]?.array?.first
        #expect(columns?["text"]?.string?.isEmpty == false)
        let due = try client.send(
            "GET", "/tables/todoitem?$filter=dueAt%20lt%20datetimeoffset'2027-01-16T08:00:00Z'")
        #expect(due.ids.count == 3)
    }
}
