import Foundation
import TablesProtocol
import Testing

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
            dueAt: Instant(milliseconds: Int64(number)), oldestAt: nil,
            ledger: Ledger(
                accepted: Int64(number) + 6, applied: 7, collapsed: 8, discarded: 9, queue: queue),
            tables: [
                StoreSummary.Table(name: "a", items: number, setAside: 1, pullsFail: true),
                StoreSummary.Table(name: "b", items: 2, setAside: 0, pullsFail: false),
            ])
    }

    @Test func `what is put is there after the file is opened again, and the later one counts`()
        throws
    {
        defer { remove() }
        let index = try StoreIndex(at: file)
        try index.put(Self.summary(1), of: "ana")
        try index.put(.empty, of: "ben")
        try index.put(Self.summary(2), of: "ana")
        try index.close()
        #expect(
            try StoreIndex(at: file).entries() == ["ana": Self.summary(2), "ben": .empty])
    }

    @Test(arguments: ["this is no database, and longer than nothing", ""])
    func `an index that is damaged is made anew`(text: String) throws {
        defer { remove() }
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let index = try StoreIndex(at: file)
        #expect(try index.entries() == [:])
        try index.put(.empty, of: "ana")
        #expect(try StoreIndex(at: file).entries() == ["ana": .empty])
    }

    @Test func `sums are as if all were one store`() {
        var sum = StoreSummary.empty
        sum.add(Self.summary(1))
        sum.add(Self.summary(2))
        #expect(sum.dueAt == Instant(milliseconds: 1))
        #expect(sum.ledger.accepted == 15)
        #expect(sum.ledger.queue.open == (1 + 2 + 3 + 4 + 5 + 6) + (2 + 3 + 4 + 5 + 6 + 7))
        #expect(
            sum.tables == [
                StoreSummary.Table(name: "a", items: 3, setAside: 2, pullsFail: true),
                StoreSummary.Table(name: "b", items: 4, setAside: 0, pullsFail: false),
            ])
    }

    @Test func `a store that was not closed has its log beside it, and one that was has none`()
        throws
    {
        defer { remove() }
        let path = "\(folder)/store.sqlite"
        func wasOpen() -> Bool {
            StoreIndex.wasOpen(path, exists: FileManager.default.fileExists(atPath:))
        }
        let store = try Store(
            at: path, identity: "ana", clock: FixedClock(), ids: SystemIDSource(), workers: 1)
        #expect(wasOpen())
        #expect(try store.summary() == .empty)
        try store.close()
        #expect(!wasOpen())
    }

    private struct FixedClock: StoreClock {
        func now() -> Instant { Instant(milliseconds: 1_800_000_000_000) }
    }
}
