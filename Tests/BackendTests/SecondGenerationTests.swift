import Backend
import TablesProtocol
import Testing

@Suite struct SecondGenerationTests {
    @Test func `an inserted item comes back whole, with its number text and its tag`() throws {
        let client = try Client()
        let made = try client.send(
            "POST", "/tables/todoitem", #"{"id":"a1","text":"x","price":1.10,"n":null}"#)
        #expect(made.status == 201)
        #expect(
            made.text == #"{"id":"a1","text":"x","price":1.10,"n":null,"#
                + #""createdAt":"2027-01-15T08:00:00.000Z","updatedAt":"2027-01-15T08:00:00.000Z","#
                + #""version":"MQ==","deleted":false}"#)
        #expect(made.field("ETag") == #""MQ==""#)
        #expect(made.field("Location") == "http://127.0.0.1:3001/tables/todoitem/a1")
        #expect(try client.send("GET", "/tables/TodoItem/a1").text == made.text)
        #expect(try client.send("GET", "/tables/todoitem/nope").status == 404)
    }

    @Test func `an insert without an id gets one, and one that exists is a conflict`() throws {
        let client = try Client()
        let id = try client.send("POST", "/tables/t", "{}").json["id"]?.string ?? ""
        #expect(id.count == 36)
        let again = try client.send("POST", "/tables/t", "{\"id\":\"\(id)\",\"text\":\"y\"}")
        #expect(again.status == 409)
        #expect(again.json["id"]?.string == id)
        #expect(again.json["text"] == nil)
    }

    @Test func `a write with a stale version is refused with the row that is there`() throws {
        let client = try Client()
        try client.send("POST", "/tables/t", #"{"id":"a","text":"1"}"#)
        let good = try client.send(
            "PATCH", "/tables/t/a", #"{"text":"2"}"#, ["If-Match": #""MQ==""#])
        #expect(good.status == 200)
        #expect(good.json["version"]?.string == "Mg==")
        for method in ["PATCH", "DELETE", "POST"] {
            let body = method == "PATCH" ? #"{"text":"3"}"# : nil
            let stale = try client.send(method, "/tables/t/a", body, ["If-Match": #""MQ==""#])
            #expect(stale.status == 412)
            #expect(stale.text == good.text)
            #expect(stale.field("ETag") == #""Mg==""#)
        }
        let inBody = try client.send("PATCH", "/tables/t/a", #"{"text":"3","version":"MQ=="}"#)
        #expect(inBody.status == 409)
        #expect(inBody.text == good.text)
    }

    @Test func `a deleted item is hidden, found when asked for, and comes back`() throws {
        let client = try Client()
        try client.send("POST", "/tables/t", #"{"id":"a"}"#)
        #expect(try client.send("DELETE", "/tables/t/a").status == 204)
        #expect(try client.send("DELETE", "/tables/t/a").status == 404)
        #expect(try client.send("GET", "/tables/t/a").status == 404)
        #expect(try client.send("GET", "/tables/t").text == "[]")
        let all = try client.send("GET", "/tables/t?__includeDeleted=true")
        #expect(all.json.array?.first?["deleted"] == .bool(true))
        #expect(try client.send("POST", "/tables/t/a").status == 201)
        #expect(try client.send("GET", "/tables/t").ids == ["a"])
    }

    @Test func `a list is paged, counted, ordered and filtered`() throws {
        let client = try Client()
        for number in 0..<60 {
            try client.send(
                "POST", "/tables/t", "{\"id\":\"i\(100 + number)\",\"n\":\(number)}")
        }
        let first = try client.send("GET", "/tables/t?$inlinecount=allpages&$orderby=n%20desc")
        #expect(first.json["count"]?.integer == 60)
        #expect(first.ids.count == 50)
        #expect(first.ids.first == "i159")
        #expect(
            first.field("Link")
                == "http://127.0.0.1:3001/tables/t?$inlinecount=allpages&$orderby=n%20desc&$skip=50"
                + "; rel=next")
        let last = try client.send("GET", "/tables/t?$orderby=n%20desc&$skip=50")
        #expect(last.ids.count == 10)
        #expect(last.field("Link") == nil)
        let some = try client.send(
            "GET", "/tables/t?$filter=n%20ge%2010%20and%20n%20lt%2012&$select=id,n")
        #expect(some.text == #"[{"id":"i110","n":10},{"id":"i111","n":11}]"#)
    }
}
