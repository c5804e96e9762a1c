import HTTPMessage
import Testing

struct MediaTypeTests {
    @Test(arguments: [
        ("application/json", true), ("Application/JSON; charset=utf-8", true),
        (" application/json\t;a=b", true), ("application/vnd.app+json", true),
        ("application/+json", false), ("+json", false), ("text/json", false),
        ("text/x+json", false), ("application/jsonx", false),
        ("text/plain; application/json", false), ("", false), (";", false),
    ])
    func `JSON is application/json and the types based on it`(field: String, isJSON: Bool) {
        #expect(MediaType(field).isJSON == isJSON)
    }

    @Test func `the name has neither parameters nor blanks nor capitals`() {
        let type = MediaType(#" Text/HTML ; Charset="UTF-8"; a=b; charset = latin1;charset"#)
        #expect(type.name == "text/html")
        #expect(type.charsets == [#""utf-8""#, "latin1"])
    }
}
