import HTTPTypes
import Testing

@testable import TablesProtocol

@Suite struct ItemBodyTests {
    private func parse(_ text: String, _ generation: Generation) throws -> ItemBody {
        try ItemBody.parse(Array(text.utf8), generation: generation)
    }

    @Test(arguments: [
        (Generation.mobileServices, nil, nil), (.mobileApps, "v", nil), (.datasync, nil, true),
    ])
    func `extracts system properties`(generation: Generation, version: String?, deleted: Bool?)
        throws
    {
        let prefix = generation == .mobileServices ? "__" : ""
        let created = generation == .datasync ? "" : "\"\(prefix)createdAt\":\"x\","
        let body = try parse(
            "{\"id\":\"a\",\(created)\"text\":\"t\",\"\(prefix)updatedAt\":null,"
                + "\"\(prefix)VERSION\":\"v\",\"\(prefix)deleted\":true,\"n\":1.10}", generation)
        #expect(body.id?.text == "a")
        #expect(body.columns.text == "{\"text\":\"t\",\"n\":1.10}")
        #expect(body.version == version)
        #expect(body.deleted == deleted)
    }

    @Test func `system property names of another generation are user columns`() throws {
        #expect(
            try parse("{\"version\":1,\"deleted\":\"x\"}", .mobileServices).columns.names == [
                "version", "deleted",
            ])
        #expect(try parse("{\"__version\":1}", .mobileApps).columns.names == ["__version"])
        #expect(try parse("{\"createdAt\":1}", .datasync).columns.names == ["createdAt"])
        #expect(throws: TablesError.reservedProperty("__x")) {
            try parse("{\"__x\":1}", .mobileServices)
        }
        #expect(try parse("{\"__x\":1}", .mobileApps).columns.names == ["__x"])
    }

    @Test(arguments: [
        ("{}", nil), ("{\"id\":null}", nil), ("{\"id\":\"\"}", nil), ("{\"id\":0}", nil),
        ("{\"id\":77}", "77"), ("{\"id\":7.7e1}", "77"), ("{\"id\":\"a\\u0062\"}", "ab"),
    ])
    func `finds the id`(text: String, id: String?) throws {
        #expect(try parse(text, .mobileApps).id?.text == id)
    }

    @Test(arguments: [
        (#"{"text":"one","TEXT":"two"}"#, "'text' and 'TEXT'"),
        (#"{"id":"a","n":1,"ID":"b"}"#, "'id' and 'ID'"),
        (#"{"version":"AA","VERSION":null}"#, "'version' and 'VERSION'"),
        (#"{"\u00c9":1,"x":2,"\u00e9":3}"#, "'\u{C9}' and '\u{E9}'"),
    ])
    func `refuses two spellings of one property`(text: String, names: String) {
        for generation in [Generation.mobileApps, .datasync] {
            #expect(
                throws: TablesError.badRequest("\(names) are one property. Send it once.")
            ) {
                try parse(text, generation)
            }
        }
        #expect(throws: TablesError.self) { try parse(text, .mobileServices) }
    }

    @Test func `names that differ in bytes are two columns`() throws {
        let text = "{\"\u{E9}\":1,\"e\u{301}\":2}"
        let body = try parse(text, .mobileApps)
        #expect(body == ItemBody(columns: try Columns(parsing: text)))
        #expect(body.columns.all.count == 2)
    }

    @Test(arguments: [
        "{\"id\":true}", "{\"id\":1.5}", "{\"id\":[]}", "{\"id\":\"a/b\"}", "{\"id\":{}}",
    ])
    func `refuses other ids`(text: String) {
        #expect { try parse(text, .mobileApps) } throws: {
            if case .invalidID? = $0 as? TablesError { true } else { false }
        }
    }

    @Test func `the first generation refuses the id in another case, later ones take it`() throws {
        for name in ["ID", "Id", "iD"] {
            let text = "{\"\(name)\":\"a\"}"
            #expect(
                throws: TablesError.badRequest(
                    "Item identifiers can only be specified via the 'id' property.")
            ) {
                try parse(text, .mobileServices)
            }
            let id = ItemBody(id: try ItemID("a"), columns: Columns())
            #expect(try parse(text, .mobileApps) == id)
            #expect(try parse(text, .datasync) == id)
        }
    }

    @Test func `refuses a body that is no object`() {
        #expect(throws: TablesError.notAnObject) { try parse("[{}]", .mobileApps) }
        #expect(throws: TablesError.malformedJSON(JSONError(.unexpectedEnd, at: 0))) {
            try parse("", .mobileApps)
        }
        #expect(throws: TablesError.malformedJSON(JSONError(.unexpectedByte(0x2C), at: 11))) {
            try parse("{\"id\":\"a6\",,}", .mobileApps)
        }
    }
}
