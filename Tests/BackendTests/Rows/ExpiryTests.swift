import Storage
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import PostgreSQL
@testable import Site

/// What becomes of a table whose old effects and tombstones are removed.
@Suite struct ExpiryTests {
    private static let day: Int64 = 86_400_000

    private static func moment(_ days: Int64) -> Instant { TableUnderTest.moment(days * day) }

    /// Removes all that is older, in batches of this many, as one call after another does.
    /// - Returns: what each call removed.
    @discardableResult
    private func expire(
        _ table: TableUnderTest, effects: Int64? = nil, tombstones: Int64? = nil, limit: Int = 500
    ) throws -> [Expired] {
        let expiry = Expiry(
            effectsBefore: effects.map(Self.moment), tombstonesBefore: tombstones.map(Self.moment))
        var all: [Expired] = []
        while let removed = try table.storage.removeExpired(expiry, limit: limit),
            removed != Expired()
        {
            all.append(removed)
        }
        return all
    }

    private func delete(_ table: TableUnderTest, _ row: Row, day: Int64) throws -> Row {
        let change = RowChange(old: row, columns: row.columns, deleted: true)
        return try #require(
            try table.storage.change(
                [change], in: table.name, as: .delete, table.write(at: day * Self.day))?.first)
    }

    private func deletionsAfter(_ table: TableUnderTest) throws -> Instant? {
        try table.storage.list(table.query()).deletionsAfter
    }

    @Test(arguments: StorageUnderTest.all)
    func `what is older is removed in batches, the oldest first, and all else stays`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        for id in ["a", "b", "c", "d", "e"] { try table.insert(id) }
        let before = try table.storage.rows(in: table.name)
        let deleted = try (0..<4).map { try delete(table, before[$0], day: Int64($0) + 1) }
        #expect(
            try table.storage.oldestKept()
                == OldestKept(effect: Self.moment(0), tombstone: deleted[0].updatedAt))
        #expect(try expire(table, effects: 0, tombstones: 1) == [])
        #expect(try expire(table) == [])
        #expect(try deletionsAfter(table) == nil)
        // Two batches of tombstones, and of effects those of the inserts and three deletions.
        #expect(
            try expire(table, effects: 4, tombstones: 4, limit: 2) == [
                Expired(effects: 2, tombstones: 2), Expired(effects: 2, tombstones: 1),
                Expired(effects: 2), Expired(effects: 2),
            ])
        #expect(try table.storage.rows(in: table.name) == [deleted[3], before[4]])
        let effects = try table.storage.effects(after: 0, limit: .max)
        #expect(effects.map(\.itemID) == ["d"] && effects.map(\.kind) == [.delete])
        #expect(effects.map(\.number) == [9])
        #expect(try deletionsAfter(table) == deleted[2].updatedAt)
        #expect(
            try table.storage.oldestKept()
                == OldestKept(effect: Self.moment(4), tombstone: deleted[3].updatedAt))
        #expect(try expire(table, effects: 4, tombstones: 4) == [])
    }

    @Test(arguments: StorageUnderTest.all)
    func `one table's removals say nothing of another's`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let other = try #require(TableName("Other"))
        try table.storage.declare(other, TableOptions())
        _ = try delete(table, try table.insert("a"), day: 1)
        let row = NewRow(id: "a", columns: Columns())
        guard
            case .inserted(let kept) = try table.storage.insert(
                row, into: other, creating: TableOptions(), table.write(at: 9 * Self.day))
        else { throw Unexpected() }
        #expect(
            try expire(table, effects: 8, tombstones: 8) == [Expired(effects: 2, tombstones: 1)])
        #expect(try deletionsAfter(table) != nil)
        var query = try table.query()
        query.table = other
        #expect(try table.storage.list(query) == RowList(rows: [kept]))
        #expect(try table.storage.effects(after: 0, limit: .max).map(\.table) == ["Other"])
    }

    @Test(arguments: StorageUnderTest.all, [true, false])
    func `an id that comes again gets no version that it had`(
        kind: StorageUnderTest, isSoft: Bool
    ) throws {
        let table = try TableUnderTest(kind, "Things", TableOptions(softDelete: isSoft))
        var versions: [String] = []
        // Each round writes less than the one before, so a count of what is left would come back to it.
        for round: Int64 in 0..<4 {
            let at = table.write(at: round * 10 * Self.day)
            for _ in 0..<2 {
                var row = try table.insert("a", "{}", at)
                versions.append(row.version)
                for _ in round..<4 {
                    row = try #require(try table.update(row, "{}", at))
                    versions.append(row.version)
                }
                if isSoft {
                    row = try delete(table, row, day: round * 10)
                    versions.append(row.version)
                    try expire(table, tombstones: round * 10 + 1)
                } else {
                    #expect(try table.storage.remove([row], from: table.name, at))
                }
                if round != 2 { try expire(table, effects: round * 10 + 1, limit: 3) }
            }
        }
        #expect(Set(versions).count == versions.count, "\(versions)")
    }

    @Test func `a file of the first version gives no version again either`() throws {
        let path = StorageUnderTest.newFile()
        let kind = StorageUnderTest(testDescription: "SQLite") {
            try SQLiteRowStorage(at: path, startedAt: Self.moment(0))
        }
        let options = TableOptions(softDelete: false)
        var table = try TableUnderTest(kind, "Things", options)
        var row = try table.insert("a")
        var versions = [row.version]
        for _ in 0..<20 {
            row = try #require(try table.update(row, "{}"))
            versions.append(row.version)
        }
        #expect(try table.storage.remove([row], from: table.name, table.write()))
        try #require(table.storage as? SQLiteRowStorage).connection.access {
            try $0.run(
                script: """
                    DROP INDEX effects_by_time;
                    DROP INDEX tombstones_by_stamp;
                    ALTER TABLE tables DROP COLUMN first_effect;
                    ALTER TABLE tables DROP COLUMN last_deletion;
                    ALTER TABLE tables DROP COLUMN last_tombstone;
                    ALTER TABLE tables DROP COLUMN gone_revision;
                    ALTER TABLE arrivals DROP COLUMN deleted_here;
                    PRAGMA user_version = 1;
                    """)
        }
        table = try TableUnderTest(kind, "Things", options)
        #expect(try expire(table, effects: 1) == [Expired(effects: 22)])
        let again = try table.insert("a")
        #expect(!versions.contains(again.version), "\(again.version) \(versions)")
    }

    @Test(arguments: StorageUnderTest.all)
    func `rows that move in are judged as before, or are undecided`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind, "Things", TableOptions(softDelete: false))
        func moved(_ id: String, day: Int64, deleted: Bool = false) -> MovedRow {
            MovedRow(
                id: id, columns: Columns([.init("n", .integer(1))]), updatedAt: Self.moment(day),
                version: "v", deleted: deleted)
        }
        func move(_ row: MovedRow, from source: MoveSource = .export) throws -> MoveOutcome? {
            let move = Move(at: Self.moment(60), source: source, isInUse: false)
            return try table.storage.move([row], into: table.name, creating: table.options, move)
                .first
        }
        for id in ["came", "stays"] { #expect(try move(moved(id, day: -9)) == .added) }
        #expect(try move(moved("went there", day: -9, deleted: true)) == .added)
        // Clients delete a row that came, and one of their own.
        let came = try #require(try table.storage.get("came", in: table.name))
        let own = try table.insert("own", "{}", table.write(at: Self.day))
        #expect(
            try table.storage.remove([came, own], from: table.name, table.write(at: 5 * Self.day)))
        #expect(try expire(table, effects: 6) == [Expired(effects: 3)])
        #expect(try deletionsAfter(table) == nil)

        #expect(try move(moved("came", day: -9)) == .deletedHere)
        #expect(try move(moved("came", day: 3), from: .backend) == .deletedHere)
        #expect(try move(moved("went there", day: -10)) == .older)
        // Rows between the first write and the last deletion may have been a client's.
        #expect(try move(moved("own", day: 1)) == .undecided)
        #expect(try move(moved("own", day: 5)) == .undecided)
        let known = try table.storage.knownRows(
            of: [ItemID(stored: "own", kind: .string)], in: table.name)
        #expect(
            known.values.map(\.rowsWithoutTrace) == [Self.moment(1)...Self.moment(5)])
        // Another backend's, and one that was inserted here after all of them.
        #expect(try move(moved("older", day: 0)) == .added)
        #expect(try move(moved("lost", day: 6)) == .added)
        #expect(try move(moved("there", day: 2), from: .backend) == .added)
        // The table is still in use: rows get new stamps.
        let older = try #require(try table.storage.get("older", in: table.name))
        #expect(older.updatedAt > Self.moment(5))
        #expect(
            try table.storage.rows(in: table.name).map(\.id) == ["lost", "older", "stays", "there"])
    }

    @Test(arguments: StorageUnderTest.all)
    func `a row that came and whose tombstone is gone stays away`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let rows = ["came", "went"].map { id in
            MovedRow(
                id: id, columns: Columns(), updatedAt: Self.moment(1), version: "v",
                deleted: id == "went")
        }
        let move = Move(at: Self.moment(2), source: .export, isInUse: false)
        let outcomes = {
            try table.storage.move(rows, into: table.name, creating: table.options, move)
        }
        #expect(try outcomes() == [.added, .added])
        let came = try #require(try table.storage.get("came", in: table.name))
        _ = try delete(table, came, day: 3)
        #expect(
            try expire(table, effects: 4, tombstones: 4) == [Expired(effects: 1, tombstones: 2)])
        #expect(try table.storage.rows(in: table.name) == [])
        #expect(try outcomes() == [.deletedHere, .same])
        #expect(try table.storage.rows(in: table.name) == [])
    }

    @Test(.ends) func `while one node removes, another leaves it to that`() throws {
        let schema = PostgreSQLServer.newSchema()
        let url = try PostgreSQLServer.url()
        let kind = StorageUnderTest(testDescription: "PostgreSQL") {
            try PostgreSQLRowStorage(at: url, schema: schema)
        }
        let (table, other) = (try TableUnderTest(kind), try TableUnderTest(kind))
        _ = try delete(table, try table.insert("a"), day: 1)
        let expiry = Expiry(effectsBefore: Self.moment(9), tombstonesBefore: Self.moment(9))
        let storage = try #require(table.storage as? PostgreSQLRowStorage)
        try storage.pool.withConnection { connection in
            try connection.transaction(.readCommitted) { () throws -> PostgreSQLPool.End<Void> in
                let removed = try PostgreSQLExpiry.remove(connection, expiry, limit: 1)
                #expect(removed == Expired(effects: 1, tombstones: 1))
                #expect(try other.storage.removeExpired(expiry, limit: 1) == nil)
                // Nothing of it is seen before its end.
                #expect(try other.storage.rows(in: table.name).count == 1)
                #expect(try deletionsAfter(other) == nil)
                return .commit(())
            }
        }
        #expect(try other.storage.removeExpired(expiry, limit: 1) == Expired(effects: 1))
        #expect(try other.storage.rows(in: table.name) == [])
    }

    @Test func `lists say after which time they have deletions, and metrics what was removed`()
        async throws
    {
        let clock = ManualTime(1_800_000_000_000)
        var options = BackendOptions()
        options.servesHealth = true
        options.kept = KeptTimes(effectSeconds: 30 * 86_400, tombstoneSeconds: 90 * 86_400)
        let client = try Client(options) { clock.now }
        for id in ["a", "b"] { try client.send("POST", "/tables/todos", #"{"id":"\#(id)"}"#) }
        try client.send("DELETE", "/tables/todos/a")
        let list = "/tables/todos?__includeDeleted=true"
        func ids() throws -> [String?] {
            try client.send("GET", list).json.array?.map { $0["id"]?.string } ?? []
        }
        let deleted = try #require(
            try client.send("GET", list).json.array?.first?["updatedAt"]?.string)
        for (days, removed) in [(0, [0, 0]), (31, [3, 0]), (60, [3, 1])] as [(Int64, [Int])] {
            clock.advance(days: days)
            try await client.backend.removeExpired()
            let metrics = try client.send("GET", "/-/metrics").text.split(separator: "\n")
            for (kind, count) in zip(["effects", "tombstones"], removed) {
                let line = "understudy_node_expired_total{kind=\"\(kind)\"} \(count)"
                #expect(metrics.contains { $0 == line })
            }
            let oldest = "understudy_node_oldest_kept_seconds{kind=\"tombstones\"}"
            // It was made some milliseconds after the clock's first moment.
            let age = removed[1] == 0 ? max(days * 86_400 - 1, 0) : 0
            #expect(metrics.contains("\(oldest) \(age)"))
            #expect(try ids() == (removed[1] == 0 ? ["a", "b"] : ["b"]))
            for path in [list, "/tables/todos?$filter=id eq 'none'"] {
                #expect(
                    try client.send("GET", path).field("Understudy-Deletions-After")
                        == (removed[1] == 0 ? nil : deleted))
            }
        }
        // What is gone is not there, and comes anew with another version.
        #expect(try client.send("PATCH", "/tables/todos/a", #"{"text":"x"}"#).status == 404)
        #expect(try client.send("POST", "/tables/todos", #"{"id":"a"}"#).status == 201)
    }
}

/// A clock that stands still until it is moved.
private final class ManualTime: Sendable {
    private let milliseconds: Mutex<Int64>

    init(_ milliseconds: Int64) { self.milliseconds = Mutex(milliseconds) }

    var now: Instant { Instant(milliseconds: milliseconds.withLock { $0 }) }

    func advance(days: Int64) { milliseconds.withLock { $0 += days * 86_400_000 } }
}
