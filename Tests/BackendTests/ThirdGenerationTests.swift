import Backend
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

    @Test(arguments: [
        (BackendFlavour.datasync, ["b", "none"]), (.toolkit, ["b", "none"]), (.mobileApps, ["b"]),
        (.dotnet, ["b"]), (.node, ["b"]),
    ])
    func `a row without a value is unequal in the third generation alone`(
        flavour: BackendFlavour, ids: [String]
    ) throws {
        let isThird = flavour == .datasync || flavour == .toolkit
        let name = try #require(TableName("t"))
        var options = BackendOptions(flavour: flavour)
        options.tables[name] = TableOptions(columns: [TableOptions.Column("text", .string)])
        let client = try Client(
            options, fields: [("ZUMO-API-VERSION", isThird ? "3.0.0" : "2.0.0")])
        for body in [#"{"id":"a","text":"a"}"#, #"{"id":"b","text":"b"}"#, #"{"id":"none"}"#] {
            #expect(try client.send("POST", "/tables/t", body).status == 201)
        }
        for filter in ["text%20ne%20'a'", "not(text%20eq%20'a')"] {
            #expect(try client.send("GET", "/tables/t?$filter=\(filter)&$orderby=id").ids == ids)
        }
        #expect(try client.send("GET", "/tables/t?$filter=text%20gt%20'a'").ids == ["b"])
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
        (.datasync, "GET", "/tables/todo?$filter=a%20eq", nil, 400, problem),
        (.datasync, "GET", "/tables/todo?$filter=nosuch%20eq%201", nil, 400, problem),
        (.datasync, "GET", "/tables/todo?$top=512001", nil, 400, problem),
        (.datasync, "PATCH", "/tables/todo/a", #"{"version":"x"}"#, 400, problem),
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

    private static let problem = "application/problem+json; charset=utf-8"

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

    /// Field, value (nil for the row's tag), and the statuses of GET, PUT, PATCH and DELETE.
    static let validators: [(String, String?, [Int])] = [
        ("If-Match", nil, [200, 200, 200, 204]), ("If-Match", "*", [200, 200, 200, 204]),
        ("If-Match", "\"dGVzdA==\"", [412, 412, 412, 412]),
        ("If-Match", "W/\"MQ==\"", [412, 412, 412, 412]),
        ("If-Match", "dGVzdA==", [200, 200, 200, 204]),
        ("If-Match", "\"dGVzdA==\", \"MQ==\"", [200, 200, 200, 204]),
        ("If-None-Match", nil, [304, 412, 412, 412]), ("If-None-Match", "*", [304, 412, 412, 412]),
        ("If-None-Match", "\"dGVzdA==\"", [200, 200, 200, 204]),
        ("If-Modified-Since", "Thu, 14 Jan 2027 08:00:00 GMT", [200, 200, 200, 204]),
        ("If-Modified-Since", "Sat, 16 Jan 2027 08:00:00 GMT", [304, 412, 412, 412]),
        ("If-Unmodified-Since", "Sat, 16 Jan 2027 08:00:00 GMT", [200, 200, 200, 204]),
        ("If-Unmodified-Since", "Thu, 14 Jan 2027 08:00:00 GMT", [412, 412, 412, 412]),
        ("If-Unmodified-Since", "soon", [200, 200, 200, 204]),
    ]

    @Test(arguments: [BackendFlavour.datasync, .toolkit], ["*", #""MQ==""#, #""dGVzdA==""#])
    func `an If-None-Match beside a fitting If-Match refuses no deletion`(
        flavour: BackendFlavour, noneMatch: String
    ) throws {
        for (match, status) in [(#""MQ==""#, 204), ("*", 204), (#""dGVzdA==""#, 412)] {
            let client = try client(flavour)
            _ = try client.send("POST", "/tables/t", #"{"id":"a","text":"x"}"#)
            let told = try client.send(
                "DELETE", "/tables/t/a", nil, ["If-Match": match, "If-None-Match": noneMatch])
            #expect(told.status == status)
        }
    }

    @Test(arguments: [BackendFlavour.datasync, .toolkit], validators)
    func `conditions hold on every verb`(
        flavour: BackendFlavour, validator: (String, String?, [Int])
    ) throws {
        let (name, value, statuses) = validator
        let body = #"{"id":"a","text":"y"}"#
        let calls = [("GET", nil), ("PUT", body), ("PATCH", body), ("DELETE", nil)]
        for ((method, body), status) in zip(calls, statuses) {
            if method == "PATCH", flavour == .toolkit { continue }
            let client = try client(flavour)
            let made = try client.send("POST", "/tables/t", #"{"id":"a","text":"x"}"#)
            let told = try client.send(method, "/tables/t/a", body, [name: value ?? #""MQ==""#])
            #expect(told.status == status, "\(method)")
            if status == 412 {
                #expect(told.text == made.text && told.field("ETag") == #""MQ==""#)
                #expect(told.field("Last-Modified") == made.field("Last-Modified"))
            }
            if status == 304 { #expect(told.text.isEmpty) }
        }
    }

    /// The row was changed at this very second.
    @Test(arguments: [(BackendFlavour.datasync, 200, 304), (.toolkit, 412, 200)])
    func
        `a change at the very second of a date is before it for one server and after it for the other`(
            flavour: BackendFlavour, unmodified: Int, modified: Int
        ) throws
    {
        let client = try client(flavour)
        let made = try client.send("POST", "/tables/t", #"{"id":"a"}"#)
        let date = try #require(made.field("Last-Modified"))
        for (name, status) in [
            ("If-Unmodified-Since", unmodified), ("If-Modified-Since", modified),
        ] {
            #expect(try client.send("GET", "/tables/t/a", nil, [name: date]).status == status)
        }
        // Beside its field of tags a date does not count.
        let early = "Thu, 14 Jan 2027 08:00:00 GMT"
        let both = ["If-Match": "*", "If-Unmodified-Since": early]
        #expect(try client.send("GET", "/tables/t/a", nil, both).status == 200)
    }

    private func patch(_ client: Client, _ patch: String) throws -> Client.Answer {
        try client.send(
            "PATCH", "/tables/todo/a", patch,
            Self.three + [("Content-Type", "application/json-patch+json")])
    }

    @Test func `the older server takes JSON Patch`() throws {
        let client = try client(.datasync, columns: true)
        try client.send("POST", "/tables/todo", #"{"id":"a","text":"x","complete":true}"#)
        let told = try patch(
            client,
            """
            [{"op":"test","path":"/text","value":"x"},{"op":"replace","path":"/text","value":"y"},
             {"op":"test","path":"/text","value":"y"},{"op":"replace","path":"/other","value":1}]
            """)
        #expect(told.status == 200)
        #expect(
            told.text == #"{"id":"a","text":"y","complete":true,"#
                + #""updatedAt":"2027-01-15T08:00:00.001Z","version":"Mg==","deleted":false}"#)
        let failed = try patch(
            client,
            """
            [{"op":"replace","path":"/text","value":"z"},{"op":"test","path":"/text","value":"y"}]
            """)
        #expect(failed.status == 500 && failed.text.isEmpty)
        #expect(try client.send("GET", "/tables/todo/a").text == told.text)
        let version = #"[{"op":"replace","path":"/version","value":"Mg=="}]"#
        #expect(try patch(client, version).status == 200)
    }

    @Test(arguments: [
        "{}", "[", #"[{"op":"move","path":"/text","from":"/complete"}]"#,
        #"[{"op":"replace","path":"/id","value":"b"}]"#,
        #"[{"op":"replace","path":"/version","value":"dGVzdA=="}]"#,
        #"[{"op":"replace","path":"/updatedAt","value":"2018-12-31T05:00:00.000Z"}]"#,
    ])
    func `a patch that cannot be read or changes the server's own properties is refused`(
        body: String
    ) throws {
        let client = try client(.datasync, columns: true)
        try client.send("POST", "/tables/todo", #"{"id":"a","text":"x"}"#)
        #expect(try patch(client, body).status == 400)
    }

    @Test func `a patch deletes and brings back by the mark`() throws {
        let client = try client(.datasync, columns: true)
        try client.send("POST", "/tables/todo", #"{"id":"a","text":"x"}"#)
        func set(_ value: Bool) throws -> Int {
            try patch(client, "[{\"op\":\"replace\",\"path\":\"/deleted\",\"value\":\(value)}]")
                .status
        }
        #expect(try set(true) == 200)
        #expect(try client.send("GET", "/tables/todo/a").status == 410)
        #expect(
            try patch(client, #"[{"op":"replace","path":"/text","value":"y"}]"#).status == 410)
        #expect(try set(false) == 200)
        #expect(try client.send("GET", "/tables/todo/a").status == 200)
    }

    @Test(arguments: [
        ("PATCH", "application/json", 200), ("PATCH", "application/json; charset=utf-8", 200),
        ("PATCH", "application/merge-patch+json", 415), ("PATCH", "application/json+problem", 415),
        ("PUT", "application/json-patch+json", 415), ("POST", "application/json-patch+json", 415),
    ])
    func `the older server takes few content types`(
        method: String, type: String, status: Int
    ) throws {
        let client = try client(.datasync)
        try client.send("POST", "/tables/t", #"{"id":"a"}"#)
        let target = method == "POST" ? "/tables/t" : "/tables/t/a"
        let told = try client.send(
            method, target, #"{"id":"a","text":"y"}"#, Self.three + [("Content-Type", type)])
        #expect(told.status == status)
    }
}
