import Logging
import SyncCore
import Synchronization
import TablesProtocol
import Testing

@testable import Proxy

struct RefusedWritesTests {
    /// Keeps the count of each line.
    private struct Counts: LogHandler {
        let counts: @Sendable (String) -> Void
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            let said = event.metadata ?? [:]
            counts(["status", "writes"].map { said[$0]?.description ?? "" }.joined(separator: " "))
        }
    }

    @Test
    func `the first refused write is logged at once, the others once a minute with their count`() {
        let lines = Mutex<[String]>([])
        let clock = Mutex(Instant(milliseconds: 1_000_000))
        let refused = RefusedWrites(
            log: Logger(label: "t") { _ in Counts { line in lines.withLock { $0.append(line) } } },
            now: { clock.withLock { $0 } })
        for _ in 0..<5 { refused.note(.storageFull(byBudget: true), status: 507) }
        refused.note(WriteOutcome.busy, status: 503)
        refused.note(.missing, status: 404)
        refused.note(.unopened, status: 503)
        #expect(lines.withLock { $0 } == ["507 1", "503 1", "503 1"])
        clock.withLock { $0 = $0.adding(seconds: 61) }
        refused.note(.storageFull(byBudget: true), status: 507)
        #expect(lines.withLock { $0.last } == "507 5")
        // A clock that was set back does not silence the log.
        clock.withLock { $0 = $0.adding(seconds: -7200) }
        refused.note(.storageFull(byBudget: true), status: 507)
        #expect(lines.withLock { $0.last } == "507 1")
        #expect(
            refused.totals.map { "\($0.reason.rawValue) \($0.count)" } == [
                "disk-budget 7", "disk 0", "read-only 0", "busy 1", "failed 0", "unopened 1",
            ])
    }
}
