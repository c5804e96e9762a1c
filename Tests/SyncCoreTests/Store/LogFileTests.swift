import Foundation
import GRDB
import TestSupport
import Testing

@testable import Storage
@testable import SyncCore

/// A copy of the files taken when a commit has returned is the store as committed, as after the end of the
/// process.
@Suite struct LogFileTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `what is committed is in the files when the commit returns`(seed: UInt64) async throws {
        try await fixture.store.write { transaction in
            // Few pages, so that large transactions are written in pieces before their end.
            try transaction.db.database.execute(sql: "PRAGMA cache_size = 20")
            try transaction.db.database.execute(sql: "CREATE TABLE held (number INTEGER PRIMARY KEY, text)")
        }
        var random = SeededRandom(seed)
        var expected: [Int: Int] = [:]
        for round in 0..<60 {
            let steps = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                Step(
                    number: Int.random(in: 0..<40, using: &random),
                    bytes: Int.random(in: 0..<90_000, using: &random),
                    isUndone: Int.random(in: 0..<4, using: &random) == 0)
            }
            let fails = Int.random(in: 0..<5, using: &random) == 0
            do {
                try await fixture.store.write { transaction in
                    for step in steps { try step.run(on: transaction) }
                    if fails { throw StoreError.failed("planned") }
                }
                for step in steps where !step.isUndone { expected[step.number] = step.bytes }
            } catch {
                #expect(fails, "round \(round) of seed \(seed): \(error)")
            }
            if round % 17 == 16 {
                // The next transaction begins the log anew.
                _ = try await fixture.store.writer.connection.queue.writeWithoutTransaction {
                    try $0.checkpoint(.passive)
                }
            }
            let found = try copied()
            #expect(found == expected, "round \(round) of seed \(seed)")
        }
    }

    @Test func `a part that changes more than is kept in memory can be taken back`() async throws {
        try await fixture.store.write { transaction in
            try transaction.db.database.execute(sql: "CREATE TABLE held (number INTEGER PRIMARY KEY, text)")
            for number in 0..<200 {
                try transaction.run("INSERT INTO held VALUES (?, zeroblob(3000))", [number])
            }
        }
        try await fixture.store.write { transaction in
            try transaction.db.savepoint {
                try transaction.run("UPDATE held SET text = zeroblob(10)")
                return false
            }
            try transaction.run("UPDATE held SET text = zeroblob(7) WHERE number = 1")
        }
        var expected = Dictionary(uniqueKeysWithValues: (0..<200).map { ($0, 3000) })
        expected[1] = 7
        #expect(try copied() == expected)
    }

    @Test func `what was rolled back is not written over what another connection commits`()
        async throws
    {
        try await fixture.store.write { transaction in
            try transaction.db.database.execute(sql: "PRAGMA cache_size = 20")
            try transaction.db.database.execute(sql: "CREATE TABLE held (number INTEGER PRIMARY KEY, text)")
        }
        let other = try ConnectionQueue.writer(fixture.path)
        for round in 0..<30 {
            await #expect(throws: StoreError.self) {
                try await fixture.store.write { transaction in
                    try transaction.run("INSERT INTO held VALUES (99, zeroblob(150000))")
                    throw StoreError.failed("planned")
                }
            }
            try await other.queue.write { db in
                try db.execute(
                    sql: "INSERT INTO held VALUES (?, zeroblob(5000))", arguments: [round])
            }
            // Reads and writes where the other wrote meanwhile.
            try await fixture.store.write { transaction in
                try transaction.run(
                    "UPDATE held SET text = zeroblob(6000) WHERE number = ?", [round])
            }
            #expect(try copied().count == round + 1)
        }
        #expect(try copied().values.allSatisfy { $0 == 6000 })
    }

    /// One row written, perhaps in a part that is taken back.
    struct Step {
        let number: Int
        let bytes: Int
        let isUndone: Bool

        func run(on transaction: Transaction) throws {
            try transaction.db.savepoint {
                try transaction.run(
                    """
                    INSERT INTO held(number, text) VALUES (?, zeroblob(?))
                      ON CONFLICT DO UPDATE SET text = excluded.text
                    """, [number, bytes])
                return !isUndone
            }
        }
    }

    /// What a copy of the files holds: the bytes of each row.
    private func copied() throws -> [Int: Int] {
        let copy = fixture.folder + "/copy.sqlite"
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: copy + suffix)
        }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: copy + suffix)
        }
        let queue = try DatabaseQueue(path: copy)
        return try queue.read { db in
            let state = try String.fetchOne(db, sql: "PRAGMA integrity_check")
            #expect(state == "ok")
            let rows = try Row.fetchAll(db, sql: "SELECT number, length(text) FROM held")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as Int, $0[1] as Int) })
        }
    }
}
