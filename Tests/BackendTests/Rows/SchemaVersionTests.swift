import Dispatch
import Foundation
import Storage
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import PostgreSQL
@testable import Site

/// The version of a database's schema, which several nodes and programs of several ages open.
@Suite struct SchemaVersionTests {
    @Test func `a program that is older than a file of SQLite refuses it and changes nothing`()
        throws
    {
        let path = "\(FileManager.default.temporaryDirectory.path)/understudy-\(UUID()).sqlite"
        let storage = try SQLiteRowStorage(at: path)
        // A newer schema without one of today's tables.
        try storage.connection.access {
            try $0.run(script: "DROP TABLE arrivals; PRAGMA user_version = 99")
        }
        let problem = #expect(throws: NewerSchema.self) { try SQLiteRowStorage(at: path) }
        #expect(
            problem?.description
                == "The database has version 99 of the schema, and this program knows "
                + "\(SQLiteSchema.version). Install the version that made it so, or a newer one.")
        let version = try storage.connection.access { try $0.integer("PRAGMA user_version") }
        #expect(version == 99)
        let tables = try storage.connection.access {
            try $0.integer("SELECT count(*) FROM sqlite_master WHERE name = 'arrivals'")
        }
        #expect(tables == 0)
    }

    @Test func `a file of SQLite without a version is made ready`() throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/understudy-\(UUID()).sqlite"
        let storage = try SQLiteRowStorage(at: path)
        let table = try #require(TableName("todos"))
        try storage.declare(table, TableOptions())
        try storage.connection.access { try $0.run(script: "PRAGMA user_version = 0") }
        let again = try SQLiteRowStorage(at: path)
        #expect(try again.table(table) != nil)
        let version = try again.connection.access { try $0.integer("PRAGMA user_version") }
        #expect(version == Int64(SQLiteSchema.version))
    }

    @Test(.ends) func `a program that is older than a schema of PostgreSQL refuses it`() throws {
        let schema = PostgreSQLServer.newSchema()
        let storage = try PostgreSQLRowStorage(at: PostgreSQLServer.url(), schema: schema)
        _ = try storage.pool.withConnection {
            try $0.run(script: "INSERT INTO schema_version VALUES (99)")
        }
        let problem = #expect(throws: NewerSchema.self) {
            try PostgreSQLRowStorage(at: PostgreSQLServer.url(), schema: schema)
        }
        #expect(problem?.description.contains("has version 99 of the schema") == true)
    }

    @Test(.ends) func `a node that starts waits for a migration of any length`() throws {
        let schema = PostgreSQLServer.newSchema()
        let application = "waits-\(schema)"
        let url = try PostgreSQLServer.url()
        let other = try PostgreSQLPool(url, schema: "public")
        let pool = try PostgreSQLPool(
            "\(url)&application_name=\(application)", schema: schema, lockMilliseconds: 10)
        let problems = Mutex<[String]>([])
        let isOver = Atomic(false)
        let group = DispatchGroup()
        let lock = [PostgreSQLValue.integer(PostgreSQLSchema.lock)]
        try other.withConnection { connection in
            try connection.run("SELECT pg_advisory_lock($1::bigint)", lock)
            DispatchQueue(label: "start").async(group: group) {
                do {
                    try PostgreSQLSchema.migrate(pool, schema: schema)
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
                isOver.store(true, ordering: .sequentiallyConsistent)
            }
            // Until it has waited five times its limit for locks, or has ended.
            while !isOver.load(ordering: .sequentiallyConsistent) {
                let waiting = try connection.run(
                    """
                    SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
                    WHERE application_name = $1::text AND NOT granted
                      AND clock_timestamp() - waitstart > interval '50 milliseconds'
                    """, [.text(application)])
                if !waiting.isEmpty { break }
            }
            try connection.run("SELECT pg_advisory_unlock($1::bigint)", lock)
        }
        group.wait()
        #expect(problems.withLock { $0 } == [])
        let settings = try pool.withConnection { connection in
            try connection.run(
                "SELECT current_setting('lock_timeout'), current_setting('statement_timeout')")
        }
        #expect(settings.map { $0.textOrNull(0) } == ["10ms"])
        #expect(settings.map { $0.textOrNull(1) } == ["30s"])
        let answerMilliseconds = try pool.withConnection { $0.answerMilliseconds }
        #expect(answerMilliseconds == PostgreSQLConnection.usualAnswerMilliseconds)
    }

    @Test(.ends) func `nodes that start together make the schema once`() throws {
        let schema = PostgreSQLServer.newSchema()
        let url = try PostgreSQLServer.url()
        let opened = Mutex<[PostgreSQLRowStorage]>([])
        let problems = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            do {
                let storage = try PostgreSQLRowStorage(at: url, schema: schema)
                opened.withLock { $0.append(storage) }
            } catch {
                problems.withLock { $0.append("\(error)") }
            }
        }
        #expect(problems.withLock { $0 } == [])
        let storages = opened.withLock { $0 }
        #expect(storages.count == 6)
        let versions = try storages[0].pool.withConnection { connection in
            try connection.run("SELECT version FROM schema_version ORDER BY version")
                .map { $0.textOrNull(0) }
        }
        #expect(versions == (1...versions.count).map { "\($0)" })
    }
}
