import Backend
import TablesProtocol
import Testing

/// The Node server in an application of its own: what is not in its list of tables is not there.
@Suite struct ExpressTests {
    private func client(_ tokens: Set<String> = []) throws -> Client {
        var options = BackendOptions(flavour: .express)
        options.tokens = .only(tokens)
        for (name, table) in [
            ("movies", TableOptions.standard(of: .express)),
            ("numbers", TableOptions(softDelete: false, idKind: .integer)),
            ("notes", TableOptions(softDelete: true)),
            ("secrets", TableOptions(softDelete: false, needsSignIn: true)),
            ("fixed", TableOptions(softDelete: false, disabled: [.insert, .delete])),
        ] {
            options.tables[try #require(TableName(name))] = table
        }
        return try Client(options, fields: [("ZUMO-API-VERSION", "2.0.0")])
    }

    private func page(_ text: String) -> String {
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            + "<title>Error</title>\n</head>\n<body>\n<pre>\(text)</pre>\n</body>\n</html>\n"
    }

    @Test(
        arguments: ["GET", "POST", "PATCH", "DELETE", "PUT", "OPTIONS"],
        ["/tables/todoitem", "/tables/todoitem/a", "/tables", "/api/x", "/swagger", "/", "/x/y"])
    func `what is not in the list of tables is Express' page for every verb`(
        method: String, path: String
    ) throws {
        let body = method == "POST" || method == "PATCH" ? #"{"id":"a"}"# : nil
        let answer = try client().send(method, "\(path)?$top=1", body)
        #expect(answer.status == 404)
        #expect(answer.text == page("Cannot \(method) \(path)"))
        #expect(answer.field("Content-Type") == "text/html; charset=utf-8")
        #expect(answer.field("X-Powered-By") == "Express")
        #expect(answer.field("Content-Security-Policy") == "default-src 'none'")
        #expect(answer.field("X-Content-Type-Options") == "nosniff")
        #expect(answer.field("ETag") == nil)
    }

    @Test func `nothing that is refused makes a table`() throws {
        let client = try client()
        #expect(try client.send("POST", "/tables/todoitem", #"{"id":"a"}"#).status == 404)
        #expect(try client.send("GET", "/tables/todoitem").status == 404)
        #expect(try client.send("POST", "/tables/Movies", #"{"id":"a"}"#).status == 201)
        #expect(try client.send("GET", "/tables/MOVIES").ids == ["a"])
    }

    @Test func `a page has a thousand rows, and a full one has no link`() throws {
        let client = try client()
        for number in 0..<1005 {
            try client.send("POST", "/tables/movies", #"{"id":"n\#(10_000 + number)"}"#)
        }
        let all = (0..<1005).map { "n\(10_000 + $0)" }
        let first = try client.send("GET", "/tables/movies?$orderby=id")
        #expect(first.ids == Array(all.prefix(1000)))
        #expect(first.field("Link") == nil)
        #expect(try client.send("GET", "/tables/movies?$orderby=id&$top=600").ids.count == 600)
        let rest = try client.send("GET", "/tables/movies?$orderby=id&$skip=1000")
        #expect(rest.ids == Array(all.suffix(5)))
        let tooMany = try client.send("GET", "/tables/movies?$top=1001")
        #expect(tooMany.status == 400)
        #expect(tooMany.text == #"{"error":"You cannot request more than 1000 records"}"#)
    }

    @Test func `a table deletes for good, one with softDelete does not`() throws {
        let client = try client()
        for table in ["movies", "notes"] {
            #expect(try client.send("POST", "/tables/\(table)", #"{"id":"a"}"#).status == 201)
            let deleted = try client.send("DELETE", "/tables/\(table)/a")
            #expect(deleted.status == 200)
            #expect(deleted.json["deleted"]?.bool == (table == "notes"))
        }
        #expect(try client.send("GET", "/tables/movies?__includeDeleted=true").text == "[]")
        #expect(try client.send("POST", "/tables/movies/a").status == 404)
        #expect(try client.send("POST", "/tables/movies", #"{"id":"a"}"#).status == 201)
        #expect(try client.send("GET", "/tables/notes?__includeDeleted=true").ids == ["a"])
        #expect(try client.send("POST", "/tables/notes/a").status == 201)
        #expect(try client.send("GET", "/tables/notes").ids == ["a"])
    }

    /// The id of a body is not looked at; rows have system properties all the same.
    @Test func `integer ids are given by the server`() throws {
        let client = try client()
        let first = try client.send("POST", "/tables/numbers", #"{"id":77,"text":"x"}"#)
        #expect(first.status == 201)
        #expect(first.json["id"]?.integer == 1)
        #expect(first.json["version"]?.string == "MQ==")
        #expect(first.field("ETag") == #""MQ==""#)
        #expect(
            try client.send("POST", "/tables/numbers", #"{"text":"y"}"#).json["id"]?.integer == 2)
        #expect(try client.send("GET", "/tables/numbers/2").json["text"]?.string == "y")
        #expect(try client.send("GET", "/tables/numbers?$filter=id eq 2").ids == ["2"])
        #expect(
            try client.send("PATCH", "/tables/numbers/2", #"{"id":2,"text":"z"}"#).status == 200)
        #expect(try client.send("GET", "/tables/numbers/x").status == 404)
        #expect(try client.send("DELETE", "/tables/numbers/2").json["id"]?.integer == 2)
        #expect(try client.send("GET", "/tables/numbers").ids == ["1"])
    }

    @Test func `a table for users answers 401 without a token, and is shared by all with one`()
        throws
    {
        let client = try client(["ana", "ben"])
        for (method, target, body) in [
            ("GET", "/tables/secrets", nil), ("GET", "/tables/secrets/a", nil),
            ("POST", "/tables/secrets", "{}"), ("PATCH", "/tables/secrets/a", "{}"),
            ("DELETE", "/tables/secrets/a", nil), ("POST", "/tables/secrets/a", nil),
        ] as [(String, String, String?)] {
            let refused = try client.send(method, target, body)
            #expect(refused.status == 401)
            #expect(refused.text == "You must be logged in to use this application")
            #expect(refused.field("Content-Type") == "text/html; charset=utf-8")
            #expect(refused.field("WWW-Authenticate") == nil)
        }
        let ana = ["X-ZUMO-AUTH": "ana"]
        let made = try client.send("POST", "/tables/secrets", #"{"id":"a","text":"x"}"#, ana)
        #expect(made.status == 201)
        #expect(made.json["userId"] == nil)
        let ben = ["X-ZUMO-AUTH": "ben"]
        #expect(try client.send("GET", "/tables/secrets", nil, ben).ids == ["a"])
        #expect(try client.send("GET", "/tables/movies", nil, ["X-ZUMO-AUTH": "x"]).status == 401)
    }

    @Test func `what a table forbids is 405 with the operation's name`() throws {
        let client = try client()
        for (method, target, name) in [
            ("POST", "/tables/fixed", "insert"), ("DELETE", "/tables/fixed/a", "delete"),
            ("DELETE", "/tables/fixed", "delete"),
        ] {
            let refused = try client.send(method, target, method == "POST" ? "{}" : nil)
            #expect(refused.status == 405)
            #expect(refused.text == "Method \(name) is not allowed")
            #expect(refused.field("Content-Type") == "text/html; charset=utf-8")
        }
        #expect(try client.send("GET", "/tables/fixed").status == 200)
        #expect(try client.send("POST", "/tables/fixed/a").status == 404)
    }
}
