import Backend
import TablesProtocol
import Testing

@Suite struct FirstGenerationTests {
    private static var options: BackendOptions {
        var options = BackendOptions(flavour: .mobileServices)
        options.applicationKey = "key"
        options.unknownTable = .notFound
        if let numbers = TableName("numbers") {
            options.tables[numbers] = TableOptions(idKind: .integer)
        }
        return options
    }

    private func client() throws -> Client {
        try Client(Self.options, fields: [("X-ZUMO-APPLICATION", "key")])
    }

    @Test func `system properties show only when asked for, in any case and with or without __`()
        throws
    {
        let client = try client()
        let made = try client.send("POST", "/tables/t", #"{"id":"a","text":"x"}"#)
        #expect(made.status == 201)
        #expect(made.text == #"{"id":"a","text":"x"}"#)
        #expect(made.field("ETag") == nil)
        #expect(made.field("Location") == "https://127.0.0.1:3001/tables/t/a")
        #expect(made.field("Content-Type") == "application/json")
        let asked = try client.send("GET", "/tables/t/a?__systemProperties=VERSION%2C__deleted")
        #expect(asked.text == #"{"id":"a","text":"x","__version":"MQ==","__deleted":false}"#)
        #expect(asked.field("ETag") == #""MQ==""#)
        let all = try client.send("GET", "/tables/t?__systemproperties=*")
        #expect(
            all.text == #"[{"id":"a","text":"x","__createdAt":"2027-01-15T08:00:00.000Z","#
                + #""__updatedAt":"2027-01-15T08:00:00.000Z","__version":"MQ==","__deleted":false}]"#
        )
        let some = try client.send(
            "GET",
            "/tables/t?$filter=__updatedAt%20ge%20datetimeoffset'2000-01-01T00:00:00Z'"
                + "&$select=id,__version")
        #expect(some.text == #"[{"id":"a","__version":"MQ=="}]"#)
    }

    @Test func `an update echoes what was sent, a stale one gives the whole item`() throws {
        let client = try client()
        try client.send("POST", "/tables/t", #"{"id":"a","text":"x","n":1}"#)
        let changed = try client.send(
            "PATCH", "/tables/t/a?__systemproperties=__version", #"{"id":"a","n":2}"#,
            ["If-Match": #""MQ==""#])
        #expect(changed.text == #"{"id":"a","n":2,"__version":"Mg=="}"#)
        let stale = try client.send("PATCH", "/tables/t/a", #"{"n":3}"#, ["If-Match": #""MQ==""#])
        #expect(stale.status == 412)
        #expect(stale.json["__version"]?.string == "Mg==")
        #expect(stale.json["__deleted"]?.bool == false)
        #expect(stale.field("ETag") == #""Mg==""#)
        let nothing = try client.send("PATCH", "/tables/t/a", "{}")
        #expect(nothing.status == 200)
        #expect(try client.backend.effects().count == 2)
    }

    @Test func `deletion and undeletion answer 204 and 200`() throws {
        let client = try client()
        try client.send("POST", "/tables/t", #"{"id":"a","text":"x"}"#)
        let deleted = try client.send("DELETE", "/tables/t/a")
        #expect(deleted.status == 204)
        #expect(deleted.text.isEmpty)
        #expect(try client.send("DELETE", "/tables/t/a").status == 404)
        #expect(
            try client.send("DELETE", "/tables/t/a", nil, ["If-Match": #""Mg==""#]).status == 412)
        #expect(try client.send("PATCH", "/tables/t/a", #"{"n":1}"#).status == 412)
        #expect(try client.send("GET", "/tables/t/a?__INCLUDEdeleted=true").status == 200)
        #expect(try client.send("GET", "/tables/t?__includeDeleted=false").ids.isEmpty)
        let back = try client.send("POST", "/tables/t/a")
        #expect(back.status == 200)
        #expect(back.text == #"{"id":"a","__deleted":false}"#)
    }

    @Test func `ids of an integer table are numbers that the backend gives`() throws {
        let client = try client()
        for number in 1...11 {
            let made = try client.send("POST", "/tables/numbers", #"{"id":0,"text":"x"}"#)
            #expect(made.text == "{\"id\":\(number),\"text\":\"x\"}")
        }
        #expect(try client.send("GET", "/tables/numbers").ids == (1...11).map(String.init))
        #expect(
            try client.send("GET", "/tables/numbers?$filter=id%20gt%209&__systemproperties=*").ids
                == ["10", "11"])
        #expect(
            try client.send("PATCH", "/tables/numbers/2", #"{"id":2,"n":1}"#, ["If-Match": "\"x\""])
                .status == 200)
        #expect(try client.send("DELETE", "/tables/numbers/2").status == 204)
        #expect(try client.send("GET", "/tables/numbers/2?__includedeleted=true").status == 404)
    }

    @Test(arguments: [
        "%20*", "%20__createdAt%20,,%20__version%0A,updatedat,%09DELETED", "*",
    ])
    func `system properties are asked for with blanks, line ends and empty parts`(value: String)
        throws
    {
        let client = try client()
        try client.send("POST", "/tables/t", #"{"id":"a"}"#)
        let item = try client.send("GET", "/tables/t/a?__systemProperties=\(value)").json
        for name in ["__createdAt", "__updatedAt", "__version", "__deleted"] {
            #expect(item[name] != nil, "\(name)")
        }
        #expect(try client.send("GET", "/tables/t?_x=1").ids == ["a"])
    }

    /// Method, target, body, status, and the sentence after `Error: `.
    static let refusals: [(String, String, String?, Int, String)] = [
        ("GET", "/tables/no", nil, 404, "Table 'no' does not exist."),
        ("GET", "/tables/t/no", nil, 404, "An item with id 'no' does not exist."),
        (
            "GET", "/tables/t?$top=1001", nil, 400,
            "The value of the $top query option cannot exceed 1000."
        ),
        ("GET", "/tables/t?$top=x", nil, 400, "The value specified for '$top' must be a number."),
        (
            "GET", "/tables/t?$what=1", nil, 400,
            "Invalid query parameter name '$what'. Custom query parameter names must not start with"
                + " $ or __."
        ),
        (
            "GET", "/tables/t?__systemproperties=__x", nil, 400,
            "The value '__x' is not a supported system property."
        ),
        (
            "GET", "/tables/t?__systemproperties=*,__version", nil, 400,
            "The value '*' is not a supported system property."
        ),
        (
            "GET", "/tables/t?__systemproperties=__createdAt%20__version", nil, 400,
            "The value '__createdAt __version' is not a supported system property."
        ),
        (
            "GET", "/tables/t/a?$orderby=id", nil, 400,
            "Query options $orderby, $inlinecount, $skip and $top cannot be applied to id queries."
        ),
        ("GET", "/tables/numbers/x", nil, 400, "The value specified for 'id' must be a number."),
        (
            "POST", "/tables/t", #"{"__version":"x"}"#, 400,
            "The property '__version' can not be set. Properties that begin with a '__' are"
                + " considered system properties."
        ),
        (
            "POST", "/tables/t", #"{"ID":"x"}"#, 400,
            "Item identifiers can only be specified via the 'id' property."
        ),
        ("POST", "/tables/t", "[]", 400, "A single (valid) JSON object is expected."),
        (
            "POST", "/tables/t", #"{"o":{}}"#, 400,
            "The value of property 'o' is of type 'object' which is not a supported type."
        ),
        (
            "POST", "/tables/t", #"{"id":"a+b"}"#, 400,
            "The value specified for property 'id' is invalid. An id must not contain any control"
                + " characters or the characters \",+,?,\\,`."
        ),
        (
            "POST", "/tables/t", #"{"id":"a"}"#, 409,
            "Could not insert the item because an item with that id already exists."
        ),
        (
            "POST", "/tables/numbers", #"{"id":5}"#, 400,
            "A value cannot be specified for property 'id'"
        ),
        ("POST", "/tables/t/a", "{}", 400, "An undelete request must not have content."),
        (
            "POST", "/tables/numbers/1", nil, 400,
            "The undelete operation is not supported on this table."
        ),
        (
            "PATCH", "/tables/t", "{}", 400,
            "An id value must be specified in the URL for an update operation."
        ),
        (
            "PATCH", "/tables/t/a", #"{"id":"b"}"#, 400,
            "When specified in the body, 'id' must match the id specified in the url."
        ),
        ("GET", "/nothing", nil, 404, "Not Found"),
    ]

    @Test(arguments: refusals)
    func `a refusal has its status, its code and its sentence`(
        method: String, target: String, body: String?, status: Int, sentence: String
    ) throws {
        let client = try client()
        try client.send("POST", "/tables/t", #"{"id":"a"}"#)
        try client.send("POST", "/tables/numbers", "{}")
        let before = try client.backend.effects().count
        let answer = try client.send(method, target, body)
        #expect(answer.status == status)
        #expect(answer.json["code"]?.integer == Int64(status))
        #expect(answer.json["error"]?.string == "Error: " + sentence)
        #expect(try client.backend.effects().count == before)
    }

    @Test func `a wrong key, a version and a method that is none are refused`() throws {
        let client = try Client(Self.options)
        #expect(try client.send("GET", "/tables/t").status == 401)
        let version = try client.send("GET", "/tables/t", nil, ["ZUMO-API-VERSION": "2.0.0"])
        #expect(version.status == 400)
        #expect(version.field("Content-Type") == "text/html; charset=utf-8")
        let put = try self.client().send("PUT", "/tables/t/a", "{}")
        #expect(put.status == 405)
        #expect(put.field("Allow") == "GET, POST, PATCH, DELETE")
    }

    @Test(arguments: [
        ("/Date(-1+0001)/", "1970-01-01T00:00:59.999Z"),
        ("/Date(1336003790912-0700)/", "2012-05-02T17:09:50.912Z"),
        ("/Date(9223372036854775807+0100)/", "/Date(9223372036854775807+0100)/"),
        ("/Date(-9223372036854775808-0100)/", "/Date(-9223372036854775808-0100)/"),
        ("/Date(253402300800000)/", "/Date(253402300800000)/"),
    ])
    func `a date in milliseconds is moved by its offset, and a text where no instant has them`(
        text: String, stored: String
    ) throws {
        let client = try client()
        let made = try client.send("POST", "/tables/t", #"{"id":"a","at":"\#(text)"}"#)
        #expect(made.status == 201)
        #expect(made.json["at"]?.string == stored)
        #expect(try client.send("GET", "/tables/t/a").json["at"]?.string == stored)
    }

    @Test func `a list is as long as its top and has no link`() throws {
        let client = try client()
        for number in 0..<60 { try client.send("POST", "/tables/t", "{\"n\":\(number)}") }
        #expect(try client.send("GET", "/tables/t").ids.count == 50)
        let long = try client.send("GET", "/tables/t?$top=55&$inlinecount=allpages")
        #expect(long.ids.count == 55)
        #expect(long.json["count"]?.integer == 60)
        #expect(long.field("Link") == nil)
    }
}
