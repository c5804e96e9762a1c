import Testing

@testable import TablesProtocol

@Suite struct InstantTests {
    @Test(arguments: [
        ("2014-03-01T08:00:00.120Z", "2014-03-01T08:00:00.120Z"),
        ("2014-03-01T08:00:00Z", "2014-03-01T08:00:00.000Z"),
        ("2014-03-01T08:00:00.12Z", "2014-03-01T08:00:00.120Z"),
        ("2014-03-01T08:00:00.1Z", "2014-03-01T08:00:00.100Z"),
        ("2013-01-01T00:00:00.0000000+00:00", "2013-01-01T00:00:00.000Z"),
        ("2013-01-01T00:00:00.1239999999-05:30", "2013-01-01T05:30:00.123Z"),
        ("2013-01-01T00:00:00+0200", "2012-12-31T22:00:00.000Z"),
        ("2013-01-01T00:00:00+02", "2012-12-31T22:00:00.000Z"),
        ("2013-01-01T00:00Z", "2013-01-01T00:00:00.000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999Z"),
        ("2000-02-29T12:00:00Z", "2000-02-29T12:00:00.000Z"),
        ("1900-02-28T23:59:59.999Z", "1900-02-28T23:59:59.999Z"),
    ])
    func `reads dates with a zone`(text: String, canonical: String) throws {
        #expect(Instant(iso: text)?.text == canonical)
        #expect(Instant(parsing: text)?.text == canonical)
    }

    @Test(arguments: [
        ("2014-03-01T08:00:00.120", "2014-03-01T08:00:00.120Z"),
        ("2014-03-01 08:00:00", "2014-03-01T08:00:00.000Z"),
        ("2023-12-15", "2023-12-15T00:00:00.000Z"),
        ("/Date(1393660800120)/", "2014-03-01T08:00:00.120Z"),
        ("/Date(1393660800120+0100)/", "2014-03-01T08:00:00.120Z"),
        ("/Date(-1)/", "1969-12-31T23:59:59.999Z"),
    ])
    func `parses older forms on request`(text: String, canonical: String) throws {
        #expect(Instant(parsing: text)?.text == canonical)
        #expect(Instant(iso: text) == nil)
    }

    @Test(arguments: [
        "", "2014", "2014-13-01T00:00:00Z", "2014-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
        "2014-03-01T24:00:00Z", "2014-03-01T23:60:00Z", "2014-03-01T23:59:60Z",
        "2014-03-01T08:00:00.Z", "2014-03-01T08:00:00ZZ", "2014-03-01T08:00:00+15:00",
        "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
        "/Date()/", "/Date(12345678901234567890)/", "２０14-03-01T08:00:00Z", "2014-3-1T08:00:00Z",
    ])
    func `refuses a text that is no date`(text: String) {
        #expect(Instant(parsing: text) == nil)
        #expect(Instant(iso: text) == nil)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (1_393_660_800_120, "2014-03-01T08:00:00.120Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ])
    func `counts milliseconds from 1970`(milliseconds: Int64, text: String) {
        let instant = Instant(milliseconds: milliseconds)
        #expect(instant.text == text)
        #expect(instant.milliseconds == milliseconds)
        #expect(Instant(iso: text) == instant)
    }

    @Test func `rounds down and stays in range`() {
        #expect(Instant(ticks: Instant.unixEpoch - 1).milliseconds == -1)
        #expect(Instant(ticks: Instant.unixEpoch + 9_999).milliseconds == 0)
        #expect(Instant(milliseconds: .max) == .latest)
        #expect(Instant(milliseconds: .min) == .earliest)
        #expect(Instant.earliest < Instant.latest)
    }

    @Test(arguments: [
        ("1994-11-06T08:49:37.999Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("2014-03-01T08:00:00Z", "Sat, 01 Mar 2014 08:00:00 GMT"),
        ("0001-01-01T00:00:00Z", "Mon, 01 Jan 0001 00:00:00 GMT"),
    ])
    func `writes the date of HTTP`(text: String, date: String) {
        #expect(Instant(iso: text)?.httpDate == date)
        #expect(Instant(httpDate: date)?.httpDate == date)
    }

    @Test func `every day of four centuries is written and parsed back`() {
        for day in 700_000..<846_097 {
            #expect(Calendar(dayNumber: day).dayNumber == day)
        }
    }
}
