import Testing

@testable import SyncCore

@Suite struct CauseTests {
    @Test(arguments: [
        (
            "The backend refused it with 422: Title is taken.",
            "The backend refused it with #: Title is taken."
        ),
        ("Item 7 costs 1,234.50, at most 9.", "Item # costs #, at most #."),
        ("No row c001 in ORA-00942, HTTP/1.1.", "No row c# in ORA-#, HTTP/#."),
        ("Row 6f9619ff-8b86-d011-b42d-00cf4fc964ff is gone", "Row <id> is gone"),
        ("Row 0f3a9c7e1b is gone, t3k9x too", "Row <id> is gone, <id> too"),
        ("Key AbCdEfGhIjKlMnOp1 is unknown", "Key <id> is unknown"),
        ("Due 2026-11-25 is before 2026-11-24T09:30:00.123+01:00.", "Due <date> is before <date>."),
        ("From 2026-11-25 09:30 to 2026-11-25T09:30:15Z", "From <date> to <date>"),
        (#"The title "Buy \"good\" milk" is taken"#, "The title “…” is taken"),
        (
            "The backend's row 'it's mine' and `x` isn't yours",
            "The backend's row “…” and “…” isn't yours"
        ),
        ("Curly “one” and ‘two’ go too", "Curly “…” and “…” go too"),
        (#"Cut off: "a long val"#, "Cut off: “…”"),
        (
            #"{"error":{"code":"E17","message":"Row \"Milk\" of 7 is taken","row":"Milk"}}"#,
            #"{"error":{"code":“…”,"message":"Row “…” of # is taken","row":“…”}}"#
        ),
        ("Größe 12 für Käse", "Größe # für Käse"),
        ("", ""), ("\"", "“…”"), ("'", "'"), ("1", "#"), ("“", "“"), (#""\"#, "“…”"),
    ])
    func `values are masked and words stay`(reason: String, cause: String) {
        #expect(Cause.of(reason) == cause)
    }

    @Test(arguments: ["'a ", "“a ", "‘a ", "`"])
    func `a text of opening quotes is read once`(sign: String) {
        let text = String(repeating: sign, count: 20_001)
        // One backtick closes another.
        #expect(Cause.of(text).utf8.count == (sign == "`" ? 90_001 : text.utf8.count))
    }

    @Test func `no digit is left of any text, which is read to its end`() {
        let ids = StoreFixture.SeededIDs(UInt64.random(in: 0...9_999))
        let seed = ids.next()
        let numbers = StoreFixture.SeededIDs(seed)
        // No brace opens an object, whose names stay.
        let signs = Array("ab9-_\"'`\\:}. T:Z+“”‘’é0")
        for _ in 0..<2_000 {
            let text = String(
                (0..<20).map { _ in signs[Int(numbers.next() % UInt64(signs.count))] })
            let cause = Cause.of(text + ".")
            let hasDigit = cause.contains(where: \.isNumber)
            #expect(!hasDigit, "seed \(seed): \(text) gave \(cause)")
        }
    }
}
