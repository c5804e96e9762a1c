import Testing

@testable import TablesProtocol

@Suite struct ColumnsTests {
    @Test func `keeps order, number text and escapes`() throws {
        let text =
            "{\"z\":1.10,\"a\":9007199254740993,\"\u{E9}\":\"\\u00e9\",\"n\":1e400,\"o\":{ \"x\" : 1 }}"
        let columns = try Columns(parsing: text)
        #expect(columns.text == text)
        #expect(columns.names == ["z", "a", "\u{E9}", "n", "o"])
        #expect(columns["z"]?.text == "1.10")
        #expect(columns["a"]?.text == "9007199254740993")
        #expect(columns["\u{E9}"]?.text == "\"\\u00e9\"")
        #expect(columns["e\u{301}"] == nil)
    }

    @Test func `white space is removed between columns and kept inside values`() throws {
        let columns = try Columns(parsing: "\n{ \"a\" : [ 1 ] ,\t\"b\":2 } ")
        #expect(columns.text == "{\"a\":[ 1 ],\"b\":2}")
    }

    @Test func `setting a column keeps its position, removing closes the gap`() throws {
        var columns = try Columns(parsing: "{\"a\":1,\"b\":2,\"c\":3}")
        columns["b"] = .string("x")
        columns["d"] = .null
        columns["a"] = nil
        columns["nothing"] = nil
        #expect(columns.text == "{\"b\":\"x\",\"c\":3,\"d\":null}")
        var stored = Columns(stored: "{\"a\":1, \"b\":2}")
        #expect(stored.text == "{\"a\":1, \"b\":2}")
        stored["b"] = nil
        #expect(stored.text == "{\"a\":1}")
        #expect(Columns().isEmpty && Columns(stored: "{}").isEmpty)
        #expect(Columns().text == "{}")
    }

    @Test(arguments: [
        ("{}", "{}", []), ("{\"a\":1}", "{\"a\":1.0}", []), ("{\"a\":2}", "{\"a\":1}", ["a"]),
        ("{\"b\":1,\"a\":1}", "{\"a\":1,\"b\":1}", []), ("{\"a\":null}", "{}", []),
        ("{}", "{\"a\":null}", []), ("{}", "{\"a\":1}", ["a"]), ("{\"a\":1}", "{}", ["a"]),
        ("{\"x\":1,\"a\":2}", "{\"b\":3,\"x\":1}", ["a", "b"]),
    ])
    func `lists the changed columns`(mine: String, base: String, names: [String]) throws {
        let changed = try Columns(parsing: mine).changedNames(from: Columns(parsing: base))
        #expect(changed == names)
    }

    @Test(arguments: [
        ("{}", "{}", []), ("{\"a\":1}", "{\"a\":1.0}", []), ("{\"a\":2}", "{\"a\":1}", ["a"]),
        ("{\"a\":null}", "{}", []), ("{}", "{\"a\":1}", ["a"]),
        ("{\"d\":\"2025-12-31T22:00:00Z\"}", "{\"d\":\"2025-12-31T22:00:00.000Z\"}", []),
        (
            "{\"d\":\"2026-01-01T00:00:00+02:00\",\"a\":1}",
            "{\"a\":1.0,\"d\":\"2025-12-31T22:00:00Z\"}", ["d"]
        ),
    ])
    func `lists the columns that a write changes`(
        mine: String, base: String, names: [String]
    ) throws {
        let written = try Columns(parsing: mine).writtenNames(from: Columns(parsing: base))
        #expect(written == names)
    }

    @Test func `merges changes`() throws {
        var columns = try Columns(parsing: "{\"a\":1,\"b\":2}")
        columns.merge(try Columns(parsing: "{\"c\":3,\"a\":null}"))
        #expect(columns.text == "{\"a\":null,\"b\":2,\"c\":3}")
    }

    @Test(arguments: [
        ("[]", JSONError.Reason.notAnObject, 0), (" 1", .notAnObject, 1),
        ("{\"a\":1,\"a\":2}", .duplicateName("a"), 7), ("{\"a\":1}x", .trailingBytes, 7),
        ("{\"a\":tru}", .unexpectedByte(0x7D), 8), ("{", .unexpectedEnd, 1),
        ("", .unexpectedEnd, 0), ("{\"a\":\"\\udc00\"}", .loneSurrogate, 6),
    ])
    func `refuses anything but one object`(text: String, reason: JSONError.Reason, position: Int) {
        #expect(throws: JSONError(reason, at: position)) { try Columns(parsing: text) }
    }

    @Test func `a huge object is cut in linear time`() throws {
        let members = (0..<50_000).map { "\"n\($0)\":\($0)" }.joined(separator: ",")
        let columns = try Columns(parsing: "{\(members)}")
        #expect(columns.names.count == 50_000)
        #expect(columns.text == "{\(members)}")
    }
}
