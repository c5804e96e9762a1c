import Testing

@testable import TablesProtocol

@Suite struct ConditionTests {
    @Test(
        arguments: [
            (nil, .absent, .absent, .absent), ("*", .any, .any, .any), (" * ", .any, .any, .any),
            ("\"v\"", .versions(["v"]), .versions(["v"]), .versions(["v"])),
            ("\"a\\\"b\"", .versions(["a\"b"]), .versions(["a\"b"]), .versions(["a\"b"])),
            ("v", .invalid("v"), .versions(["v"]), .absent),
            ("W/\"v\"", .invalid("W/\"v\""), .versions([]), .versions([])),
            (
                "\"a\", \"b\"", .invalid("\"a\", \"b\""), .invalid("\"a\", \"b\""),
                .versions(["a", "b"])
            ),
            (
                "\"a\",W/\"b\"", .invalid("\"a\",W/\"b\""), .invalid("\"a\",W/\"b\""),
                .versions(["a"])
            ),
            ("\"a\", *", .invalid("\"a\", *"), .invalid("\"a\", *"), .any),
            ("x, \"a\"", .invalid("x, \"a\""), .invalid("x, \"a\""), .versions(["a"])),
            ("\"", .invalid("\""), .invalid("\""), .absent),
            ("", .invalid(""), .invalid(""), .absent),
            ("\"a\" \"b\"", .invalid("\"a\" \"b\""), .invalid("\"a\" \"b\""), .absent),
            ("\"a\",", .invalid("\"a\","), .invalid("\"a\","), .versions(["a"])),
        ] as [(String?, IfMatch, IfMatch, IfMatch)])
    func `reads If-Match as each generation's servers do`(
        field: String?, first: IfMatch, second: IfMatch, third: IfMatch
    ) {
        #expect(IfMatch.parse(field, generation: .mobileServices) == first)
        #expect(IfMatch.parse(field, generation: .mobileApps) == second)
        #expect(IfMatch.parse(field, generation: .datasync) == third)
    }

    @Test func `holds for the versions it names`() {
        #expect(IfMatch.absent.accepts("v") && IfMatch.any.accepts("v"))
        #expect(IfMatch.versions(["u", "v"]).accepts("v"))
        #expect(!IfMatch.versions(["V"]).accepts("v") && !IfMatch.versions([]).accepts("v"))
        #expect(!IfMatch.invalid("x").accepts("x"))
    }

    /// The item of all cases has the versions `v` and `w` and was changed at second 1.
    static let cases: [(Conditions, Conditions.Verdict, Conditions.Verdict)] = {
        let (before, at, after) = (second(0), second(1), second(2))
        return [
            (Conditions(), .holds, .holds),
            (Conditions(ifMatch: .versions(["x", "w"])), .holds, .holds),
            (Conditions(ifMatch: .versions([])), .fails, .fails),
            (Conditions(ifMatch: .any), .holds, .holds),
            (Conditions(ifNoneMatch: .any), .known, .known),
            (Conditions(ifNoneMatch: .versions(["v"])), .known, .known),
            (Conditions(ifNoneMatch: .versions(["x"])), .holds, .holds),
            (Conditions(unmodifiedSince: before), .fails, .fails),
            (Conditions(unmodifiedSince: at), .holds, .fails),
            (Conditions(unmodifiedSince: after), .holds, .holds),
            (Conditions(modifiedSince: before), .holds, .holds),
            (Conditions(modifiedSince: at), .known, .holds),
            (Conditions(modifiedSince: after), .known, .known),
            // A date beside its field of tags does not count.
            (Conditions(ifMatch: .any, unmodifiedSince: before), .holds, .holds),
            (Conditions(ifNoneMatch: .versions(["x"]), modifiedSince: after), .holds, .holds),
            // A failed condition comes before an unmodified one.
            (Conditions(ifMatch: .versions(["x"]), ifNoneMatch: .any), .fails, .fails),
            (Conditions(ifNoneMatch: .any, unmodifiedSince: before), .fails, .fails),
            (Conditions(ifMatch: .any, modifiedSince: after), .known, .known),
        ]
    }()

    private static func second(_ number: Int64) -> Instant {
        Instant(milliseconds: number * 1000)
    }

    @Test(arguments: cases)
    func `an item is checked like each server of the third generation`(
        conditions: Conditions, datasync: Conditions.Verdict, toolkit: Conditions.Verdict
    ) {
        var conditions = conditions
        let item = (versions: ["v", "w"], changed: Self.second(1))
        #expect(conditions.verdict(versions: item.versions, changed: item.changed) == datasync)
        conditions.dateRule = .toolkit
        #expect(conditions.verdict(versions: item.versions, changed: item.changed) == toolkit)
    }

    @Test(
        arguments: [
            ("Sat, 01 Mar 2014 08:00:00 GMT", "2014-03-01T08:00:00.000Z"),
            ("Sat, 1 Mar 2014 08:00:00 UTC", "2014-03-01T08:00:00.000Z"),
            ("Saturday, 01-Mar-14 08:00:00 GMT", "2014-03-01T08:00:00.000Z"),
            ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37.000Z"),
            ("Sat Mar  1 08:00:00 2014", "2014-03-01T08:00:00.000Z"),
            ("2014-03-01T08:00:00Z", nil), ("Sat, 01 Mar 2014 08:00:00 CET", nil), ("", nil),
            ("Sat, 31 Feb 2014 08:00:00 GMT", nil), ("Sat, 01 Mär 2014 08:00:00 GMT", nil),
        ] as [(String, String?)])
    func `a date has one of the forms of HTTP`(field: String, text: String?) {
        #expect(Instant(httpDate: field)?.text == text)
    }

    @Test func `an inner quote is escaped`() {
        #expect(ETag.quote("a\"b") == "\"a\\\"b\"")
        #expect(ETag.unquote("W/\"a\"") == nil)
        #expect(ETag.unquote("a") == nil)
        #expect(ETag.unquote("\"a\"x") == nil)
    }

    @Test(arguments: [
        (nil, true), ("", true), ("application/json", true),
        ("Application/JSON; charset=UTF-8", true),
        ("application/merge-patch+json", true), ("application/json;charset=\"utf-8\"", true),
        ("application/json; odata=verbose", true), ("text/plain", false), ("text/json", false),
        ("application/json; charset=utf-16", false), ("+json", false),
        ("multipart/form-data", false),
        ("application/x-www-form-urlencoded", false),
    ])
    func `a body is JSON by its type`(type: String?, isJSON: Bool) {
        #expect(ContentType.isJSON(type) == isJSON)
    }
}
