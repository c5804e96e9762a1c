import Testing

@testable import TablesProtocol

@Suite struct JSONParsingTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "-0.0", "1.10", "9007199254740993", "1e400", "1E+2",
        "-12.5e-3", "\"\"", "\"a\\u0000b\"", "\"\\ud83d\\ude00\"", "\"😀é\u{7F}\"", "[]", "{}",
        "[1,\"2\",[3]]", "{\"b\":1,\"a\":{\"c\":null}}", " \t\r\n{ \"a\" : [ ] } \n",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\uD834\\uDD1E\"",
    ])
    func `accepts what RFC 8259 accepts`(text: String) throws {
        let kept = try JSONText(validating: text)
        #expect(
            kept.text == text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                || kept.text == text)
        #expect(try JSONValue(parsing: text) == kept.value)
    }

    @Test(arguments: [
        ("", JSONError.Reason.unexpectedEnd, 0), (" ", .unexpectedEnd, 1),
        ("nul", .unexpectedEnd, 3), ("nulL", .unexpectedByte(0x4C), 3),
        ("01", .badNumber, 0), ("-", .badNumber, 0), ("1.", .badNumber, 0),
        ("-a", .badNumber, 0), (".5", .unexpectedByte(0x2E), 0), ("+1", .unexpectedByte(0x2B), 0),
        ("1e", .badNumber, 0), ("1e+", .badNumber, 0), ("0x1", .trailingBytes, 1),
        ("NaN", .unexpectedByte(0x4E), 0), ("'a'", .unexpectedByte(0x27), 0),
        ("\"a", .unexpectedEnd, 2), ("\"\\x\"", .badEscape, 1), ("\"\\u12G4\"", .badEscape, 1),
        ("\"\\ud83d\"", .loneSurrogate, 1), ("\"\\ude00\"", .loneSurrogate, 1),
        ("\"\\ud83d\\u0041\"", .loneSurrogate, 1), ("\"\\ud83dx\"", .loneSurrogate, 1),
        ("\"a\nb\"", .controlCharacter, 2), ("\"\u{0}\"", .controlCharacter, 1),
        ("[1,]", .unexpectedByte(0x5D), 3), ("[1 2]", .unexpectedByte(0x32), 3),
        ("{\"a\":1,}", .unexpectedByte(0x7D), 7), ("{a:1}", .unexpectedByte(0x61), 1),
        ("{\"a\" 1}", .unexpectedByte(0x31), 5), ("{\"a\":1", .unexpectedEnd, 6),
        ("1 2", .trailingBytes, 2), ("{}}", .trailingBytes, 2),
        ("[//\n]", .unexpectedByte(0x2F), 1),
        ("\u{FEFF}{}", .byteOrderMark, 0),
    ])
    func `refuses invalid JSON and names the byte`(
        text: String, reason: JSONError.Reason, position: Int
    ) {
        #expect(throws: JSONError(reason, at: position)) { try JSONText(validating: text) }
        #expect(throws: JSONError(reason, at: position)) { try JSONValue(parsing: text) }
    }

    @Test(arguments: [
        "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "[{\"b\":{\"a\":1,\"a\":1}}]",
    ])
    func `a tree with a repeated name is refused`(text: String) throws {
        #expect { try JSONValue(parsing: text) } throws: {
            ($0 as? JSONError)?.reason == .duplicateName("a")
        }
        #expect(try JSONText(validating: text).text == text)
    }

    @Test func `names that differ in code points are two names`() throws {
        let value = try JSONValue(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(value["\u{E9}"]?.integer == 1)
        #expect(value["e\u{301}"]?.integer == 2)
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        for bytes: [UInt8] in [
            [0x22, 0xFF, 0x22], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
        ] {
            #expect { try JSONText(validating: bytes) } throws: {
                ($0 as? JSONError)?.reason == .badUTF8
            }
            #expect { try JSONValue(parsing: bytes) } throws: {
                ($0 as? JSONError)?.reason == .badUTF8
            }
        }
    }

    @Test func `nesting beyond the limit is refused`() throws {
        let fits =
            String(repeating: "[", count: Limits.jsonDepth)
            + String(repeating: "]", count: Limits.jsonDepth)
        #expect(try JSONText(validating: fits).text == fits)
        let deep = JSONError(.tooDeep(limit: Limits.jsonDepth), at: Limits.jsonDepth)
        #expect(throws: deep) { try JSONText(validating: "[" + fits + "]") }
        #expect(throws: deep) { try JSONValue(parsing: String(repeating: "[", count: 1_000_000)) }
    }

    private func elements(_ text: String) -> [String]? {
        JSONRows(Array(text.utf8), named: [])?.rows.map {
            String(decoding: $0.bytes, as: UTF8.self)
        }
    }

    @Test func `splits an array into its elements`() throws {
        let text = #" [ 1.10 , {"a": [1]},"]\\\"," ] "#
        #expect(elements(text) == ["1.10", #"{"a": [1]}"#, #""]\\\",""#])
        #expect(elements("[]") == [])
        for text in ["{}", "[1,]", "[,1]", "[1]x", "[1", "", "[{]", #"["a]"#, "[[1]", "]["] {
            #expect(elements(text) == nil, "\(text)")
        }
    }

    @Test func `an invalid element does not affect the others`() throws {
        let deep = String(repeating: "[", count: 90) + String(repeating: "]", count: 90)
        let odd = #"{"id":"a","id":"b"}"#
        #expect(
            elements(#"["\ud800",\#(deep),\#(odd),x,1]"#) == [#""\ud800""#, deep, odd, "x", "1"])
    }

    @Test func `reads a list and what is beside it in one pass`() throws {
        let body =
            #"{"count":2,"items":[{"id":"a","n":1.10} , {"id":"b"} x],"nextLink":null,"count":3}"#
        let list = try #require(JSONRows(Array(body.utf8), named: ["items", "results"]))
        #expect(list.name == "items")
        #expect(list.rows.map(\.columns?.text) == [#"{"id":"a","n":1.10}"#, nil])
        #expect(
            list.rows.map { String(decoding: $0.bytes, as: UTF8.self) }
                == [#"{"id":"a","n":1.10}"#, #"{"id":"b"} x"#])
        let others = list.others.mapValues { String(decoding: $0, as: UTF8.self) }
        #expect(others == ["count": "3", "nextLink": "null"])
        // The first of the names counts, and its last value.
        let two = #"{"results":[{"id":"r"}],"items":7,"items":[]}"#
        let first = try #require(JSONRows(Array(two.utf8), named: ["items", "results"]))
        #expect(first.name == "items" && first.rows.isEmpty)
        for text in [#"{"items":7,"results":[]}"#, "{}", #"{"items":[]"#, #"{"items":[]}]"#, "7"] {
            #expect(JSONRows(Array(text.utf8), named: ["items", "results"]) == nil, "\(text)")
        }
    }

    @Test func `splits an object into its members`() throws {
        let text = #"{ "a" : [1, 2] ,"b\u0063":{"d":","}, "a":3}"#
        let members = try #require(JSONCutter.members(ofObject: Array(text.utf8)[...]))
        #expect(members.map(\.name) == ["a", "bc", "a"])
        #expect(
            members.map { String(decoding: $0.value, as: UTF8.self) }
                == ["[1, 2]", #"{"d":","}"#, "3"])
        let odd = #"{"\ud800":1,"id":"b"}"#
        #expect(JSONCutter.members(ofObject: Array(odd.utf8)[...])?.map(\.name) == ["id"])
        for text in ["[]", "{1:2}", #"{"a"}"#, #"{"a":1,}"#, #"{"a":1"#] {
            #expect(JSONCutter.members(ofObject: Array(text.utf8)[...]) == nil, "\(text)")
        }
    }
}
