import Testing

@testable import TablesProtocol

@Suite struct JSONPatchTests {
    private func body(_ patch: String, _ generation: Generation = .datasync) throws -> ItemBody {
        try ItemBody.parse(patch: Array(patch.utf8), generation: generation)
    }

    @Test func `changes are columns in order, with unchanged values`() throws {
        let body = try body(
            """
            [{"op":"replace","path":"/n","value":1.10},
             {"op":"add","path":"/big","value":9007199254740993},
             {"op":"remove","path":"/gone"},
             {"op":"replace","path":"/nested","value":{ "b":[1, 2.0],"a":"\\u00e9" }},
             {"op":"replace","path":"/when","value":"2014-03-01T08:00:00.1200000+01:00"}]
            """)
        #expect(
            body
                == ItemBody(
                    columns: try Columns(
                        parsing: #"{"n":1.10,"big":9007199254740993,"gone":null,"#
                            + #""nested":{ "b":[1, 2.0],"a":"\u00e9" },"#
                            + #""when":"2014-03-01T08:00:00.1200000+01:00"}"#)))
    }

    @Test func `the server's own members are distinguished from columns`() throws {
        let sent = try body(
            """
            [{"op":"test","path":"/version","value":"t"},
             {"op":"replace","path":"/version","value":"v"},
             {"op":"replace","path":"/updatedAt","value":"2014-03-02T08:00:00.000Z"},
             {"op":"replace","path":"/Deleted","value":true},
             {"op":"replace","path":"/id","value":"a"}]
            """)
        #expect(
            sent
                == ItemBody(
                    id: try ItemID("a"), columns: Columns(),
                    stated: ItemBody.Stated(version: "v", updatedAt: WireSample.updated),
                    deleted: true, tests: [Columns.Column("version", .string("t"))]))
        let second = try body(#"[{"op":"add","path":"/version","value":"v"}]"#, .mobileApps)
        #expect(second.version == "v" && second.stated == ItemBody.Stated())
    }

    @Test(arguments: [
        ("/a~1b~0c", "a/b~c"), ("/~01", "~1"), ("a", "a"), ("/ä ö", "ä ö"), ("/0", "0"),
        ("/a%2Fb", "a%2Fb"),
    ])
    func `a path names one member`(path: String, name: String) throws {
        #expect(
            try body(#"[{"op":"add","path":"\#(path)","value":1}]"#).columns.names == [name])
    }

    @Test func `names of operations and of their members are read in any case`() throws {
        let sent = try body(#"[{"Op":"Replace","Path":"/a","Value":1,"From":null}]"#)
        #expect(sent.columns.text == #"{"a":1}"#)
    }

    @Test func `several spellings of a member are one member, and the last value counts`() throws {
        let sent = try body(
            """
            [{"op":"test","path":"/A","value":0},{"op":"replace","path":"/a","value":1},
             {"op":"test","path":"/A","value":1},{"op":"replace","path":"/A","value":2},
             {"op":"replace","path":"/ID","value":"x"}]
            """)
        #expect(
            sent
                == ItemBody(
                    id: try ItemID("x"), columns: try Columns(parsing: #"{"a":2}"#),
                    tests: [Columns.Column("A", .integer(0))]))
    }

    @Test func `operations apply in order`() throws {
        let sent = try body(
            """
            [{"op":"test","path":"/a","value":1},{"op":"replace","path":"/a","value":2},
             {"op":"test","path":"/a","value":2.0},{"op":"replace","path":"/b","value":1},
             {"op":"replace","path":"/a","value":3},{"op":"remove","path":"/b"}]
            """)
        #expect(sent.columns.text == #"{"a":3,"b":null}"#)
        #expect(sent.tests == [Columns.Column("a", .integer(1))])
        #expect(
            throws: TablesError.badRequest(
                "The JSON Patch sets 'a' and then tests it for another value.")
        ) {
            try body(
                #"[{"op":"add","path":"/a","value":2},{"op":"test","path":"/a","value":1}]"#)
        }
    }

    private static let notOne = "is not one of add, replace, remove and test."

    @Test(arguments: [
        ("{}", "A JSON Patch is a list of operations."),
        ("null", "A JSON Patch is a list of operations."),
        ("[1]", "Operation 0 of the JSON Patch: it is no object, or has a member twice."),
        (
            #"[{"op":"remove","path":"/a"},{"op":"add","op":"test","path":"/a","value":1}]"#,
            "Operation 1 of the JSON Patch: it is no object, or has a member twice."
        ),
        (
            #"[{"path":"/a","value":1}]"#,
            "Operation 0 of the JSON Patch: 'op' and 'path' must be strings."
        ),
        (
            #"[{"op":"move","path":"/a","from":"/b"}]"#,
            "Operation 0 of the JSON Patch: 'move' \(notOne)"
        ),
        (
            #"[{"op":"copy","path":"/a","from":"/b"}]"#,
            "Operation 0 of the JSON Patch: 'copy' \(notOne)"
        ),
        (
            #"[{"op":"add","path":"/a"}]"#, "Operation 0 of the JSON Patch: it has no value."
        ),
        (
            #"[{"op":"add","path":"/a/b","value":1}]"#,
            "Operation 0 of the JSON Patch: the path '/a/b' does not name a member of the item."
        ),
        (
            #"[{"op":"add","path":"","value":1}]"#,
            "Operation 0 of the JSON Patch: the path '' does not name a member of the item."
        ),
        (
            #"[{"op":"add","path":"/a~2","value":1}]"#,
            "Operation 0 of the JSON Patch: the path '/a~2' has a '~' without 0 or 1."
        ),
    ])
    func `an invalid patch is refused with its position`(patch: String, sentence: String) {
        #expect(throws: TablesError.badRequest(sentence)) { try body(patch) }
    }

    @Test func `malformed JSON is refused with its position, and too many operations are refused`()
    {
        #expect(throws: TablesError.malformedJSON(JSONError(.unexpectedByte(0x2C), at: 1))) {
            try body("[,]")
        }
        let many = Array(
            repeating: #"{"op":"remove","path":"/a"}"#, count: Limits.patchOperations + 1)
        #expect(throws: TablesError.badRequest("A JSON Patch has at most 1000 operations.")) {
            try body("[\(many.joined(separator: ","))]")
        }
    }
}
