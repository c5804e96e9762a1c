import Foundation
import GRDB
import TestSupport
import Testing

@testable import SyncCore

/// A connection keeps the lock of its last read. Who needs the log for himself gets it all the same, and
/// whoever reads is left alone.
@Suite struct KeptLockTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func makeTable() async throws {
        try await fixture.store.write { transaction in
            try transaction.db.execute(
                sql: "CREATE TABLE held (place INTEGER PRIMARY KEY, number)")
            try transaction.run("INSERT INTO held VALUES (1, 0), (2, 0)")
        }
    }

    private func write(_ number: Int) async throws {
        try await fixture.store.write { transaction in
            try transaction.run("UPDATE held SET number = ?", [number])
        }
    }

    /// Begins the log anew, waiting for nobody; nil when somebody reads in it.
    private func emptyLog() throws -> Int? {
        let queue = try Connection.checkpointer(fixture.path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA busy_timeout = 0")
            _ = try? db.checkpoint(.truncate)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + "-wal")
        return attributes[.size] as? Int == 0 ? 0 : nil
    }

    /// How many read locks of the log this process has, as the kernel knows them.
    private func readLocks() throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + "-shm")
        let inode = try #require(attributes[.systemFileNumber] as? Int)
        // "1: POSIX  ADVISORY  READ 4711 fe:01:123456 124 124", where 123 is the first of five.
        let places = Set((123...127).map { Substring(String($0)) })
        var count = 0
        for line in try kernelsLocks().split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 7, words[3] == "READ", words[5].hasSuffix(":\(inode)"),
                places.contains(words[6])
            else { continue }
            count += 1
        }
        return count
    }

    /// The kernel's list, to its end: it comes a page at a time, and a page is not filled.
    private func kernelsLocks() throws -> String {
        let file = try #require(FileHandle(forReadingAtPath: "/proc/locks"))
        var bytes = Data()
        while let part = try file.read(upToCount: 4096), !part.isEmpty { bytes += part }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a lock is kept from one read to the next, and no longer than the connection`()
        async throws
    {
        try await makeTable()
        let reader = try Connection.reader(fixture.path, budget: nil)
        try await write(1)
        for _ in 0..<3 {
            let number = try await reader.read {
                try Int.fetchOne($0, sql: "SELECT max(number) FROM held")
            }
            #expect(number == 1)
            #expect(try readLocks() == 1)
        }
        try reader.close()
        // The writer may keep one of its own.
        #expect(try emptyLog() == 0)
        #expect(try readLocks() == 0)
    }

    @Test func `a log that nobody reads is begun anew, whatever locks are kept`() async throws {
        try await makeTable()
        let readers = try (0..<4).map { _ in try Connection.reader(fixture.path, budget: nil) }
        for round in 1...20 {
            try await write(round)
            // Not always the same ones, so that they keep different locks.
            for reader in readers.prefix(1 + round % readers.count) {
                let seen = try await reader.read {
                    try Int.fetchOne($0, sql: "SELECT min(number) FROM held")
                }
                #expect(seen == round)
            }
            if round % 3 == 0 { #expect(try emptyLog() == 0) }
        }
    }

    @Test func `a log that somebody reads is left, and the read sees what it saw`() async throws {
        try await makeTable()
        try await write(1)
        let held = try ReadThatGoesOn(fixture.path)
        #expect(try await held.number() == 1)
        try await write(2)
        #expect(try emptyLog() == nil)
        #expect(try await held.number() == 1)
        try await held.end()
        #expect(try await held.number() == 2)
        try await held.end()
        #expect(try emptyLog() == 0)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `readers see whole transactions in order while the log is written and emptied`(
        seed: UInt64
    ) async throws {
        try await makeTable()
        let path = fixture.path
        let readers = try (0..<3).map { _ in try Connection.reader(path, budget: nil) }
        let rounds = 300
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, reader) in readers.enumerated() {
                group.addTask {
                    var last = 0
                    var random = SeededRandom(seed &* 10 &+ UInt64(index))
                    while last < rounds {
                        let size = Int.random(in: 1...3, using: &random)
                        let pairs = try await reader.read { db in
                            try (0..<size).map { _ in
                                try Int.fetchAll(db, sql: "SELECT number FROM held")
                            }
                        }
                        #expect(Set(pairs.flatMap { $0 }).count == 1, "seed \(seed)")
                        let now = pairs[0][0]
                        #expect(now >= last, "seed \(seed)")
                        last = now
                    }
                }
            }
            var random = SeededRandom(seed)
            for number in 1...rounds {
                try await write(number)
                if Int.random(in: 0..<8, using: &random) == 0 { _ = try emptyLog() }
            }
            try await group.waitForAll()
        }
    }
}

/// A read transaction that stays open between questions.
private struct ReadThatGoesOn {
    private let queue: DatabaseQueue

    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = true
        queue = try DatabaseQueue(path: path, configuration: configuration)
    }

    func number() async throws -> Int? {
        try await queue.unsafeRead { db in
            if !db.isInsideTransaction { try db.beginTransaction(.deferred) }
            return try Int.fetchOne(db, sql: "SELECT number FROM held WHERE place = 1")
        }
    }

    func end() async throws {
        try await queue.unsafeRead { try $0.commit() }
    }
}
