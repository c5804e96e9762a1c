import Foundation
import Synchronization
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct CheckpointTests {
    @Test func `each stretch of the log is copied once, and a long log by the writer`() {
        let log = LogLength()
        func need(_ pages: Int) -> LogLength.Need {
            log.note(pages: pages)
            return log.takeNeed()
        }
        let stretch = StoreLimits.checkpointPages
        #expect(need(stretch - 1) == .nothing)
        #expect(need(stretch) == .copying)
        #expect(need(2 * stretch - 1) == .nothing)
        log.ended(copied: stretch)
        #expect(need(2 * stretch - 1) == .nothing)
        #expect(need(2 * stretch) == .copying)
        #expect(need(StoreLimits.longLogPages) == .copyingNow)
        // It starts anew.
        #expect(need(3) == .nothing)
        log.ended(copied: nil)
        #expect(need(stretch + 3) == .copying)
    }

    @Test func `who writes much waits for the last little of a long log`() {
        let log = LogLength()
        func need(_ pages: Int) -> LogLength.Need {
            log.note(pages: pages)
            return log.takeNeed()
        }
        let (long, rest) = (StoreLimits.renewedLogPages, StoreLimits.restPages)
        #expect(need(long) == .copying)
        #expect(!log.isWaitedFor)
        // What is written meanwhile is more than a little.
        #expect(need(long + 2 * rest) == .nothing)
        log.ended(copied: long)
        #expect(!log.isWaitedFor)
        #expect(need(long + 2 * rest) == .copying)
        log.ended(copied: long + 2 * rest)
        #expect(need(long + 3 * rest - 1) == .nothing)
        #expect(log.isWaitedFor)
        // It starts anew.
        #expect(need(2) == .nothing)
        #expect(!log.isWaitedFor)
    }

    @Test func `who writes much waits for a log that grows faster than it is copied`() {
        let log = LogLength()
        log.note(pages: StoreLimits.waitingLogPages - 1)
        #expect(log.takeNeed() == .copying)
        #expect(!log.isWaitedFor)
        log.note(pages: StoreLimits.waitingLogPages)
        #expect(log.isWaitedFor)
    }

    @Test func `the log is copied into the file while the store is in use`() async throws {
        let fixture = try StoreFixture()
        let text = String(repeating: "x", count: 100_000)
        // Two stretches at most, so that the writer itself copies nothing.
        for number in 0..<200 {
            try await fixture.insert("i\(number)", "{\"text\":\"\(text)\"}")
        }
        while fixture.store.underWay.load(ordering: .acquiring) > 0 { await Task.yield() }
        let size = try FileManager.default.attributesOfItem(atPath: fixture.path)[.size] as? Int
        #expect((size ?? 0) > StoreLimits.checkpointPages * 2048)
        #expect(try await fixture.store.check().isEmpty)
    }
}
