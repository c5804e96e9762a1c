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
        "{\"id\":true}", "{\"id\":1.5}", "{\"id\":[]}", "{\"id\":\"a/b\"}", "{\"id\":{}}",
    ])
    func `refuses other ids`(text: String) {
        #expect { try parse(text, .mobileApps) } throws: {
            if case .invalidID? = $0 as? TablesError { true } else { false }
        }
    }

    @Test func `refuses the id in another case, and a body that is no object`() {
        for name in ["ID", "Id", "iD"] {
            #expect { try parse("{\"\(name)\":\"a\"}", .datasync) } throws: {
                ($0 as? TablesError)?.status(in: .datasync).code == 400
            }
        }
        #expect(throws: TablesError.notAnObject) { try parse("[{}]", .mobileApps) }
        #expect(throws: TablesError.malformedJSON(JSONError(.unexpectedEnd, at: 0))) {
            try parse("", .mobileApps)
        }
        #expect(throws: TablesError.malformedJSON(JSONError(.unexpectedByte(0x2C), at: 11))) {
            try parse("{\"id\":\"a6\",,}", .mobileApps)
        }
    }
}
