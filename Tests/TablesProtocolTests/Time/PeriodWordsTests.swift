import Testing

@testable import TablesProtocol

@Suite struct PeriodWordsTests {
    /// One hour ahead of UTC, two in summer, as in 2026.
    static let paris = TimeZoneRules("Europe/Paris") { instant in
        "2026-03-29T01:00:00.000Z" <= instant.text && instant.text < "2026-10-25T01:00:00.000Z"
            ? 7200 : 3600
    }

    /// Saturday, 28 November 2026, 12:30 in Paris.
    static let now = "2026-11-28T11:30:00Z"

    private func period(
        _ text: String, now: String = now, in zone: TimeZoneRules = paris
    ) throws -> [String?] {
        let words = PeriodWords(now: try #require(Instant(iso: now)), zone: zone)
        let period = try words.period(text)
        return [period.from?.text, period.to?.text]
    }

    @Test(arguments: [
        ("today", "2026-11-27", "2026-11-28"), (" YESTERDAY ", "2026-11-26", "2026-11-27"),
        ("last Saturday", "2026-11-20", "2026-11-21"), ("last fri", "2026-11-26", "2026-11-27"),
        ("last  sunday", "2026-11-21", "2026-11-22"), ("Last Tue", "2026-11-23", "2026-11-24"),
        ("2026-11-24", "2026-11-23", "2026-11-24"), ("2028-02-29", "2028-02-28", "2028-02-29"),
    ])
    func `a day begins and ends at midnight of the place`(
        text: String, before: String, last: String
    ) throws {
        #expect(
            try period(text) == ["\(before)T23:00:00.000Z", "\(last)T23:00:00.000Z"])
    }

    @Test(
        arguments: [
            ("2026-11-27 14:30", "2026-11-27T13:30:00.000Z", "2026-11-27T13:31:00.000Z"),
            ("2026-11-27T14:30:05", "2026-11-27T13:30:05.000Z", "2026-11-27T13:30:06.000Z"),
            ("2026-11-24t08:00:00z", "2026-11-24T08:00:00.000Z", "2026-11-24T08:00:00.000Z"),
            ("2026-11-24T08:00+02:00", "2026-11-24T06:00:00.000Z", "2026-11-24T06:00:00.000Z"),
            ("7d", "2026-11-21T11:30:00.000Z", nil), ("36H", "2026-11-26T23:30:00.000Z", nil),
            ("90m", "2026-11-28T10:00:00.000Z", nil), ("999999d", "0001-01-01T00:00:00.000Z", nil),
        ] as [(String, String?, String?)])
    func `a time is the place's unless it has a zone, and the last days end now`(
        text: String, from: String?, to: String?
    ) throws {
        #expect(try period(text) == [from, to])
    }

    @Test func `a day on which the clocks change has 23 or 25 hours`() throws {
        #expect(
            try period("2026-03-29") == ["2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"])
        #expect(
            try period("2026-10-25") == ["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"])
        #expect(try period("2026-03-30 20:00").first == "2026-03-30T18:00:00.000Z")
        // The clocks go from 2:00 to 3:00, and from 3:00 back to 2:00.
        #expect(try period("2026-03-29 02:30").first == "2026-03-29T01:30:00.000Z")
        #expect(try period("2026-10-25 02:30").first == "2026-10-25T00:30:00.000Z")
        // A place whose clocks go forward at midnight: the day begins at 1:00.
        let forward = TimeZoneRules("There") {
            $0.text < "2026-11-25T03:00:00.000Z" ? -10_800 : -7200
        }
        #expect(
            try period("2026-11-25", in: forward)
                == ["2026-11-25T03:00:00.000Z", "2026-11-26T02:00:00.000Z"])
    }

    @Test func `the day is that of the place`() throws {
        let night = "2026-11-28T23:30:00Z"
        #expect(try period("today", now: night).first == "2026-11-28T23:00:00.000Z")
        #expect(try period("today", now: night, in: .utc).first == "2026-11-28T00:00:00.000Z")
    }

    @Test func `an end has all of its day, and for the last days it is when they begin`() throws {
        let words = PeriodWords(now: try #require(Instant(iso: Self.now)), zone: .utc)
        #expect(try words.end("last monday")?.text == "2026-11-24T00:00:00.000Z")
        #expect(try words.end("1d")?.text == "2026-11-27T11:30:00.000Z")
    }

    @Test(arguments: [
        "", "lst tusday", "last", "last tu", "last days", "tomorrow", "24 Nov", "2026-02-30",
        "24/11/2026", "9999-12-31", "2026-11-24 25:00", "2026-11-24 14:60", "d", "-1d", "+1d",
        "1.5h",
        "7 d", "99999999d", "7w", "/Date(0)/", "2026-11-24 2026-11-25",
    ])
    func `other words are an error that says what is understood`(text: String) throws {
        let words = PeriodWords(now: try #require(Instant(iso: Self.now)), zone: .utc)
        let problem = #expect(throws: PeriodWords.Misunderstood.self) { try words.period(text) }
        #expect(
            problem?.sentence == "is not understood: \"\(text)\". \(PeriodWords.understood)")
    }
}
