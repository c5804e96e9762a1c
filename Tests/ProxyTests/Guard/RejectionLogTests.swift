import HTTPMessage
import TablesProtocol
import Testing

@testable import Proxy

struct RejectionLogTests {
    @Test func `refusals are counted by reason, with the last detail`() {
        let log = RejectionLog { Instant(milliseconds: 1000) }
        log.count(Refusal(.host, "No.", detail: "evil.example"))
        log.count(Refusal(.host, "No.", detail: String(repeating: "x", count: 500)))
        log.count(Refusal(.origin, "No."))
        log.count(RefusalReason.repeatedField)
        #expect(log.total == 4)
        #expect(log.all.map(\.reason.word) == ["repeated-field", "host", "cross-origin"])
        #expect(log.all.map(\.count) == [1, 2, 1])
        #expect(log.all[1].lastDetail?.count == Limits.refusalDetailCharacters)
    }

    @Test func `every reason has a word of its own, a status of refusal and a sentence`() {
        let words = RejectionReason.all.map(\.word)
        #expect(Set(words).count == words.count)
        for reason in RejectionReason.all {
            #expect(reason.sentence.hasSuffix("."), "\(reason)")
            #expect((400..<504).contains(reason.status), "\(reason)")
            #expect(!reason.word.contains { $0.isUppercase || $0 == " " }, "\(reason)")
        }
    }

    @Test(arguments: [
        ("http:/c/SECRET/x", "http:"), ("/c/SECRET/x", ""),
        ("http://evil.example/c/SECRET", "http://evil.example"),
        ("http://evil.example?SECRET", "http://evil.example"), ("http:\\\\x\\c\\SECRET", "http:"),
        ("http:/c/SECRET://x", ""), ("evil.example:8080", "evil.example:8080"), ("null", "null"),
        ("file://", "file://"), ("[::1]:80", "[::1]:80"),
    ])
    func `only scheme and host of an address are kept`(said: String, kept: String) {
        #expect(Refusal(.origin, "No.", detail: said).detail == kept)
    }
}
