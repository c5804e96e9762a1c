import GRDB
import TablesProtocol
import Testing

@testable import Storage
@testable import SyncCore

/// The SDKs' system tables, with the names, columns and `properties` of the iOS SDK, for apps that read the
/// store's file.
@Suite struct SDKViewTests {
    private let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private struct Entry {
        var columns: [String: String]
        var properties: JSONValue?
    }

    private func rows(_ view: String) async throws -> [Entry] {
        try await fixture.store.read { transaction in
            try Row.fetchAll(transaction.db.database, sql: "SELECT * FROM \(view) ORDER BY id").map
            { row in
                var columns: [String: String] = [:]
                for (name, value) in row where !value.isNull {
                    columns[name] = String.fromDatabaseValue(value) ?? "\(value)"
                }
                return Entry(
                    columns: columns,
                    properties: try columns["properties"].map { try JSONValue(parsing: $0) })
            }
        }
    }

    private func names(_ view: String) async throws -> Set<String> {
        try await fixture.store.read { transaction in
            Set(
                try String.fetchAll(
                    transaction.db.database, sql: "SELECT name FROM pragma_table_info('\(view)')"))
        }
    }

    @Test func `each table has the SDK's columns`() async throws {
        let expected: [String: Set<String>] = [
            "MS_TableOperations": ["id", "itemId", "properties", "table", "tableKind"],
            "MS_TableOperationErrors": ["id", "operationId", "properties", "tableKind"],
            "MS_TableConfig": ["id", "key", "keyType", "table", "value"],
        ]
        for (view, columns) in expected {
            // The additional column makes a row an item of /tables.
            #expect(try await names(view) == columns.union(["created_at"]))
        }
    }

    @Test func `operations show their kind, and a delete shows the deleted item`() async throws {
        for id in ["a", "b"] {
            try await fixture.pull(try fixture.remote(id, #"{"text":"\#(id)"}"#, version: "v1"))
        }
        try await fixture.insert("c")
        try await fixture.update("a", #"{"text":"new"}"#)
        try await fixture.delete("b")
        let rows = try await rows("MS_TableOperations")
        #expect(rows.map { $0.columns["itemId"] } == ["c", "a", "b"])
        #expect(rows.map { $0.columns["table"] } == ["todoitem", "todoitem", "todoitem"])
        #expect(rows.map { $0.columns["tableKind"] } == ["0", "0", "0"])
        #expect(rows.map { $0.properties?["type"]?.integer } == [0, 1, 2])
        #expect(rows[0].properties?["item"] == nil && rows[1].properties?["item"] == nil)
        let item = rows[2].properties?["item"]
        #expect(item?["id"]?.string == "b" && item?["text"]?.string == "b")
        #expect(item?["version"]?.string == "v1")
    }

    @Test func `an error has the SDK's keys, my item and the server's with its version`()
        async throws
    {
        let operation = try await fixture.conflict()
        let row = try #require(try await rows("MS_TableOperationErrors").first)
        #expect(row.columns["operationId"] == String(operation.seq))
        guard case .object(let members)? = row.properties else { throw World.Failure("no object") }
        #expect(
            Set(members.map(\.name)) == [
                "code", "domain", "description", "table", "operation", "itemId", "statusCode",
                "item", "serverItem",
            ])
        #expect(row.properties?["code"]?.integer == -1303)
        #expect(row.properties?["operation"]?.integer == 1)
        #expect(row.properties?["item"]?["id"]?.string == "a")
        #expect(row.properties?["serverItem"]?["version"]?.string == "v2")
        #expect(row.properties?["serverItem"]?["deleted"]?.bool == false)
    }

    @Test func `an error without a server's item has no such key`() async throws {
        try await fixture.insert("a")
        try await fixture.push { _ in .quarantined(reason: "No.", maybeApplied: false) }
        let row = try #require(try await rows("MS_TableOperationErrors").first)
        #expect(row.properties?["serverItem"] == nil)
        #expect(row.properties?["item"]?["text"]?.string == "milk")
    }

    @Test func `a pull token is shown in the SDK's form of time`() async throws {
        let todo = fixture.todo
        try await fixture.store.write { transaction in
            let table = try transaction.tables.make(todo)
            var token = try transaction.tokens.token(table, queryID: "mine", filterHash: "")
            token.updatedAt = "2024-02-03T04:05:06.7891234Z"
            try transaction.tokens.save(token)
        }
        let row = try #require(try await rows("MS_TableConfig").first)
        #expect(row.columns["key"] == "mine" && row.columns["keyType"] == "0")
        #expect(row.columns["value"] == "2024-02-03T04:05:06.789Z")
    }
}
