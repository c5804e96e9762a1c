import Testing

@testable import HTTPMessage

struct LoggedPathTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"

    @Test(arguments: [
        ("/", "/"), ("", "/"), ("/?a=b", "/"),
        ("/tables/todoitem?$filter=text eq 'x'", "/tables/todoitem"),
        ("/tables/todoitem/ana@example.org", "/tables/todoitem/*"),
        ("/c/secret/tables/todoitem/1?x=y", "/c/*/tables/todoitem/*"), ("/c/secret", "/c/*"),
        ("/c/secret?x", "/c/*"), ("/c/one/c/two/tables", "/c/*/*"), ("//c/secret", "/c/*"),
        ("/%63/secret/tables", "/c/*/tables"), ("/C/secret/tables/t", "/c/*/tables/t"),
        ("//C/secret/tables/t", "/c/*/tables/t"), ("/c;x/secret/api/y/z", "/c/*/api/y/*"),
        ("/c/secret/api/asecret/x", "/c/*/api/*/*"), ("/c:80/secret/api/x", "/c/*/api/x"),
        ("/;/c/secret/api", "/;/*"), ("/c%e2%80%8b/secret/api", "/c%e2%80%8b/*"),
        ("/c%2Fsecret/tables", "/c/*"), ("/c/c/secret/tables", "/c/*/*"), ("/c", "/c"),
        ("/-/api/v1/operations/1/retry", "/-/api/v1/operations/1/retry"),
        ("/api/reset/secret", "/api/reset/*"), ("/.auth/login/aad", "/.auth/login/*"),
        ("/confirm/secret", "/confirm/*"), ("/livez#secret", "/livez"), ("*", "/*"),
        ("http://h/tables/t", "/http:/*"), ("/a\u{9B}b\u{202E}", "/a%c2%9bb%e2%80%ae"),
    ])
    func `a logged path has neither queries, nor secrets, nor ids of items`(
        target: String, shown: String
    ) {
        #expect(LoggedPath(target: target).text == shown)
    }

    @Test func `a long path is cut`() {
        let path = LoggedPath(target: "/" + String(repeating: "a", count: 16_000))
        #expect(path.text.utf8.count == LoggedPath.characters)
    }

    @Test(arguments: [
        ("00-\(trace)-b7ad6b7169203331-01", true), ("cc-\(trace)-b7ad6b7169203331-01-more", true),
        ("00-\(trace)-b7ad6b7169203331-01-more", false), ("ff-\(trace)-b7ad6b7169203331-01", false),
        ("00-\(trace)-0000000000000000-01", false),
        ("00-\(trace.uppercased())-b7ad6b7169203331-01", false),
        ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false), ("secret", false),
        ("", false),
        ("00-1-2-01", false), ("00-\(trace)-b7ad6b7169203331-0\u{1B}", false),
    ])
    func `a trace is read in the standard's form, by its id alone`(field: String, isOne: Bool) {
        #expect(TraceParent(field)?.traceID == (isOne ? Self.trace : nil))
    }
}
