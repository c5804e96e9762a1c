import HTTPMessage
import HTTPTypes
import Testing

@Suite struct RequestTests {
    @Test func `the target splits at the first question mark only`() {
        let head = HTTPRequest(
            method: .get, scheme: "http", authority: "127.0.0.1:8080", path: "/a%2Fb?x=1?y=2")
        let request = Request(head: head)
        #expect(request.path == "/a%2Fb")
        #expect(request.query == "x=1?y=2")
    }
}
