import Dispatch
import PostgreSQL
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// The parts of `items`, one for each table.
@Suite struct PartitionTests {
    private let schema = PostgreSQLServer.newSchema()

    @Test func `rows of an older schema move into the parts of their tables`() throws {
        let pool = try PostgreSQLPool(PostgreSQLServer.url(), schema: schema)
        let old = PostgreSQLSchema.steps[..<3].joined(separator: "\n")
        let insert = """
            INSERT INTO items (table_key, id, columns, content, created_at, created_ticks, stamp, stamp_ticks,
              version, deleted)
            VALUES ($1::bigint, $2::text, '{}', '{}', 1, 2, 3, 4, 'v', $3::boolean) RETURNING position
            """
        try pool.withConnection { connection in
            let name = PostgreSQLConnection.identifier(schema)
            try connection.run(
                script: """
                    CREATE SCHEMA \(name); CREATE TABLE schema_version (version bigint);
                    INSERT INTO schema_version VALUES (1), (2), (3); \(old);
                    -- Left by a newer schema, when a backup of this one was restored.
                    CREATE SEQUENCE item_positions START 900;
                    CREATE FUNCTION make_part_of_items() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END';
                    INSERT INTO tables (name, folded, soft_delete, id_kind, needs_sign_in, declared_columns)
                    VALUES ('a', 'a', true, 'string', false, '[]'), ('b', 'b', true, 'string', false, '[]')
                    """)
            // A node of the older version keeps its connection and its statement.
            for (key, id) in [(1, "x"), (2, "x"), (1, "y")] {
                let values: [PostgreSQLValue] = [
                    .integer(Int64(key)), .text(id), .boolean(id == "y"),
                ]
                try connection.run(insert, values)
            }
            let storage = try PostgreSQLRowStorage(at: PostgreSQLServer.url(), schema: schema)
            let names = try ["a", "b"].map { try #require(TableName($0)) }
            #expect(try names.map { try storage.rows(in: $0).map(\.id) } == [["x", "y"], ["x"]])
            #expect(try storage.get("y", in: names[0])?.deleted == true)
            let parts = try connection.run(
                "SELECT tableoid::regclass, id FROM items ORDER BY position"
            ).map { [try $0.text(0), try $0.text(1)] }
            #expect(parts == [["items_1", "x"], ["items_2", "x"], ["items_1", "y"]])
            let next = try connection.run(insert, [.integer(2), .text("z"), .boolean(false)])
            #expect(try next.map { try $0.integer(0) } == [4])
            #expect(try storage.get("z", in: names[1])?.id == "z")
        }
    }

    @Test(.ends) func `nodes that make tables at once make one part for each`() throws {
        let url = try PostgreSQLServer.url()
        let storages = try (0..<4).map { _ in try PostgreSQLRowStorage(at: url, schema: schema) }
        let problems = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 16) { number in
            do {
                let name = try #require(TableName("t\(number % 3)"))
                let row = NewRow(id: "\(number)", columns: try Columns(parsing: "{}"))
                let write = Write(
                    at: TableUnderTest.moment(0), stamps: .increasing, method: "POST")
                _ = try storages[number % 4].insert(
                    row, into: name, creating: TableOptions(), write)
            } catch {
                problems.withLock { $0.append("\(error)") }
            }
        }
        #expect(problems.withLock { $0 } == [])
        let counts = try (0..<3).map { number in
            try storages[0].rows(in: #require(TableName("t\(number)"))).count
        }
        #expect(counts == [6, 5, 5])
    }

    @Test func `a table that appears while a connection looks for it is found`() throws {
        let url = try PostgreSQLServer.url()
        let storage = try PostgreSQLRowStorage(at: url, schema: schema)
        let name = try #require(TableName("late"))
        #expect(try storage.get("a", in: name) == nil && storage.rows(in: name).isEmpty)
        let row = NewRow(id: "a", columns: try Columns(parsing: "{}"))
        let write = Write(at: TableUnderTest.moment(0), stamps: .increasing, method: "POST")
        let other = try PostgreSQLRowStorage(at: url, schema: schema)
        _ = try other.insert(row, into: name, creating: TableOptions(), write)
        #expect(try storage.get("a", in: name)?.id == "a")
    }
}
