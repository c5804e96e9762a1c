import TablesProtocol
import Testing

@testable import Proxy

struct RejectionLogTests {
    @Test func `refusals are counted by reason with what was asked for`() {
        let log = RejectionLog { Instant(milliseconds: 1000) }
        log.count(Refusal(.host, "No.", detail: "evil.example"))
        log.count(Refusal(.host, "No.", detail: String(repeating: "x", count: 500)))
        log.count(Refusal(.origin, "No."))
        #expect(log.total == 3)
        #expect(log.all.map(\.reason) == [.host, .origin])
        #expect(log.all.first?.count == 2)
        #expect(log.all.first?.lastDetail?.count == Limits.refusalDetailCharacters)
    }
}
