import Testing

@testable import TablesProtocol

@Suite struct ConditionTests {
    @Test(
        arguments: [
            (nil, .absent, .absent, .absent), ("*", .any, .any, .any), (" * ", .any, .any, .any),
            ("\"v\"", .versions(["v"]), .versions(["v"]), .versions(["v"])),
            ("\"a\\\"b\"", .versions(["a\"b"]), .versions(["a\"b"]), .versions(["a\"b"])),
            ("v", .invalid("v"), .versions(["v"]), .versions(["v"])),
            ("W/\"v\"", .invalid("W/\"v\""), .versions([]), .versions([])),
            (
                "\"a\", \"b\"", .invalid("\"a\", \"b\""), .invalid("\"a\", \"b\""),
                .versions(["a", "b"])
            ),
            (
                "\"a\",W/\"b\"", .invalid("\"a\",W/\"b\""), .invalid("\"a\",W/\"b\""),
                .versions(["a"])
            ),
            ("\"", .invalid("\""), .invalid("\""), .invalid("\"")),
            ("", .invalid(""), .invalid(""), .invalid("")),
            (
                "\"a\" \"b\"", .invalid("\"a\" \"b\""), .invalid("\"a\" \"b\""),
                .invalid("\"a\" \"b\"")
            ),
            ("\"a\",", .invalid("\"a\","), .invalid("\"a\","), .invalid("\"a\",")),
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

    @Test(arguments: ["AAAAAAAAB9E=", "", "a\"b", "\"", "é"])
    func `a tag gives its version back`(version: String) {
        #expect(ETag.unquote(ETag.quote(version)) == version)
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
