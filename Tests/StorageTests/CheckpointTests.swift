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

    private static let budgetBytes = 4 << 20

    /// A transaction that reads the numbers of a file until it is ended.
    private struct HeldRead {
        private let hold = DispatchSemaphore(value: 0)
        private let ended = AsyncStream.makeStream(of: Void.self)

        init(_ path: String) async {
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            // On its own thread: a blocking read must not block a thread of the task pool.
            Thread.detachNewThread { [hold, ended] in
                do {
                    let reader = try ConnectionQueue.reader(path)
                    try reader.transaction(.deferred) { db in
                        _ = try db.integer("SELECT count(*) FROM numbers")
                        begin.finish()
                        hold.wait()
                    }
                    try reader.close()
                } catch { Issue.record("\(error)") }
                begin.finish()
                ended.continuation.finish()
            }
            for await _ in begun {}
        }

        func end() async {
            hold.signal()
            for await _ in ended.stream {}
        }
    }

    @Test func `under a budget the log keeps to its share`() async throws {
        let file = try NumbersFile(budgetBytes: Self.budgetBytes)
        // An open connection that reads nothing does not keep the log.
        let reader = try ConnectionQueue.reader(file.path)
        for number in 0..<100 {
            try await file.writer.write { try $0.put(number % 10, bytes: 100_000) }.get()
            _ = try await file.numbers()
            #expect(try file.size("-wal") <= Self.budgetBytes / StorageLimits.budgetsInLog)
        }
        try reader.close()
        #expect(try file.size("") <= Self.budgetBytes)
        #expect(!file.writer.refusesEntries)
    }

    @Test func `what a long read keeps in the log counts in the budget until the read ends`()
        async throws
    {
        let file = try NumbersFile(budgetBytes: Self.budgetBytes)
        try await file.writer.write { try $0.put(0) }.get()
        let read = await HeldRead(file.path)
        // The same rows again and again: the file stays small, and the log grows.
        var failure: StorageError?
        for number in 0..<200 where failure == nil {
            let result = await file.writer.write(inBudget: true) {
                try $0.put(number % 10, bytes: 100_000)
            }
            if case .failure(let error) = result { failure = error }
        }
        guard case .overBudget? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(file.writer.refusesEntries)
        #expect(try file.size("") + file.size("-wal") <= Self.budgetBytes + 250_000)
        // What has to be written in any case is written.
        try await file.writer.write { try $0.put(500, bytes: 100) }.get()
        await read.end()
        try await file.writer.write(inBudget: true) { try $0.put(501, bytes: 100_000) }.get()
        #expect(!file.writer.refusesEntries)
        _ = try await file.numbers()
        #expect(try file.size("-wal") <= Self.budgetBytes / StorageLimits.budgetsInLog)
    }

    @Test func `a log of a cut size begins anew`() async throws {
        try await file.writer.write { unit in
            for number in 0..<100 { try unit.put(number, bytes: 100_000) }
        }.get()
        #expect(try file.size("-wal") > 2 * StorageLimits.logBytes)
        try await put(100..<103)
        #expect(try file.size("-wal") <= StorageLimits.logBytes)
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
