import Testing

@testable import HTTPServer

struct FirstRequestTests {
    private static let head = "POST / HTTP/1.1\r\nHost: h\r\ncontent-LENGTH:  5 \r\n\r\n"

    /// What is said of a request of which one more byte arrives each time, at its end.
    private func arrival(_ text: String) -> Arrival {
        let bytes = Array(text.utf8)
        var request = FirstRequest()
        var last = Arrival.part
        for count in 1...bytes.count {
            #expect(last == .part, "after \(count - 1) bytes")
            last = request.judge(bytes[..<count])
        }
        var atOnce = FirstRequest()
        #expect(atOnce.judge(bytes[...]) == last)
        return last
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", Arrival.whole),
        ("GET / HTTP/1.1\r\nHost: h\r\n\r", .part),
        ("GET / HTTP/1.1\nHost: h\n\n", .part),
        (head, .part), (head + "1234", .part), (head + "12345", .whole),
        ("POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", .whole),
        ("POST / HTTP/1.1\r\nContent-Length: -9\r\n\r\n", .whole),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", .much),
        ("POST / HTTP/1.1\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", .much),
    ])
    func `a request is whole with the last byte that its head announces`(
        text: String, expected: Arrival
    ) {
        #expect(arrival(text) == expected)
    }

    @Test func `of a long request much has arrived when no more is looked at`() {
        let head = Array("POST / HTTP/1.1\r\nContent-Length: \(Int.max)\r\n\r\n".utf8)
        for begin in [[], head] {
            var request = FirstRequest()
            let bytes = begin + [UInt8](repeating: 0x61, count: Limits.peekedBytes - begin.count)
            #expect(request.judge(bytes.dropLast()) == .part)
            #expect(request.judge(bytes[...]) == .much)
        }
    }
}
