import Testing

@testable import TablesProtocol

@Suite struct JSONSamenessTests {
    @Test(arguments: [
        ("1.10", "1.1"), ("1.10", "11e-1"), ("100", "1e2"), ("0", "-0.0e7"), ("1e400", "10e399"),
        ("0.001", "1E-3"), ("1e99999999999999999999", "1e+99999999999999999999"),
        ("\"2014-03-01T08:00:00.120Z\"", "\"2014-03-01T09:00:00.1200000+01:00\""),
        ("\"a\"", "\"\\u0061\""), ("{\"a\":1,\"b\":[1.0]}", "{ \"b\":[1], \"a\":1.00 }"),
        ("null", "null"), ("[ ]", "[]"),
    ])
    func `equal values`(left: String, right: String) throws {
        #expect(try JSONText(validating: left).isSame(as: JSONText(validating: right)))
        #expect(try JSONText(validating: right).isSame(as: JSONText(validating: left)))
    }

    @Test(arguments: [
        ("9007199254740993", "9007199254740992"), ("1e400", "1e401"), ("1", "-1"), ("1", "\"1\""),
        ("0.1", "0.10000000000000000000000001"),
        ("1e99999999999999999999", "1e99999999999999999998"),
        ("\"2014-03-01T08:00:00.120Z\"", "\"2014-03-01T08:00:00.121Z\""),
        ("\"2014-03-01\"", "\"2014-03-01T00:00:00Z\""), ("\"\u{E9}\"", "\"e\u{301}\""),
        ("null", "false"), ("[1,2]", "[2,1]"), ("{\"a\":1}", "{\"A\":1}"), ("{}", "{\"a\":null}"),
        ("1e99999999999999999999", "-1e99999999999999999999"), ("[]", "{}"), ("[1]", "[1,1]"),
    ])
    func `unequal values`(left: String, right: String) throws {
        #expect(try !JSONText(validating: left).isSame(as: JSONText(validating: right)))
        #expect(try !JSONText(validating: right).isSame(as: JSONText(validating: left)))
    }

    /// Two dates of one instant, and whether they are the same in digits and offset too.
    @Test(arguments: [
        ("2025-12-31T22:00:00Z", "2025-12-31T22:00:00.000Z", true),
        ("2025-12-31T22:00:00.12Z", "2025-12-31T22:00:00.1200000000Z", true),
        ("2025-12-31T22:00:00.000Z", "2025-12-31T22:00:00+00:00", true),
        ("2026-01-01T00:00:00.0+02:00", "2026-01-01T00:00:00+02:00", true),
        ("2025-12-31T22:00:00.000Z", "2026-01-01T00:00:00.000+02:00", false),
        ("2025-12-31T21:00:00-01:00", "2026-01-01T00:00:00+02:00", false),
        ("2025-12-31T22:00:00.000Z", "2025-12-31T22:00:00.00000001Z", false),
        ("2025-12-31T22:00:00.12345671Z", "2025-12-31T22:00:00.12345672Z", false),
    ])
    func `dates of one instant differ in offset or digits`(
        left: String, right: String, isSame: Bool
    ) throws {
        for (one, other) in [(left, right), (right, left)] {
            let (one, other) = (JSONText.string(one), JSONText.string(other))
            #expect(one.isSame(as: other))
            #expect(one.isSame(as: other, dates: .digitsAndOffset) == isSame)
            let (list, otherList) = (
                try JSONText(validating: "[{\"a\":\(one.text)}]"),
                try JSONText(validating: "[{\"a\":\(other.text)}]")
            )
            #expect(list.isSame(as: otherList, dates: .digitsAndOffset) == isSame)
        }
    }

    @Test func `equal numbers have equal hashes`() throws {
        let numbers = Set(["1.10", "1.1", "11e-1", "0.11e1"].compactMap(JSONNumber.init))
        #expect(numbers.count == 1)
        #expect(JSONNumber("1.") == nil)
        #expect(JSONNumber("12e1")?.integer == 120)
        #expect(JSONNumber("9223372036854775807")?.integer == .max)
        #expect(JSONNumber("9223372036854775808")?.integer == nil)
        #expect(JSONNumber("1.5")?.integer == nil)
    }

    @Test func `makes text of values`() {
        #expect(JSONText.string("a\"\\\n\u{1}/é😀").text == "\"a\\\"\\\\\\n\\u0001/é😀\"")
        #expect(JSONText.bool(true).text == "true")
        #expect(JSONText.integer(-5).text == "-5")
        #expect(JSONText.null.isNull)
        #expect(JSONText.string("x").string == "x")
        #expect(JSONText.integer(1).string == nil)
    }
}
