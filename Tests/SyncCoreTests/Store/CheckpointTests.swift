import Dispatch
import Foundation
import GRDB
import TablesProtocol
import Testing

@testable import Storage
@testable import SyncCore

@Suite struct CheckpointTests {
    private let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func size(_ suffix: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + suffix)
        return try #require(attributes[.size] as? Int)
    }

    @Test func `the writer copies the log into the file, and begins it anew`() async throws {
        let text = String(repeating: "x", count: 100_000)
        for number in 0..<200 { try await fixture.insert("i\(number)", "{\"text\":\"\(text)\"}") }
        // 20 MB were written; the log holds one stretch and what was added in one transaction.
        #expect(try size("") > 15_000_000)
        #expect(try size("-wal") < 3 * StorageLimits.checkpointPages * 4096)
        #expect(try await fixture.store.check().isEmpty)
    }

    @Test func `a log that is read is copied as far as it may be, and the read sees what it saw`()
        async throws
    {
        try await fixture.insert("a", #"{"text":"1"}"#)
        let path = fixture.path
        let written = DispatchSemaphore(value: 0)
        let (counts, found) = AsyncStream.makeStream(of: Int.self)
        // On a thread of its own: a read that waits may not take one that tasks run on.
        Thread.detachNewThread {
            do {
                let reader = try ConnectionQueue.reader(path)
                try reader.queue.read { db in
                    let count = "SELECT count(*) FROM items"
                    found.yield(try Int.fetchOne(db, sql: count) ?? 0)
                    written.wait()
                    found.yield(try Int.fetchOne(db, sql: count) ?? 0)
                }
            } catch { Issue.record("\(error)") }
            found.finish()
        }
        var iterator = counts.makeAsyncIterator()
        let first = await iterator.next()
        let text = String(repeating: "x", count: 100_000)
        for number in 0..<80 { try await fixture.insert("i\(number)", "{\"text\":\"\(text)\"}") }
        written.signal()
        let same = await iterator.next()
        #expect(first == 1 && same == 1)
        #expect(try await fixture.store.check().isEmpty)
    }

    @Test func `no other connection copies the log, and all sync fully`() async throws {
        try await fixture.insert("a", #"{"text":"1"}"#)
        let before = try size("-wal")
        let reader = try ConnectionQueue.reader(fixture.path)
        let (copies, synchronous, copied) = try await reader.queue.unsafeRead { db in
            (
                try Int.fetchOne(db, sql: "PRAGMA wal_autocheckpoint"),
                try Int.fetchOne(db, sql: "PRAGMA synchronous"), try? db.checkpoint(.passive)
            )
        }
        #expect(copies == 0 && synchronous == 2 && copied == nil)
        try reader.close()
        #expect(try size("-wal") == before)
        let ofWriter = try await fixture.store.writer.connection.queue.unsafeRead { db in
            try Int.fetchOne(db, sql: "PRAGMA synchronous")
        }
        #expect(ofWriter == 2)
    }
}
