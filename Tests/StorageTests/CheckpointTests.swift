import Dispatch
import Foundation
import GRDB
import Testing

@testable import Storage

@Suite struct CheckpointTests {
    private let file: NumbersFile
    init() throws { file = try NumbersFile() }

    private func put(_ numbers: Range<Int>) async throws {
        for number in numbers {
            try await file.writer.write { try $0.put(number, bytes: 100_000) }.get()
        }
    }

    private func faults() throws -> [String] {
        try file.writer.read { try $0.column("PRAGMA integrity_check") }
    }

    @Test func `the writer copies the log into the file, and begins it anew`() async throws {
        try await put(0..<200)
        // 20 MB were written; the log holds one stretch and what was added in one transaction.
        #expect(try file.size("") > 15_000_000)
        #expect(try file.size("-wal") < 3 * StorageLimits.checkpointPages * 4096)
        #expect(try faults() == ["ok"])
    }

    @Test func `a log that was long is emptied when it is asked for`() async throws {
        try await file.writer.write { unit in
            for number in 0..<30 { try unit.put(number, bytes: 100_000) }
        }.get()
        #expect(try file.size("-wal") > 2_000_000)
        await file.writer.shrinkLog()
        #expect(try file.size("-wal") == 0)
        #expect(try await file.numbers().count == 30)
        try await put(30..<31)
        #expect(try faults() == ["ok"])
    }

    @Test func `under a budget the log keeps to its share, and a read is not waited for`() async throws {
        let file = try NumbersFile(budgetBytes: 4 << 20)
        let reader = try ConnectionQueue.reader(file.path)
        for number in 0..<100 {
            try await file.writer.write { try $0.put(number % 10, bytes: 100_000) }.get()
            #expect(try file.size("-wal") <= (4 << 20) / 8 + 250_000)
        }
        try reader.close()
        #expect(try file.size("") <= 4 << 20)
    }

    @Test func `a log of a cut size begins anew`() async throws {
        try await file.writer.write { unit in
            for number in 0..<100 { try unit.put(number, bytes: 100_000) }
        }.get()
        #expect(try file.size("-wal") > 2 * StorageLimits.logBytes)
        try await put(100..<103)
        #expect(try file.size("-wal") <= StorageLimits.logBytes)
    }

    @Test func `a log that is read is copied as far as it may be, and the read sees what it saw`()
        async throws
    {
        try await put(0..<1)
        let path = file.path
        let written = DispatchSemaphore(value: 0)
        let (counts, found) = AsyncStream.makeStream(of: Int64.self)
        // On a thread of its own: a read that waits may not take one that tasks run on.
        Thread.detachNewThread {
            do {
                let reader = try ConnectionQueue.reader(path)
                try reader.access { db in
                    try db.transaction(.deferred) {
                        let count = "SELECT count(*) FROM numbers"
                        found.yield(try db.integer(count) ?? 0)
                        written.wait()
                        found.yield(try db.integer(count) ?? 0)
                    }
                }
            } catch { Issue.record("\(error)") }
            found.finish()
        }
        var iterator = counts.makeAsyncIterator()
        let first = await iterator.next()
        try await put(1..<80)
        written.signal()
        let same = await iterator.next()
        #expect(first == 1 && same == 1)
        #expect(try faults() == ["ok"])
    }

    @Test func `no other connection copies the log, and all sync fully`() async throws {
        try await put(0..<1)
        let before = try file.size("-wal")
        let reader = try ConnectionQueue.reader(file.path)
        let (copies, synchronous, copied) = try await reader.queue.unsafeRead { db in
            (
                try Int.fetchOne(db, sql: "PRAGMA wal_autocheckpoint"),
                try Int.fetchOne(db, sql: "PRAGMA synchronous"), try? db.checkpoint(.passive)
            )
        }
        #expect(copies == 0 && synchronous == 2 && copied == nil)
        try reader.close()
        #expect(try file.size("-wal") == before)
        let ofWriter = try await file.writer.connection.queue.unsafeRead { db in
            try Int.fetchOne(db, sql: "PRAGMA synchronous")
        }
        #expect(ofWriter == 2)
    }
}
