import GRDB
import TablesProtocol
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

    @Test func `a table that version 3 found unsorted stays so`() async throws {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let path = fixture.folder + "/earlier.sqlite"
        let file = try ConnectionQueue.storeWriter(path)
        try Migrations.present.run(on: file, upTo: 3)
        try await file.queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO tables(id, name, name_key, paging, warning) VALUES
                      (1, 'a', 'a', 'full', 'The backend does not sort by updatedAt: every pull'),
                      (2, 'b', 'b', 'full', 'The backend''s rows have no updatedAt.'),
                      (3, 'c', 'c', 'keyset', NULL)
                    """)
        }
        try file.close()
        let store = try Store(
            at: path, identity: "anonymous", clock: fixture.clock,
            ids: StoreFixture.SeededIDs(1), workers: 1)
        #expect(
            try await store.read { try $0.tables.all().map(\.isUnsorted) } == [true, false, false])
    }

    @Test func `a table of which version 4 has the backend's deleted rows deletes softly`()
        async throws
    {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let path = fixture.folder + "/earlier.sqlite"
        let file = try ConnectionQueue.storeWriter(path)
        try Migrations.present.run(on: file, upTo: 4)
        try await file.queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO tables(id, name, name_key) VALUES (1, 'a', 'a'), (2, 'b', 'b');
                    INSERT INTO items(table_id, id, columns, stamp, version, deleted, server_deleted)
                      VALUES (1, 'x', '{}', 1, 'v', 1, 1), (2, 'x', '{}', 2, 'w', 1, 0)
                    """)
        }
        try file.close()
        let store = try Store(
            at: path, identity: "anonymous", clock: fixture.clock,
            ids: StoreFixture.SeededIDs(1), workers: 1)
        #expect(
            try await store.read { try $0.tables.all().map(\.deletion) } == [.soft, .unknown])
    }

    @Test func `a table of version 8 that was read and written locally gets the standard`()
        async throws
    {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let path = fixture.folder + "/earlier.sqlite"
        let file = try ConnectionQueue.storeWriter(path)
        try Migrations.present.run(on: file, upTo: 8)
        try await file.queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO tables(id, name, name_key) VALUES (1, 'a', 'a');
                    INSERT INTO tables(id, name, name_key, read_policy, write_policy) VALUES
                      (2, 'b', 'b', 'remote-first', 'local'), (3, 'c', 'c', 'local', 'write-through')
                    """)
        }
        try file.close()
        let store = try Store(
            at: path, identity: "anonymous", clock: fixture.clock,
            ids: StoreFixture.SeededIDs(1), workers: 1)
        let tables = try await store.tables()
        #expect(tables.map(\.readPolicy) == [.standard, .remoteFirst, .standard])
        #expect(tables.map(\.writePolicy) == [.standard, .standard, .writeThrough])
    }

    @Test func `a token of version 6 goes on, and has made up for no lost deletion`() async throws {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let path = fixture.folder + "/earlier.sqlite"
        let file = try ConnectionQueue.storeWriter(path)
        try Migrations.present.run(on: file, upTo: 6)
        try await file.queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO tables(id, name, name_key) VALUES (1, 'a', 'a');
                    INSERT INTO tokens(table_id, query_id, filter_hash, updated_at, is_complete, is_settled)
                      VALUES (1, '', '', '2020-01-01T00:00:10.123Z', 1, 1)
                    """)
        }
        try file.close()
        let store = try Store(
            at: path, identity: "anonymous", clock: fixture.clock,
            ids: StoreFixture.SeededIDs(1), workers: 1)
        let token = try await store.write { transaction in
            let table = try #require(try transaction.tables.all().first)
            var token = try transaction.tokens.token(table, queryID: "", filterHash: "")
            #expect(token.isSettled && token.isComplete && token.deletionsAfter == nil)
            let time = try #require(Instant(iso: "2020-01-01T00:00:10.124Z"))
            #expect(token.misses(deletionsUpTo: time))
            let earlier = try #require(Instant(iso: "2020-01-01T00:00:10.123Z"))
            #expect(!token.misses(deletionsUpTo: earlier))
            token.deletionsAfter = time
            try transaction.tokens.save(token)
            return try transaction.tokens.token(table, queryID: "", filterHash: "")
        }
        #expect(token.deletionsAfter == Instant(iso: "2020-01-01T00:00:10.124Z"))
        #expect(!token.misses(deletionsUpTo: try #require(token.deletionsAfter)))
    }

    @Test func `what version 4 learned of page sizes and tokens costs nothing`()
        async throws
    {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let path = fixture.folder + "/earlier.sqlite"
        let file = try ConnectionQueue.storeWriter(path)
        try Migrations.present.run(on: file, upTo: 4)
        try await file.queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO tables(id, name, name_key, page_rows) VALUES (1, 'a', 'a', 1);
                    INSERT INTO tokens(table_id, query_id, filter_hash, updated_at, is_complete)
                      VALUES (1, '', '', '2020-01-01T00:00:10.123Z', 1)
                    """)
        }
        try file.close()
        let store = try Store(
            at: path, identity: "anonymous", clock: fixture.clock,
            ids: StoreFixture.SeededIDs(1), workers: 1)
        let (rows, start) = try await store.read { transaction in
            let table = try #require(try transaction.tables.all().first)
            let size = RequestedRows(
                most: 1000, accepted: table.acceptedRows, pullsToWait: table.largerPagesAfter)
            let token = try transaction.first(
                "SELECT updated_at, is_settled, look_back FROM tokens"
            ) {
                PullToken(
                    rowID: 1, updatedAt: $0[0], isComplete: true, isSettled: $0[1], lookBack: $0[2])
            }
            return (size.rows, token?.start?.text)
        }
        #expect(rows == 1000 && start == "2020-01-01T00:00:00.123Z")
    }

    @Test
    func `provisional ids are positive from version 5 on, and aliases of items that are gone end`()
        async throws
    {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let path = fixture.folder + "/earlier.sqlite"
        let file = try ConnectionQueue.storeWriter(path)
        try Migrations.present.run(on: file, upTo: 4)
        try await file.queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO meta VALUES ('removed_provisional_id', -9);
                    INSERT INTO tables(id, name, name_key, id_kind) VALUES
                      (1, 'todoitem', 'todoitem', 'integer');
                    UPDATE table_counters SET next_provisional_id = -4;
                    INSERT INTO items(table_id, id, columns, stamp, version, deleted, settled_at, pending)
                      VALUES (1, '1', '{}', 1, 'a', 0, 1, NULL), (1, '2', '{}', 2, 'b', 1, 2, NULL),
                        (1, '-3', '{"text":"waits"}', 3, 'c', 0, 0, 1);
                    INSERT INTO operations(seq, op_id, table_id, item_id, kind, state, payload,
                        changed_columns, generation, actor, created_at)
                      VALUES (1, 'op', 1, '-3', 'insert', 'queued', '{"text":"waits"}', '["text"]', 1,
                        'client', 1);
                    INSERT INTO aliases VALUES (1, '-1', '1'), (1, '-2', '2'), (1, '-5', '7')
                    """)
        }
        try file.close()
        let store = try Store(
            at: path, identity: "anonymous", clock: fixture.clock,
            ids: StoreFixture.SeededIDs(1), workers: 1)
        let aliases: [String] = try await store.read { try $0.column("SELECT alias FROM aliases") }
        #expect(aliases == ["-1"])
        let write = LocalWrite(table: fixture.todo, action: .insert(ItemBody(columns: Columns())))
        #expect(await store.submit(write).item?.id == ItemID(StoreLimits.largestProvisionalID))
        let waiting = try await store.read { try $0.queue.operation(seq: 1) }
        #expect(waiting?.isAssigned == true && waiting?.itemID == ItemID(-3))
        let removed = "SELECT value FROM meta WHERE key = 'removed_provisional_id'"
        #expect(try await store.read { try $0.integer(removed) } == nil)
    }

    @Test func `what is due in a store of version 4 is due`() async throws {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let path = fixture.folder + "/earlier.sqlite"
        let file = try ConnectionQueue.storeWriter(path)
        try Migrations.present.run(on: file, upTo: 4)
        try await file.queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO tables(id, name, name_key) VALUES (1, 'a', 'a');
                    INSERT INTO operations(seq, op_id, table_id, item_id, kind, state, generation,
                      created_at, actor)
                    VALUES (1, 'o', 1, 'x', 'delete', 'queued', 2, 1, 'client')
                    """)
        }
        try file.close()
        let store = try Store(
            at: path, identity: "anonymous", clock: fixture.clock,
            ids: StoreFixture.SeededIDs(1), workers: 1)
        let due = try await store.read { try $0.dueOperations.next(upTo: 9, limit: 9).map(\.id) }
        #expect(due == ["o"])
        #expect(try await store.tables().map(\.pushWait) == [nil])
    }

    @Test func `the tables of version 4 are copied as a whole`() async throws {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let path = fixture.folder + "/earlier.sqlite"
        let file = try ConnectionQueue.storeWriter(path)
        try Migrations.present.run(on: file, upTo: 4)
        try await file.queue.write { db in
            try db.execute(
                sql: "INSERT INTO tables(id, name, name_key, is_complete) VALUES (1, 'a', 'a', 1)")
        }
        try file.close()
        let store = try Store(
            at: path, identity: "anonymous", clock: fixture.clock,
            ids: StoreFixture.SeededIDs(1), workers: 1, parts: [:])
        let table = try #require(try await store.read { try $0.tables.all().first })
        #expect(table.part == nil && table.isWholeHere && !table.mustCompare)
        #expect(
            try await store.read { try $0.integer("SELECT count(*) FROM part_doubts") } == 0)
    }

    @Test func `a store of version 1 is opened with what it has`() async throws {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let path = fixture.folder + "/earlier.sqlite"
        let file = try ConnectionQueue.storeWriter(path)
        try Migrations.present.run(on: file, upTo: 1)
        let keys = SQLCompiler(ItemSQLSchema(hasIntegerIDs: false))
            .indexKeys(try #require(IndexShape(terms: ["=text"])))
        try await file.queue.write { db in
            try db.execute(
                sql: """
                    UPDATE ledger SET value = 7 WHERE name IN ('accepted', 'done');
                    INSERT INTO samples VALUES (1700000040000, 3, 5, 2, 80);
                    INSERT INTO tables(id, name, name_key) VALUES (1, 'todoitem', 'todoitem');
                    CREATE INDEX \(TableIndex.name(1)) ON items(\(keys)) WHERE \(TableIndex.scope(1))
                    """)
        }
        try file.close()
        let store = try Store(
            at: path, identity: "anonymous", clock: fixture.clock,
            ids: StoreFixture.SeededIDs(1), workers: 1)
        let at = Instant(milliseconds: 1_700_000_040_000)
        let kept = Sample(at: at, depth: 3, succeeded: 5, failed: 2, latencyMilliseconds: 80)
        #expect(try await store.read { try $0.samples.since(.earliest) } == [kept])
        // What was counted before belongs to no minute.
        #expect(try await store.read { try $0.samples.growth() } == Sample.Growth())
        let body = ItemBody(id: try ItemID("a"), columns: Columns())
        let outcome = await store.submit(LocalWrite(table: fixture.todo, action: .insert(body)))
        #expect(outcome.item != nil)
        #expect(try await store.ledger().accepted == 8)
        #expect(try await store.read { try $0.samples.growth().accepted } == 1)
        let index = "SELECT count(*) FROM sqlite_schema WHERE name = '\(TableIndex.name(1))'"
        #expect(try await store.read { try $0.integer(index) } == 1)
    }
}
