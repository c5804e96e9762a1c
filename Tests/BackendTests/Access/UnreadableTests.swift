import TablesProtocol
import Testing

@testable import Backend

/// Writes of somebody who may not read the table.
@Suite struct UnreadableTests {
    /// Tables that all may write to, and that the requests of these tests may not read.
    static let tables = [TableOptions(disabled: [.read]), TableOptions(signedIn: [.read])]

    private var name: TableName { get throws { try #require(TableName("todos")) } }

    /// A client of a backend whose table has one item, `a`.
    private func filled(_ table: TableOptions, _ flavour: BackendFlavour) throws -> Client {
        let client = try SiteUnderTest.client(table, flavour)
        _ = try client.backend.storage.insert(
            NewRow(id: "a", columns: try Columns(parsing: #"{"n":1,"secret":"hers"}"#)),
            into: name, creating: table,
            Write(
                at: SiteUnderTest.now, stamps: .increasing,
                newColumns: [.init("n", .number), .init("secret", .string)], method: "POST"))
        return client
    }

    private func row(_ client: Client, _ id: String = "a") throws -> Row {
        try #require(try client.backend.storage.get(id, in: name))
    }

    private static let stale = ["If-Match": "\"AAAA\""]

    /// Writes of every verb, with a version that is not the item's and without.
    private static let writes: [(String, String, String?, [String: String])] = [
        ("PATCH", "/tables/todos/a", #"{"n":2}"#, stale),
        ("PATCH", "/tables/todos/a", #"{"n":2,"version":"AAAA"}"#, [:]),
        ("PUT", "/tables/todos/a", #"{"id":"a","n":2}"#, stale),
        ("DELETE", "/tables/todos/a", nil, stale),
        ("POST", "/tables/todos", #"{"id":"a","n":2}"#, [:]),
        ("PATCH", "/tables/todos/a", #"{"n":3}"#, [:]),
        ("PUT", "/tables/todos/a", #"{"id":"a","n":4,"secret":"mine"}"#, [:]),
        ("PATCH", "/tables/todos/a", #"{"n":5,"secret":"hers"}"#, [:]),
        ("DELETE", "/tables/todos/a", nil, [:]),
        ("DELETE", "/tables/todos/a", nil, [:]),
        ("POST", "/tables/todos/a", nil, stale),
        ("POST", "/tables/todos/a", nil, [:]),
        ("PATCH", "/tables/todos/a", #"{"deleted":false}"#, [:]),
        ("PUT", "/tables/todos/a?__includedeleted=true", #"{"id":"a","n":6}"#, [:]),
        ("POST", "/tables/todos", #"{"id":"b","n":7}"#, [:]),
    ]

    @Test(arguments: BackendFlavour.allCases)
    func `every write has the status that a reader gets, and shows nothing that it did not send`(
        flavour: BackendFlavour
    ) throws {
        for table in Self.tables {
            let reader = try filled(TableOptions(), flavour)
            let writer = try filled(table, flavour)
            for (method, target, body, fields) in Self.writes {
                let usual = try reader.send(method, target, body, fields)
                let answer = try writer.send(method, target, body, fields)
                #expect(answer.status == usual.status, "\(method) \(target) \(answer.text)")
                let sent = body ?? ""
                for word in ["hers", "createdAt", "secret"] where !sent.contains(word) {
                    #expect(!answer.text.contains(word), "\(method) \(target) \(answer.text)")
                }
                if answer.status >= 400 {
                    let tag = answer.field("ETag") ?? "W/"
                    #expect(tag.hasPrefix("W/"), "\(method) \(target) \(tag)")
                }
            }
            let rows = try writer.backend.storage.rows(in: name)
            #expect(try rows.map(\.columns) == reader.backend.storage.rows(in: name).map(\.columns))
        }
    }

    @Test func `the answer has the id, what was sent, and the version for the next write`() throws {
        for table in Self.tables {
            let client = try filled(table, .mobileApps)
            let changed = try client.send("PATCH", "/tables/todos/a", #"{"N":2}"#)
            let version = try row(client).version
            #expect(changed.text == #"{"id":"a","n":2,"version":"\#(version)"}"#)
            #expect(changed.field("ETag") == "\"\(version)\"")
            let conflict = try client.send("PATCH", "/tables/todos/a", #"{"n":3}"#, Self.stale)
            #expect(conflict.status == 412)
            #expect(
                conflict.text
                    == #"{"error":"The item is not as the request says. You may not read it."}"#)
            let again = try client.send(
                "PATCH", "/tables/todos/a", #"{"n":3}"#, ["If-Match": "\"\(version)\""])
            #expect(again.status == 200)
            let inserted = try client.send("POST", "/tables/todos", #"{"id":"b","n":7}"#)
            let new = try row(client, "b").version
            #expect(inserted.text == #"{"id":"b","n":7,"version":"\#(new)"}"#)
            #expect(inserted.field("Location") == "http://127.0.0.1:3001/tables/todos/b")
        }
    }

    @Test func `the Node server's answer to a delete has id and version alone`() throws {
        for table in Self.tables {
            let client = try filled(table, .node)
            let deleted = try client.send("DELETE", "/tables/todos/a")
            #expect(deleted.status == 200)
            let version = try row(client).version
            #expect(deleted.text == #"{"id":"a","version":"\#(version)"}"#)
        }
    }

    @Test func `the first generation gives a version only to those who ask for it`() throws {
        for table in Self.tables {
            let client = try filled(table, .mobileServices)
            let plain = try client.send("PATCH", "/tables/todos/a", #"{"n":2}"#)
            #expect(plain.text == #"{"id":"a","n":2}"# && plain.field("ETag") == nil)
            let asked = try client.send(
                "PATCH", "/tables/todos/a?__systemproperties=*", #"{"n":3}"#)
            let version = try row(client).version
            #expect(asked.text == #"{"id":"a","n":3,"__version":"\#(version)"}"#)
        }
    }

    @Test func `a write that asks what rows hold needs the right to read`() throws {
        for (table, status) in zip(Self.tables, [405, 401]) {
            let third = try filled(table, .datasync)
            let test = #"[{"op":"test","path":"/secret","value":"hers"}]"#
            let patch = try third.send(
                "PATCH", "/tables/todos/a", test,
                third.fields + [("Content-Type", "application/json-patch+json")])
            #expect(patch.status == status, "\(patch.text)")
            let node = try filled(table, .node)
            let filter = "/tables/todos?$filter=secret%20eq%20'hers'"
            #expect(try node.send("DELETE", filter).status == status)
            for client in [third, node] {
                #expect(try row(client).columns.text == #"{"n":1,"secret":"hers"}"#)
                #expect(try !row(client).deleted)
            }
        }
    }
}
