import Backend
import Foundation
import GRDB
import TablesProtocol
import Testing

@testable import Storage
@testable import SyncCore

@Suite struct BackupTests {
    let fixture: StoreFixture
    var backup: String { fixture.folder + "/backup.sqlite" }
    init() throws { fixture = try StoreFixture() }

    @available(*, noasync)
    private func verify(_ path: String) throws -> StoreContents {
        try StoreOnDisk(at: path).verify()
    }

    @available(*, noasync)
    private func copyFile(to path: String) throws {
        _ = try StoreOnDisk(at: fixture.path).backup(to: path)
    }

    /// The result of a dry run, which must equal the result of the restore.
    @available(*, noasync)
    private func rehearsed(_ path: String) throws -> StoreContents {
        try StoreOnDisk(at: path).rehearseRestore(clock: fixture.clock)
    }

    @available(*, noasync)
    private func restored(_ path: String) throws -> StoreContents {
        try StoreOnDisk(at: fixture.path).restore(path, clock: fixture.clock)
    }

    @Test func `a backup is a complete store that only its owner can read`() async throws {
        try await fixture.insert("a")
        let contents = try await fixture.store.backup(to: backup)
        #expect(contents.tables == ["todoitem"] && contents.items == 1)
        #expect(contents.faults.isEmpty && contents.backend == nil)
        #expect(try await contents.ledger == fixture.store.ledger())
        let attributes = try FileManager.default.attributesOfItem(atPath: backup)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let copy = try Store(
            at: backup, identity: "anonymous", clock: fixture.clock,
            ids: StoreFixture.SeededIDs(3), workers: 1)
        #expect(try await copy.ledger() == fixture.store.ledger())
        await #expect(throws: StoreError.self) { try await fixture.store.backup(to: backup) }
        let left = try FileManager.default.contentsOfDirectory(atPath: fixture.folder)
        #expect(left.allSatisfy { !$0.contains(".part") })
    }

    @Test func `a backup does not follow a symbolic link at its path`() async throws {
        try await fixture.insert("a")
        let files = FileManager.default
        let (victim, nowhere) = (fixture.folder + "/victim", fixture.folder + "/nowhere")
        try "precious".write(toFile: victim, atomically: true, encoding: .utf8)
        // The temporary names of a growing copy.
        for suffix in [".part", ".part-wal", ".part-journal"] {
            try files.createSymbolicLink(
                atPath: backup + suffix, withDestinationPath: nowhere)
        }
        _ = try await fixture.store.backup(to: backup)
        try look(backup) { #expect($0.items == 1) }
        for name in [victim, nowhere] {
            let link = "\(fixture.folder)/link-to-\(name == victim)"
            try files.createSymbolicLink(atPath: link, withDestinationPath: name)
            await #expect(throws: StoreError.self) { try await fixture.store.backup(to: link) }
            #expect(throws: StoreError.self) { try copyFile(to: link) }
            #expect(try files.destinationOfSymbolicLink(atPath: link) == name)
        }
        #expect(!files.fileExists(atPath: nowhere))
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
        let left = try files.contentsOfDirectory(atPath: fixture.folder)
        #expect(!left.contains { $0.contains(".part-") && $0.count > 30 })
    }

    @Test func `a backup during writes is a consistent snapshot`()
        async throws
    {
        let fixture = fixture
        let writing = Task {
            var count = 0
            while !Task.isCancelled {
                try await fixture.insert("i\(count)")
                count += 1
            }
            return count
        }
        while try await fixture.store.ledger().accepted < 20 { await Task.yield() }
        var last: Int64 = 0
        for number in 0..<3 {
            let contents = try await fixture.store.backup(to: backup + "\(number)")
            #expect(contents.faults.isEmpty)
            #expect(contents.ledger.accepted == Int64(contents.items))
            #expect(contents.ledger.accepted >= last)
            last = contents.ledger.accepted
        }
        writing.cancel()
        #expect(try await writing.value >= Int(last))
    }

    @Test func `a restore replaces the store with the backup and keeps the old file`()
        async throws
    {
        try await fixture.insert("a")
        try await fixture.store.backup(to: backup)
        try await fixture.insert("b")
        try fixture.store.close()
        let before = try contents(fixture.path)
        try rehearse { contents in #expect(contents.items == 1 && contents.faults.isEmpty) }
        #expect(try contents(fixture.path) == before)
        try restore { contents in #expect(contents.items == 1 && contents.faults.isEmpty) }
        let store = try fixture.reopened()
        #expect(try await store.tables().first?.items == 1)
        try look(fixture.path + ".before-restore") { #expect($0.items == 2) }
        #expect(!FileManager.default.fileExists(atPath: fixture.path + ".restoring"))
    }

    @Test func `a restore over a damaged store keeps the damaged file`() async throws {
        try await fixture.insert("a")
        try await fixture.store.backup(to: backup)
        try fixture.store.close()
        try String(repeating: "no database ", count: 500)
            .write(toFile: fixture.path, atomically: true, encoding: .utf8)
        try restore { #expect($0.items == 1) }
        #expect(try await fixture.reopened().tables().first?.items == 1)
        #expect(FileManager.default.fileExists(atPath: fixture.path + ".before-restore"))
    }

    @Test func `a damaged, newer or invalid backup is refused without a change`()
        async throws
    {
        for number in 0..<300 { try await fixture.insert("i\(number)") }
        try await fixture.store.backup(to: backup)
        try fixture.store.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: backup)))
        for place in stride(from: 4096 * 3, to: bytes.count - 4096, by: 4096) {
            for offset in 0..<900 { bytes[place + offset] = 0xA5 }
        }
        let damaged = fixture.folder + "/damaged"
        try Data(bytes).write(to: URL(fileURLWithPath: damaged))
        let newer = try DatabaseQueue(path: backup)
        try await newer.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
        try newer.close()
        let foreign = fixture.folder + "/foreign"
        try await DatabaseQueue(path: foreign).write { try $0.execute(sql: "CREATE TABLE t(x)") }
        for path in [damaged, backup, foreign, fixture.folder + "/nothing"] {
            #expect(throws: StoreError.self, "\(path)") { try rehearsed(path) }
            #expect(throws: StoreError.self, "\(path)") { try restored(path) }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path)) == before)
    }

    @Test func `operations of a restored store are read back, not sent again`()
        async throws
    {
        let world = try World()
        try await world.insert("a")
        try await world.insert("b", #"{"text":"old"}"#)
        _ = await world.engine.push()
        try await world.update("b", #"{"text":"new"}"#)
        try await world.insert("c")
        try await world.delete("a")
        let path = world.folder + "/backup.sqlite"
        try await world.store.backup(to: path)
        _ = await world.engine.push()
        let effects = try await world.backend.effects().count
        try world.store.close()
        try put(path, inPlaceOf: world)
        let (store, engine) = try world.reborn()
        let open = try await store.lists.operations(OperationFilter(), after: nil, limit: 9).items
        #expect(open.map(\.state) == [.unknown, .unknown, .unknown])
        let run = await engine.sync()
        #expect(run.state == .complete, "\(run)")
        #expect(try await store.ledger().queue.open == 0)
        #expect(try await world.backend.effects().count == effects)
    }

    @Test func `a client with a store of its own takes every row of a restored store again`()
        async throws
    {
        try await fixture.insert("a", #"{"text":"kept"}"#)
        try await fixture.insert("b")
        try await fixture.store.backup(to: backup)
        let seen = try await fixture.update("a", #"{"text":"lost"}"#).updatedAt
        fixture.clock.advance(milliseconds: 1)
        try fixture.store.close()
        try restore { _ in }
        let store = try fixture.reopened()
        let todo = fixture.todo
        let rows = try await store.read { transaction in
            try transaction.all("SELECT id, stamp FROM items ORDER BY stamp") {
                ($0[0] as String, $0[1] as Int64)
            }
        }
        #expect(rows.map(\.0) == ["a", "b"])
        #expect(rows.allSatisfy { $0.1 > seen.milliseconds })
        #expect(try await store.read { try $0.tables.table(todo) } != nil)
    }

    @Test func `a restore takes rows alone, into the tables, triggers and views of a new store`()
        async throws
    {
        for id in ["a", "b"] { try await fixture.insert(id, #"{"text":"\#(id)"}"#) }
        try await fixture.update("a", #"{"text":"changed"}"#)
        try await fixture.store.backup(to: backup)
        try fixture.store.close()
        let own = try schema(fixture.path)
        // Numbers are not reused, even if their rows are gone.
        try await DatabaseQueue(path: backup).write { db in
            try db.execute(sql: "UPDATE sqlite_sequence SET seq = seq + 10")
        }
        let rows = try contents(backup)
        try await DatabaseQueue(path: backup).write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER planted AFTER INSERT ON items BEGIN DELETE FROM operations; END;
                    CREATE VIEW planted_view AS SELECT * FROM items;
                    CREATE TABLE planted_table(x);
                    CREATE INDEX planted_index ON items(columns);
                    DROP VIEW MS_TableConfig; CREATE VIEW MS_TableConfig AS SELECT 1 AS id;
                    DROP TRIGGER item_made; DROP INDEX items_by_stamp;
                    INSERT INTO sqlite_sequence VALUES ('planted_table', 7);
                    """)
        }
        try restore { #expect($0.faults.isEmpty && $0.items == 2) }
        #expect(try schema(fixture.path) == own)
        let copied = fixture.folder + "/copied.sqlite"
        try copyRows(of: backup, to: copied)
        #expect(try contents(copied) == rows)
    }

    @Test func `the indexes of settings are built anew after a restore`() async throws {
        try await fixture.insert("a", #"{"text":"x"}"#)
        try await fixture.index(["text"])
        try await fixture.store.backup(to: backup)
        try fixture.store.close()
        try restore { #expect($0.faults.isEmpty) }
        #expect(try schema(fixture.path)["index items_index_1"] == nil)
        let store = try fixture.reopened()
        try await store.buildIndexes()
        try await store.untilBuilt()
        #expect(try schema(fixture.path)["index items_index_1"] != nil)
        #expect(try await store.tables().first?.indexes == ["text"])
    }

    @Test func `a restore drops header fields that no client may send`() async throws {
        try await fixture.insert("a", #"{"text":"a"}"#)
        try await fixture.store.backup(to: backup)
        try fixture.store.close()
        let planted = #"""
            [["X-Tenant","north"],["Authorization","Bearer evil"],["x-zumo-auth","evil"],
            ["Cookie","a=b"],["Host","evil"],["Connection","close"],["Transfer-Encoding","chunked"],
            ["Understudy-Session","evil"],["no name","evil"],["X-Tenant","south"]]
            """#
        try await DatabaseQueue(path: backup).write { db in
            try db.execute(sql: "UPDATE operations SET headers = ?", arguments: [planted])
        }
        try restore { #expect($0.faults.isEmpty) }
        let store = try fixture.reopened()
        let kept = try await store.read { transaction in
            try transaction.all("SELECT headers FROM operations") { $0[0] as String }
        }
        #expect(kept == [#"[["X-Tenant","north"],["X-Tenant","south"]]"#])
    }

    @Test(arguments: [
        "UPDATE items SET id = '../../api/admin1'",
        "UPDATE operations SET item_id = '../../api/admin1'",
        "UPDATE operations SET item_id = 'a' || char(13, 10) || 'Host: evil'",
        "UPDATE operations SET item_id = ''",
        "UPDATE history SET item_id = '../../api/admin1', undoable = 1",
        "INSERT INTO aliases SELECT id, '-1', '../../api/admin1' FROM tables",
        "UPDATE operations SET state = 'que' || char(10) || 'ued'",
        "UPDATE operations SET kind = 'steal'",
        "UPDATE operations SET generation = 99",
        "UPDATE history SET id = 9223372036854775807 WHERE id = (SELECT max(id) FROM history)",
        "UPDATE history SET actor = 'per' || char(10) || 'son'",
        "UPDATE history SET kind = 'wri' || char(10) || 'tten'",
        "UPDATE ledger SET value = 9223372036854775807",
        "UPDATE state_counts SET count = -9223372036854775807",
    ])
    func `an impossible value is refused without a change`(
        statement: String
    ) async throws {
        try await fixture.insert("a")
        try await fixture.update("a", #"{"text":"changed"}"#)
        try await fixture.store.backup(to: backup)
        try fixture.store.close()
        let before = try contents(fixture.path)
        try await DatabaseQueue(path: backup).write { db in
            try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
            // Triggers do not protect a file from edits by another program.
            try db.execute(sql: "DROP TRIGGER operation_moved; DROP TRIGGER operation_released")
            try db.execute(sql: statement)
            #expect(db.changesCount > 0)
        }
        let warning = #expect(throws: StoreError.self) { try rehearsed(backup) }
        let refusal = #expect(throws: StoreError.self) { try restored(backup) }
        #expect(warning == refusal)
        #expect(refusal?.description.contains("can have") == true, "\(refusal as Any)")
        #expect(try contents(fixture.path) == before)
    }

    @Test func `an exhausted sequence continues after the largest row`() async throws {
        try await fixture.insert("a")
        try await fixture.store.backup(to: backup)
        try fixture.store.close()
        try await DatabaseQueue(path: backup).write { db in
            try db.execute(sql: "UPDATE sqlite_sequence SET seq = 9223372036854775807")
        }
        try restore { #expect($0.faults.isEmpty) }
        let store = try fixture.reopened()
        let numbers = try await store.read { transaction in
            try transaction.all("SELECT seq FROM sqlite_sequence") { $0[0] as Int64 }
        }
        #expect(!numbers.isEmpty && numbers.allSatisfy { $0 < 1000 }, "\(numbers)")
        try store.close()
        try await DatabaseQueue(path: fixture.path).write { db in
            try db.execute(
                sql: """
                    INSERT INTO history(at, kind, actor, summary) VALUES (1, 'write', 'person', '')
                    """)
        }
    }

    private func copyRows(of file: String, to path: String) throws {
        let (source, copy) = (
            try ConnectionQueue.storeReader(file), try ConnectionQueue.storeWriter(path)
        )
        try StoreRebuild.copy(source, to: copy)
        try source.close()
        try copy.close()
    }

    private func schema(_ path: String) throws -> [String: String?] {
        try DatabaseQueue(path: path).read { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT type || ' ' || name, sql FROM sqlite_schema")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        }
    }

    /// Every row of every table.
    private func contents(_ path: String) throws -> [String: [String]] {
        try DatabaseQueue(path: path).read { db in
            let tables = try Migrations.ownTables(Connection(db)) + ["sqlite_sequence"]
            return try Dictionary(
                uniqueKeysWithValues: tables.map { table in
                    (table, try Row.fetchAll(db, sql: "SELECT * FROM \(table)").map(\.description))
                })
        }
    }

    // A restore blocks its thread, so these helpers are synchronous.

    private func restore(_ check: (StoreContents) -> Void) throws { check(try restored(backup)) }

    private func rehearse(_ check: (StoreContents) -> Void) throws { check(try rehearsed(backup)) }

    private func look(_ path: String, _ check: (StoreContents) -> Void) throws {
        check(try verify(path))
    }

    private func put(_ path: String, inPlaceOf world: World) throws {
        _ = try StoreOnDisk(at: world.folder + "/store.sqlite").restore(path, clock: world.clock)
    }
}
