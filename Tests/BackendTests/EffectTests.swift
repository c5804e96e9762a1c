import Backend
import Foundation
import TablesProtocol
import Testing

@Suite struct EffectTests {
    @Test func `every applied write is logged in order with the key it came with`() throws {
        let client = try Client()
        let key = { (key: String) in ["Idempotency-Key": key] }
        try client.send("POST", "/tables/T", #"{"id":"a"}"#, key("k1"))
        try client.send("POST", "/tables/t", #"{"id":"a"}"#, key("k1"))
        try client.send("PATCH", "/tables/t/a", #"{"n":1}"#, key("k2"))
        try client.send("PATCH", "/tables/t/a", #"{"n":1}"#, key("k2"))
        try client.send("PATCH", "/tables/t/a", #"{"n":2}"#, ["If-Match": "\"no\""])
        try client.send("DELETE", "/tables/t/a")
        try client.send("POST", "/tables/t/a", nil, key("k3"))
        let effects = try client.backend.effects()
        #expect(effects.map(\.kind) == [.insert, .update, .update, .delete, .undelete])
        #expect(effects.map(\.idempotencyKey) == ["k1", "k2", "k2", nil, "k3"])
        #expect(effects.map(\.number) == [1, 2, 3, 4, 5])
        #expect(effects.allSatisfy { $0.table == "T" && $0.itemID == "a" })
        let table = try #require(TableName("t"))
        #expect(try client.backend.effectCount(table, "a") == 5)
        #expect(try client.backend.effectCount(table, "b") == 0)
        #expect(client.backend.requestCounts == ["POST": 3, "PATCH": 3, "DELETE": 1])
        #expect(try client.backend.items(in: table).map(\.id.text) == ["a"])
    }

    @Test func `effects are served under their own path, after a number`() throws {
        var options = BackendOptions()
        options.servesFaults = true
        let client = try Client(options)
        try client.send("POST", "/tables/t", #"{"id":"a"}"#)
        try client.send("DELETE", "/tables/t/a", nil, ["Idempotency-Key": "k"])
        #expect(
            try client.send("GET", "/-/effects?after=1").text
                == #"{"effects":[{"number":2,"table":"t","id":"a","kind":"delete","#
                + #""method":"DELETE","idempotencyKey":"k","at":"2027-01-15T08:00:00.000Z"}],"#
                + #""requests":{"DELETE":1,"POST":1}}"#)
    }

    @Test func `effects and items outlive the process`() throws {
        let path =
            "\(FileManager.default.temporaryDirectory.path)/understudy-backend-\(UInt64.random(in: 0...UInt64.max)).sqlite"
        let open = { try Client(at: path) }
        try open().send("POST", "/tables/t", #"{"id":"a","text":"x"}"#)
        let again = try open()
        #expect(try again.backend.effects().count == 1)
        #expect(try again.send("GET", "/tables/t/a").json["text"]?.string == "x")
        // The stamps go on from where they were although the clock stands still.
        let updated = try again.send("PATCH", "/tables/t/a", #"{"text":"y"}"#)
        #expect(updated.json["updatedAt"]?.string == "2027-01-15T08:00:00.001Z")
    }
}
