import PostgreSQL
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// The index over what queries look at.
@Suite struct ContentIndexTests {
    @Test func `a filter by equality is served by the index of the content`() throws {
        let schema = PostgreSQLServer.newSchema()
        let url = try PostgreSQLServer.url()
        let storage = try PostgreSQLRowStorage(at: url, schema: schema)
        try storage.declare(#require(TableName("todos")), TableOptions())
        let filter = try #require(
            PostgreSQLCompiler().filter(
                Expression(parsing: "text eq 'a' and n eq 3", generation: .mobileApps)))
        // A client may have written the number as a text.
        #expect(
            filter.text == """
                ((content @> ?::jsonb) AND ((content @> ?::jsonb) OR (content @> ?::jsonb)))
                """)
        let pool = try PostgreSQLPool(url, schema: schema)
        let plan = try pool.withConnection { connection in
            try connection.run(script: "SET enable_seqscan = off")
            return try connection.run(
                """
                EXPLAIN SELECT id FROM items
                WHERE content @> '{"n":3}'::jsonb OR content @> '{"n":"3"}'::jsonb
                """
            ).map { try $0.text(0) }
        }
        #expect(plan.joined().contains("items_1_content_idx"))
    }
}
