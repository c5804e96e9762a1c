import GRDB
import TestSupport
import Testing

@testable import Storage
@testable import SyncCore

/// A store of an earlier version, opened by a version with one more migration.
@Suite struct MigrationsTests {
    private static let first = Migrations.present.steps
    private static let present = first[first.count - 1].version
    private static let later = Migrations(
        steps: first + [
            Migrations.Step(
                version: present + 1,
                sql: "ALTER TABLE items ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'")
        ])
    private static let broken = Migrations(
        steps: first + [
            Migrations.Step(
                version: present + 1,
                sql: "CREATE TABLE colours (name TEXT) STRICT; DROP TABLE items; SELECT nonsense")
        ])

    /// A store with one item and one queued operation, closed.
    private func filled() async throws -> StoreFixture {
        let fixture = try StoreFixture()
        try await fixture.insert("a", #"{"text":"kept","rank":1.50}"#)
        try fixture.store.close()
        return fixture
    }

    /// All rows of a file, in the columns of the present version.
    private func rows(_ file: ConnectionQueue) throws -> [String: [Row]] {
        let present = try ConnectionQueue.inMemory()
        try Migrations.present.run(on: present)
        let columns = try present.queue.read { db in
            try Migrations.ownTables(Connection(db)).map { table in
                (table, try db.columns(in: table).map(\.name).joined(separator: ", "))
            }
        }
        return try file.queue.read { db in
            let rows = try columns.map { table, columns in
                (table, try Row.fetchAll(db, sql: "SELECT \(columns) FROM \(table) ORDER BY 1, 2"))
            }
            return Dictionary(uniqueKeysWithValues: rows)
        }
    }

    private func colours(_ file: ConnectionQueue) throws -> [String] {
        try file.queue.read { try String.fetchAll($0, sql: "SELECT colour FROM items") }
    }

    private func version(of file: ConnectionQueue) throws -> Int? {
        try file.access(Self.later.version)
    }

    /// Stores of 1.0.0 have this schema. A change of it is a further migration, which opens them.
    @Test func `the schema of the first release stays as it is`() throws {
        let first = try #require(Self.first.first)
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
        for byte in first.sql.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        #expect(first.version == 9)
        #expect(String(hash, radix: 16) == "bae34c6e693bd94b")
    }

    @Test func `a later migration keeps all rows`() async throws {
        let fixture = try await filled()
        defer { withExtendedLifetime(fixture) {} }
        let file = try ConnectionQueue.writer(fixture.path)
        let before = try rows(file)
        try Self.later.run(on: file)
        #expect(try rows(file) == before)
        #expect(try colours(file) == ["red"])
        #expect(try version(of: file) == Self.present + 1)
    }

    @Test func `a failed migration leaves the file unchanged`() async throws {
        let fixture = try await filled()
        defer { withExtendedLifetime(fixture) {} }
        let file = try ConnectionQueue.writer(fixture.path)
        let before = try rows(file)
        #expect(throws: DatabaseError.self) { try Self.broken.run(on: file) }
        #expect(try rows(file) == before)
        #expect(try version(of: file) == Self.present)
    }

    @Test func `a file of a newer version is refused and left unchanged`() async throws {
        let fixture = try await filled()
        let file = try ConnectionQueue.writer(fixture.path)
        try Self.later.run(on: file)
        let before = try rows(file)
        #expect(throws: StorageError.self) { try Migrations.present.run(on: file) }
        #expect(throws: StoreError.self) { try fixture.reopened() }
        #expect(try rows(file) == before)
    }

    @Test func `a store of an earlier build is refused with a sentence and left unchanged`()
        async throws
    {
        let fixture = try await filled()
        let file = try ConnectionQueue.writer(fixture.path)
        try await file.queue.write { db in
            try db.execute(
                sql: "DELETE FROM grdb_migrations; INSERT INTO grdb_migrations VALUES ('1'), ('8')")
        }
        let before = try rows(file)
        #expect(throws: StorageError.self) { try Migrations.present.run(on: file) }
        for opening in [
            { _ = try fixture.reopened() }, { _ = try StoreOnDisk(at: fixture.path).verify() },
        ] {
            #expect {
                try opening()
            } throws: { error in
                guard case .otherVersion(let sentence)? = error as? StoreError else { return false }
                return sentence.contains(
                    "with the build that wrote it, then move the data folder away")
            }
        }
        #expect(try rows(file) == before)
    }

    @Test func `a store that an earlier build brought to this version opens unchanged`()
        async throws
    {
        let fixture = try await filled()
        let file = try ConnectionQueue.writer(fixture.path)
        try await file.queue.write { db in
            for version in 1...8 {
                try db.execute(
                    sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: ["\(version)"])
            }
        }
        let before = try rows(file)
        let store = try fixture.reopened()
        #expect(try await store.ledger().accepted == 1)
        #expect(try rows(file) == before && version(of: file) == Self.present)
        try Self.later.run(on: file)
        #expect(try version(of: file) == Self.present + 1)
    }
}
