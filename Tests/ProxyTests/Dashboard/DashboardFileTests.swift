import HTTPMessage
import HTTPTypes
import Testing

@testable import Proxy

@Suite struct `The dashboard's files` {
    private let file = DashboardFile(
        name: "long.js", bytes: Array(repeating: UInt8(ascii: "a"), count: 4096))

    private func response(_ fields: HTTPFields) -> Response {
        file.response(authority: "127.0.0.1:8080", asked: fields)
    }

    @Test(arguments: [
        ("gzip", true), ("br, gzip;q=0.5", true), ("*", true), ("GZIP", true), ("", false),
        ("br", false), ("gzip;q=0", false), ("gzip; q=0.0, br", false), ("x-gzip-like", false),
        ("*, gzip;q=0", false), ("*;q=0, gzip", true), ("*;q=0", false),
    ]) func `are compressed only for a client that takes gzip`(accepted: String, isGzip: Bool) {
        let answer = response([.acceptEncoding: accepted])
        #expect(answer.head.headerFields[.contentEncoding] == (isGzip ? "gzip" : nil))
        #expect(answer.head.headerFields[.vary] == "Accept-Encoding")
        #expect(answer.bytes == (isGzip ? file.gzip : file.bytes))
        #expect(file.gzip?.prefix(2) == [0x1F, 0x8B], "the first bytes of each gzip member")
    }

    @Test func `are not sent again to a client that has them`() throws {
        let first = response([:])
        let tag = try #require(first.head.headerFields[.eTag])
        for known in [tag, "\"other\", \(tag)", "W/\(tag)", "*"] {
            let again = response([.ifNoneMatch: known])
            #expect(again.head.status == .notModified, "\(known)")
            #expect(again.head.headerFields[.eTag] == tag)
        }
        let compressed = response([.ifNoneMatch: tag, .acceptEncoding: "gzip"])
        #expect(compressed.head.status == .ok, "the gzip form is other content")
        #expect(response([.ifNoneMatch: "\"other\""]).head.status == .ok)
    }

    @Test func `stay as they are where gzip is not smaller`() {
        let short = DashboardFile(name: "short.js", bytes: [1])
        #expect(short.gzip == nil)
        let answer = short.response(authority: "127.0.0.1", asked: [.acceptEncoding: "gzip"])
        #expect(answer.head.headerFields[.contentEncoding] == nil)
    }
}
