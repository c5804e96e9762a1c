import Foundation
import GRDB
import Platform
import TablesProtocol
import Testing

@testable import Storage
@testable import SyncCore

struct StoreIndexTests {
    private let folder = "/tmp/understudy-tests/index-\(UUID().uuidString)"

    private var file: String { "\(folder)/index.sqlite" }

    init() throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
    }

    private func remove() { try? FileManager.default.removeItem(atPath: folder) }

    private static func summary(_ number: Int) -> StoreSummary {
        var queue = QueueCounts()
        queue.queued = number
        queue.waiting = number + 1
        queue.sending = number + 2
        queue.unknown = number + 3
        queue.conflict = number + 4
        queue.quarantined = number + 5
        return StoreSummary(
            due: .at(Instant(milliseconds: Int64(number)), noted: Instant(milliseconds: 0)),
            oldestAt: Instant(milliseconds: Int64(number) + 20),
            oldestForPersonAt: Instant(milliseconds: Int64(number) + 21),
            ledger: Ledger(
                accepted: Int64(number) + 6, applied: 7, collapsed: 8, discarded: 9, queue: queue,
                conflicts: 10, refusals: 11, retries: 12),
            tables: [
                StoreSummary.Table(
                    name: "a", items: number, setAside: 1, pullsFail: true, conflicts: 1, refused: 2
                ),
                StoreSummary.Table(
                    name: "b", items: 2, setAside: 0, pullsFail: false, conflicts: 1, refused: 2),
            ])
    }

    @Test func `an entry survives a reopen, and the later entry wins`()
        throws
    {
        defer { remove() }
        var due = StoreSummary.empty
        due.due = .now
        let entries = [
            "ana": StoreIndex.Entry(summary: Self.summary(2), file: Self.closed),
            "ben": StoreIndex.Entry(summary: .empty, file: nil),
            "cem": StoreIndex.Entry(summary: due, file: nil),
        ]
        let index = try StoreIndex(at: file)
        try index.put(StoreIndex.Entry(summary: Self.summary(1), file: nil), of: "ana")
        for (identity, entry) in entries { try index.put(entry, of: identity) }
        try index.close()
        #expect(try StoreIndex(at: file).entries() == entries)
    }

    private static let closed = StoreFile(
        inode: -7, bytes: 4096, changedAt: 1_800_000_000_000_000_001)

    @Test(arguments: ["this is no database, and longer than nothing", ""])
    func `a damaged index is rebuilt`(text: String) throws {
        defer { remove() }
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let index = try StoreIndex(at: file)
        #expect(try index.entries() == [:])
        let entry = StoreIndex.Entry(summary: .empty, file: nil)
        try index.put(entry, of: "ana")
        #expect(try StoreIndex(at: file).entries() == ["ana": entry])
    }

    @Test(arguments: [1, 3, 5]) func `an index of another version is rebuilt`(version: Int) throws {
        defer { remove() }
        let other = try ConnectionQueue.writer(file)
        try other.transaction(.immediate) { db in
            try db.run(script: "CREATE TABLE stores (a); PRAGMA user_version = \(version)")
        }
        try other.close()
        #expect(try StoreIndex(at: file).entries() == [:])
    }

    @Test func `deferred policies are kept until the store has applied them`() throws {
        defer { remove() }
        let tables = ["a", "b"].compactMap { TableName($0) }
        let index = try StoreIndex(at: file)
        try index.deferPolicies(of: tables, to: ["ana", "ben"])
        try index.deferPolicies(of: Array(tables.prefix(1)), to: ["ana"])
        try index.close()
        let later = try StoreIndex(at: file)
        #expect(try later.deferredPolicies(of: "ana") == ["a", "b"])
        try later.removeDeferredPolicies(of: "ana")
        #expect(try later.deferredPolicies(of: "ana") == [])
        #expect(try later.deferredPolicies(of: "ben") == ["a", "b"])
    }

    @Test func `sums are as if all were one store`() {
        var sum = StoreSummary.empty
        sum.add(Self.summary(1))
        sum.add(Self.summary(2))
        #expect(sum.due == Self.summary(1).due)
        #expect(sum.ledger.accepted == 15)
        #expect(sum.ledger.queue.open == (1 + 2 + 3 + 4 + 5 + 6) + (2 + 3 + 4 + 5 + 6 + 7))
        #expect(
            sum.tables == [
                StoreSummary.Table(
                    name: "a", items: 3, setAside: 2, pullsFail: true, conflicts: 2, refused: 4),
                StoreSummary.Table(
                    name: "b", items: 4, setAside: 0, pullsFail: false, conflicts: 2, refused: 4),
            ])
    }

    @Test
    func `an entry is valid only for the same closed file without a WAL`() {
        let entry = StoreIndex.Entry(summary: .empty, file: Self.closed)
        func holds(_ files: [String: StoreFile]) -> Bool { entry.holds(of: "s") { files[$0] } }
        #expect(holds(["s": Self.closed]))
        #expect(!holds(["s": Self.closed, "s-wal": Self.closed]))
        #expect(!holds([:]))
        for change in [\StoreFile.inode, \.bytes, \.changedAt] {
            var other = Self.closed
            other[keyPath: change] += 1
            #expect(!holds(["s": other]))
        }
        #expect(!StoreIndex.Entry(summary: .empty, file: nil).holds(of: "s") { _ in Self.closed })
    }

    @Test func `a store has a WAL until it is closed`()
        throws
    {
        defer { remove() }
        let path = "\(folder)/store.sqlite"
        func hasLog() -> Bool { FileManager.default.fileExists(atPath: path + "-wal") }
        let store = try Store(
            at: path, identity: "ana", clock: FixedClock(), ids: SystemIDSource(), workers: 1)
        #expect(hasLog())
        #expect(try store.summary() == .empty)
        try store.close()
        #expect(!hasLog())
    }

    private struct FixedClock: StoreClock {
        func now() -> Instant { Instant(milliseconds: 1_800_000_000_000) }
        func uptime() -> Duration { .zero }
    }
}
