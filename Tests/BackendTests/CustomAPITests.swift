import HTTPMessage
import TestSupport
import Testing

/// The custom APIs of the backend.
@Suite struct CustomAPITests {
    @Test(.ends) func `bytes end when their reader cancels them`() throws {
        let client = try Client()
        let answer = try client.send("GET", "/api/bytes?count=10000000")
        guard case .stream(let stream) = answer.response.body else { throw Unexpected() }
        #expect(stream.read(maxBytes: 3) {} == .bytes([0, 1, 2]))
        stream.cancel()
        #expect(stream.isCancelled)
        #expect(stream.read(maxBytes: 3) {} == .wait)
    }
}
