import ReferenceBackend
import TablesProtocol
import Testing

@Suite struct ThirdGenerationTests {
    private static let three: [(String, String)] = [("ZUMO-API-VERSION", "3.0.0")]

    private func client(_ flavour: BackendFlavour, columns: Bool = false) throws -> Client {
        var options = BackendOptions(flavour: flavour)
        if columns, let name = TableName("todo") {
            options.tables[name] = TableOptions(columns: [
                TableOptions.Column("text", .string), TableOptions.Column("complete", .boolean),
            ])
        }
        return try Client(options, fields: Self.three)
    }

    @Test(arguments: [BackendFlavour.datasync, .toolkit])
    func `an item has no createdAt, and carries its tag and its time`(
        flavour: BackendFlavour
    ) throws {
        let client = try client(flavour)
        let made = try client.send("POST", "/tables/t", #"{"id":"a","text":"x"}"#)
        #expect(made.status == 201)
        #expect(
            made.text == #"{"id":"a","text":"x","updatedAt":"2027-01-15T08:00:00.000Z","#
                + #""version":"MQ==","deleted":false}"#)
        #expect(made.field("ETag") == #""MQ==""#)
        #expect(made.field("Last-Modified") == "Fri, 15 Jan 2027 08:00:00 GMT")
        #expect(try client.send("POST", "/tables/t", "{}").json["id"]?.string?.count == 32)
        let again = try client.send("POST", "/tables/t", #"{"id":"a","text":"y"}"#)
        #expect(again.status == 409)
        #expect(again.text == made.text)
        let same = try client.send("GET", "/tables/t/a", nil, ["If-None-Match": #""MQ==""#])
        #expect(same.status == 304)
        #expect(same.text.isEmpty)
    }

    @Test(arguments: [BackendFlavour.datasync, .toolkit])
    func `a put replaces, omitted members go back to their defaults`(
        flavour: BackendFlavour
    ) throws {
        let client = try client(flavour, columns: true)
        try client.send(
            "POST", "/tables/todo", #"{"id":"a","text":"x","complete":true,"other":1}"#)
        let put = try client.send("PUT", "/tables/todo/a", #"{"id":"a","text":"y"}"#)
        #expect(put.status == 200)
        #expect(
            put.text == #"{"id":"a","text":"y","complete":false,"#
                + #""updatedAt":"2027-01-15T08:00:00.001Z","version":"Mg==","deleted":false}"#)
        #expect(try client.send("PUT", "/tables/todo/a", #"{"text":"y"}"#).status == 400)
        #expect(try client.send("PUT", "/tables/todo/a", #"{"id":"b"}"#).status == 400)
        #expect(try client.send("PUT", "/tables/todo/b", #"{"id":"b"}"#).status == 404)
        let stale = try client.send(
            "PUT", "/tables/todo/a", #"{"id":"a"}"#, ["If-Match": #""MQ==""#])
        #expect(stale.status == 412)
        #expect(stale.text == put.text)
    }

    @Test(arguments: [
        (BackendFlavour.datasync, "PATCH", "/tables/t/a", #"{"deleted":false}"#),
        (.toolkit, "PUT", "/tables/t/a?__includedeleted=true", #"{"id":"a","text":"x"}"#),
    ])
    func `a deleted item is gone until it is brought back the server's own way`(
        flavour: BackendFlavour, method: String, target: String, body: String
    ) throws {
        let client = try client(flavour)
        try client.send("POST", "/tables/t", #"{"id":"a","text":"x"}"#)
        #expect(try client.send("DELETE", "/tables/t/a").status == 204)
        #expect(try client.send("DELETE", "/tables/t/a").status == 410)
        #expect(try client.send("GET", "/tables/t/a").status == 410)
        #expect(try client.send("GET", "/tables/t/a?__includeDeleted=true").status == 200)
        #expect(try client.send("PUT", "/tables/t/a", #"{"id":"a"}"#).status == 410)
        #expect(try client.send("POST", "/tables/t/a").status == 405)
        #expect(try client.send("GET", "/tables/t").ids.isEmpty)
        #expect(try client.send(method, target, body).status == 200)
        #expect(try client.send("GET", "/tables/t").ids == ["a"])
        #expect(try client.backend.effects().last?.kind == .undelete)
    }

    /// Flavour, extra field, and the next link of the first page.
    static let links: [(BackendFlavour, String?, String)] = [
        (.toolkit, nil, "$filter=n%20ge%200&$orderby=updatedAt&$count=true&$skip=100"),
        (
            .datasync, nil,
            "http://127.0.0.1:3001/tables/t?$filter=n%20ge%200&$orderby=updatedAt&$count=true"
                + "&$skip=100"
        ),
        (
            .datasync, "nextLink=path",
            "/tables/t?$filter=n%20ge%200&$orderby=updatedAt&$count=true&$skip=100"
        ),
    ]

    @Test(arguments: links)
    func `pages are linked in the form that the server's clients follow`(
        flavour: BackendFlavour, option: String?, link: String
    ) throws {
        let client = try client(flavour)
        for number in 0..<120 { try client.send("POST", "/tables/t", "{\"n\":\(number)}") }
        let fields = option.map { ["X-ZUMO-Options": $0] } ?? [:]
        let first = try client.send(
            "GET", "/tables/t?$filter=n%20ge%200&$orderby=updatedAt&$count=true", nil, fields)
        #expect(first.ids.count == 100)
        #expect(first.json["count"]?.integer == 120)
        #expect(first.json["nextLink"]?.string == link)
        let query = link.split(separator: "?").last ?? ""
        let last = try client.send("GET", "/tables/t?\(query)")
        #expect(last.ids.count == 20)
        #expect(last.json["nextLink"] == .null)
        let top = try client.send("GET", "/tables/t?$top=110")
        #expect(top.json["count"] == .null)
        #expect(top.json["nextLink"]?.string?.hasSuffix("$top=10&$skip=100") == true)
        #expect(try client.send("GET", "/tables/t?$top=100").json["nextLink"] == .null)
    }

    @Test func `the older server wants a version and serves second generation clients`() throws {
        let client = try Client(BackendOptions(flavour: .datasync))
        #expect(try client.send("GET", "/tables/t").status == 400)
        #expect(
            try client.send("GET", "/tables/t", nil, ["ZUMO-API-VERSION": "2.0.0"]).text == "[]")
        #expect(
            try client.send(
                "GET", "/tables/t?$inlinecount=allpages&ZUMO-API-VERSION=2.0.0"
            ).text == #"{"results":[],"count":0}"#)
    }

    /// Flavour, method, target, body, status, content type.
    static let refusals: [(BackendFlavour, String, String, String?, Int, String?)] = [
        (
            .datasync, "GET", "/tables/todo?$filter=a%20eq", nil, 400,
            "application/problem+json; charset=utf-8"
        ),
        (
            .datasync, "GET", "/tables/todo?$filter=nosuch%20eq%201", nil, 400,
            "application/problem+json; charset=utf-8"
        ),
        (
            .datasync, "GET", "/tables/todo?$top=512001", nil, 400,
            "application/problem+json; charset=utf-8"
        ),
        (
            .datasync, "PATCH", "/tables/todo/a", #"{"version":"x"}"#, 400,
            "application/problem+json; charset=utf-8"
        ),
        (.datasync, "GET", "/tables/todo/no", nil, 404, nil),
        (
            .toolkit, "GET", "/tables/todo?$filter=a%20eq", nil, 400,
            "application/json; charset=utf-8"
        ),
        (.toolkit, "GET", "/tables/todo?$top=128001", nil, 400, nil),
        (.toolkit, "GET", "/tables/todo?$skip=-1", nil, 400, nil),
        (.toolkit, "GET", "/tables/todo?$select=nosuch", nil, 400, nil),
        (.toolkit, "PATCH", "/tables/todo/a", "{}", 405, nil),
        (.toolkit, "GET", "/tables/todo/no", nil, 404, nil),
    ]

    @Test(arguments: refusals)
    func `a refusal has the server's form`(
        flavour: BackendFlavour, method: String, target: String, body: String?, status: Int,
        type: String?
    ) throws {
        let client = try client(flavour, columns: true)
        try client.send("POST", "/tables/todo", #"{"id":"a"}"#)
        let answer = try client.send(method, target, body)
        #expect(answer.status == status)
        #expect(answer.field("Content-Type") == type)
        #expect(answer.text.isEmpty == (type == nil))
    }

    @Test func `a body that is not said to be JSON is refused`() throws {
        for flavour in [BackendFlavour.datasync, .toolkit] {
            let client = try client(flavour)
            #expect(try client.send("POST", "/tables/t", "{}", Self.three).status == 415)
        }
    }
}
