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

    @Test func `the writer copies the log into the file and starts it again`() async throws {
        try await put(0..<200)
        // 20 MB were written. The log holds at most one checkpoint interval and one transaction.
        #expect(try file.size("") > 15_000_000)
        #expect(try file.size("-wal") < 3 * StorageLimits.checkpointPages * 4096)
        #expect(try faults() == ["ok"])
    }

    @Test func `while a log is read, it is copied as far as allowed, and the reader's rows stay`()
        async throws
    {
        try await put(0..<1)
        let path = file.path
        let written = DispatchSemaphore(value: 0)
        let (counts, found) = AsyncStream.makeStream(of: Int64.self)
        // On its own thread: a blocking read must not block a thread of the task pool.
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

    @Test func `no other connection copies the log, and every connection syncs fully`() async throws
    {
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
