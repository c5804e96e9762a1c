import HTTPMessage
import HTTPTypes
import PostgreSQL
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// How long a list may take in PostgreSQL.
@Suite struct ListTimeTests {
    @Test func `all statements of a list have one time together`() throws {
        let url = try PostgreSQLServer.url()
        let schema = PostgreSQLServer.newSchema()
        let hasty = try TableUnderTest(
            StorageUnderTest(testDescription: "no time after the first statement") {
                try PostgreSQLRowStorage(at: url, schema: schema, .init(listMilliseconds: 0))
            })
        try hasty.insert("a", #"{"text":"aq"}"#)
        // PostgreSQL alone cannot judge it, so rows are copied.
        let copied = try hasty.query("substring(text,1) eq 'q'")
        #expect(throws: TooMuchWork.self) { try hasty.storage.list(copied) }
        var query = try hasty.query()
        query.counts = true
        let counted = query
        #expect(throws: TooMuchWork.self) { try hasty.storage.list(counted) }
        #expect(try hasty.ids() == ["a"])
        let usual = try PostgreSQLRowStorage(at: url, schema: schema)
        #expect(try usual.list(copied).rows.map(\.id) == ["a"])
        #expect(try usual.list(counted).count == 1)
    }

    @Test func `a count has what the rows of its list left of the time`() throws {
        let url = try PostgreSQLServer.url()
        let schema = PostgreSQLServer.newSchema()
        let table = try TableUnderTest(
            StorageUnderTest(testDescription: "700 ms for a list") {
                try PostgreSQLRowStorage(
                    at: url, schema: schema, .init(listMilliseconds: 700))
            })
        try table.insert("a", #"{"text":"aq"}"#)
        // Each statement about items takes 500 ms from here on.
        let storage = try PostgreSQLRowStorage(at: url, schema: schema)
        _ = try storage.pool.withConnection { connection in
            try connection.run(
                script: """
                    ALTER TABLE items_1 RENAME TO stored;
                    CREATE VIEW items_1 AS SELECT stored.* FROM stored, pg_sleep(0.5);
                    """)
        }
        var query = try table.query()
        query.counts = true
        let counted = query
        #expect(throws: TooMuchWork.self) { try table.storage.list(counted) }
        #expect(try storage.list(counted).count == 1)
    }

    @Test func `a list that takes too long is answered 503 with what to do`() throws {
        let url = try PostgreSQLServer.url()
        let client = try Client(
            on: PostgreSQLRowStorage(
                at: url, schema: PostgreSQLServer.newSchema(), .init(listMilliseconds: 0)))
        #expect(try client.send("POST", "/tables/Things", #"{"id":"a","price":1}"#).status == 201)
        let list = "/tables/Things?$orderby=price%20desc&$inlinecount=allpages"
        let refused = try client.send("GET", list)
        #expect(refused.status == 503)
        #expect(refused.response.head.headerFields[.retryAfter] == "30")
        let message = try JSONValue(parsing: refused.text)["error"]?.string ?? ""
        #expect(message.hasPrefix("This list took longer than 0.0 s, and was ended."), "\(message)")
        #expect(message.contains("fewer functions in the filter"), "\(message)")
        #expect(
            message.hasSuffix("an index, which the operator names in the settings."), "\(message)")
    }

    @Test func `PostgreSQL ends a statement when the time of its list is over`() throws {
        let storage = try PostgreSQLRowStorage(
            at: PostgreSQLServer.url(), schema: PostgreSQLServer.newSchema())
        var isEnded = false
        do {
            try storage.pool.inReadTransaction { connection in
                try PostgreSQLList.endStatements(connection, at: Uptime.now + .seconds(1))
                try connection.run("SELECT pg_sleep(10)")
            }
        } catch PostgreSQLError.refused("57014", _) {
            isEnded = true
        }
        #expect(isEnded)
    }
}
