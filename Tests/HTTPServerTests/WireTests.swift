import HTTPMessage
import HTTPServer
import Testing

@Suite struct WireTests {
    @Test func `a connection is kept for the next request`() throws {
        let server = try RunningServer(.echo)
        var client = server.client()
        for index in 0..<3 {
            client.send("GET /\(index) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.answer()?.text == "GET /\(index)\nauthority h\n")
        }
        #expect(server.refusals.isEmpty)
    }
}
