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

    /// Midnight in Paris in winter.
    private func midnight(_ day: String) -> String { "\(day)T23:00:00.000Z" }

    @Test(arguments: [
        ("today", "2026-11-27", "2026-11-28"), ("YESTERDAY", "2026-11-26", "2026-11-27"),
        ("saturday", "2026-11-27", "2026-11-28"), ("last Saturday", "2026-11-20", "2026-11-21"),
        ("last tuesday", "2026-11-23", "2026-11-24"), ("Tue", "2026-11-23", "2026-11-24"),
        ("3 days ago", "2026-11-24", "2026-11-25"), ("1 week ago", "2026-11-20", "2026-11-21"),
        ("2026-11-24", "2026-11-23", "2026-11-24"), ("24.11.2026", "2026-11-23", "2026-11-24"),
        ("24 Nov", "2026-11-23", "2026-11-24"), ("Nov. 24", "2026-11-23", "2026-11-24"),
        ("24. november, 2026", "2026-11-23", "2026-11-24"),
        ("december 31", "2025-12-30", "2025-12-31"),
        ("this week", "2026-11-22", "2026-11-29"), ("last week", "2026-11-15", "2026-11-22"),
        ("this month", "2026-10-31", "2026-11-30"), ("november", "2026-10-31", "2026-11-30"),
        ("2026-11", "2026-10-31", "2026-11-30"), ("dec 2025", "2025-11-30", "2025-12-31"),
        ("december", "2025-11-30", "2025-12-31"), ("last year", "2024-12-31", "2025-12-31"),
        ("20 nov to 24 nov", "2026-11-19", "2026-11-24"),
        ("2026-11-20 - 2026-11-24", "2026-11-19", "2026-11-24"),
        ("between monday and wednesday", "2026-11-22", "2026-11-25"),
        ("from last week until yesterday", "2026-11-15", "2026-11-27"),
    ])
    func `days and longer times begin and end at midnight of the place`(
        text: String, before: String, last: String
    ) throws {
        #expect(try period(text) == [midnight(before), midnight(last)])
    }

    @Test(
        arguments: [
            ("since monday", "2026-11-22T23:00:00.000Z", nil),
            ("after monday", "2026-11-23T23:00:00.000Z", nil),
            ("from monday", "2026-11-22T23:00:00.000Z", nil),
            ("until yesterday", nil, "2026-11-27T23:00:00.000Z"),
            ("before yesterday", nil, "2026-11-26T23:00:00.000Z"),
            ("last 2 hours", "2026-11-28T09:30:00.000Z", nil),
            ("last 90 minutes", "2026-11-28T10:00:00.000Z", nil),
            ("last 7 days", "2026-11-21T23:00:00.000Z", nil),
            ("last 2 weeks", "2026-11-14T23:00:00.000Z", nil),
            ("14:30", "2026-11-28T13:30:00.000Z", "2026-11-28T13:31:00.000Z"),
            ("yesterday 14:30:05", "2026-11-27T13:30:05.000Z", "2026-11-27T13:30:06.000Z"),
            ("yesterday 14:00 to 15:59", "2026-11-27T13:00:00.000Z", "2026-11-27T15:00:00.000Z"),
            ("since 2026-11-24T08:00:00Z", "2026-11-24T08:00:00.000Z", nil),
        ] as [(String, String?, String?)])
    func `times of day, open ends and the last hours`(text: String, from: String?, to: String?)
        throws
    {
        #expect(try period(text) == [from, to])
    }

    @Test func `a day on which the clocks change has 23 or 25 hours`() throws {
        #expect(try period("29 mar") == ["2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"])
        #expect(try period("25 oct") == ["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"])
        #expect(try period("30 mar 20:00").first == "2026-03-30T18:00:00.000Z")
        // The clocks go from 2:00 to 3:00, and from 3:00 back to 2:00.
        #expect(try period("29 mar 02:30").first == "2026-03-29T01:30:00.000Z")
        #expect(try period("25 oct 02:30").first == "2026-10-25T00:30:00.000Z")
        // A place whose clocks go forward at midnight: the day begins at 1:00.
        let forward = TimeZoneRules("There") {
            $0.text < "2026-11-25T03:00:00.000Z" ? -10_800 : -7200
        }
        #expect(
            try period("25 nov", in: forward)
                == ["2026-11-25T03:00:00.000Z", "2026-11-26T02:00:00.000Z"])
    }

    @Test func `the day is that of the place, and a leap day is found`() throws {
        let night = "2026-11-28T23:30:00Z"
        #expect(try period("today", now: night).first == "2026-11-28T23:00:00.000Z")
        #expect(try period("today", now: night, in: .utc).first == "2026-11-28T00:00:00.000Z")
        #expect(try period("29 feb", in: .utc).first == "2024-02-29T00:00:00.000Z")
    }

    @Test func `an end of a period is named alone, with all of its day`() throws {
        let words = PeriodWords(now: try #require(Instant(iso: Self.now)), zone: .utc)
        #expect(try words.beginning("monday").text == "2026-11-23T00:00:00.000Z")
        #expect(try words.end("monday").text == "2026-11-24T00:00:00.000Z")
    }

    @Test(arguments: [
        "", "lst tusday", "last", "tomorrow", "31 nov", "2026-02-30", "24/11/2026", "since", "to",
        "monday to", "last 0 days", "25:00", "yesterday 14:60", "1 2",
        "last 99999999999999999999 days",
        "99999999 days ago", "2026-11-24 2026-11-25",
    ])
    func `other words are an error that says what is understood`(text: String) throws {
        let words = PeriodWords(now: try #require(Instant(iso: Self.now)), zone: .utc)
        let problem = #expect(throws: PeriodWords.Misunderstood.self) { try words.period(text) }
        #expect(
            problem?.sentence == "is not understood: \"\(text)\". \(PeriodWords.understood)")
    }

    @Test func `a range that ends before it begins is an error`() throws {
        let words = PeriodWords(now: try #require(Instant(iso: Self.now)), zone: .utc)
        let problem = #expect(throws: PeriodWords.Misunderstood.self) {
            try words.period("yesterday to monday")
        }
        #expect(problem?.sentence == "ends before it begins: \"yesterday to monday\".")
    }
}
