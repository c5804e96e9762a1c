import Dispatch
import Glibc
import HTTPMessage
import HTTPTypes
import Testing

@testable import HTTPClient

/// Input that waits on a kept connection is no answer to the next request (docs/decisions/requests.md).
@Suite(.timeLimit(.minutes(1))) struct KeptConnectionTests {
    /// Answers each request with its first line. After the first answer of the first connection it waits for
    /// `release`, and sends `surplus` too.
    private func serverWith(
        surplus: String, after release: DispatchSemaphore
    ) throws -> ScriptedServer {
        try ScriptedServer { wire in
            var isFirst = wire.number == 1
            while let request = wire.readRequest() {
                wire.write(ok(request.headLines[0].description))
                guard isFirst else { continue }
                isFirst = false
                release.wait()
                wire.write(surplus)
                wire.waitUntilReceived()
                wire.note("surplus")
            }
        }
    }

    private static let surplus = [
        ok("a second answer"),
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        "the rest of a body",
    ]
    private static let methods: [HTTPRequest.Method] = [.get, .post, .patch, .put, .delete]

    @Test(arguments: surplus, methods)
    func `a request is answered on a fresh connection where input waits on the kept one`(
        surplus: String, method: HTTPRequest.Method
    ) async throws {
        let release = DispatchSemaphore(value: 0)
        let server = try serverWith(surplus: surplus, after: release)
        try await withClient(of: server) { client in
            var texts = [try await client.send(server.request(.get, "/1")).text]
            release.signal()
            await server.wait(for: "surplus")
            texts.append(try await client.send(server.request(method, "/2", body: "{}")).text)
            texts.append(try await client.send(server.request(.get, "/3")).text)
            let expected = [
                "GET /1 HTTP/1.1", "\(method.rawValue) /2 HTTP/1.1", "GET /3 HTTP/1.1",
            ]
            #expect(texts == expected)
            #expect(server.requests.map { $0.headLines[0].description } == expected)
            #expect(server.connections == 2)
        }
    }

    @Test func `a streamed body is sent once and whole on the fresh connection`() async throws {
        let release = DispatchSemaphore(value: 0)
        let server = try serverWith(surplus: Self.surplus[0], after: release)
        try await withClient(of: server) { client in
            _ = try await client.send(server.request())
            release.signal()
            await server.wait(for: "surplus")
            let body = ByteStream()
            body.write(Array("streamed".utf8))
            body.finish()
            var request = server.request(.post, "/2", fields: [.contentLength: "8"])
            request.bodyStream = body
            let text = try await client.send(request).text
            #expect(text == "POST /2 HTTP/1.1")
            #expect(server.requests.map(\.bodyText) == ["", "streamed"])
        }
    }

    @Test func `a socket that is forgotten is not asked for input`() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Safe: a sockaddr_in is passed as the sockaddr that it begins with, with its own size.
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, size) == 0
                    && getsockname(descriptor, generic, &size) == 0
            }
        }
        try #require(isBound)
        let port = UInt16(bigEndian: address.sin_port)
        let kept = KeptConnections()
        var hasInput = [kept.hasInput(localPort: port)]
        // A socket without a connection is at its end.
        kept.note(descriptor)
        hasInput.append(kept.hasInput(localPort: port))
        kept.forget(descriptor)
        hasInput.append(kept.hasInput(localPort: port))
        #expect(hasInput == [false, true, false])
    }

    @Test func `a connection is not kept after HEAD`() async throws {
        let server = try ScriptedServer(answering: { ok($0.hasPrefix("HEAD") ? "" : "x") })
        try await withClient(of: server) { client in
            for method in [HTTPRequest.Method.get, .head, .get, .get] {
                _ = try await client.send(server.request(method))
            }
            #expect(server.requests.map { $0.prefix(4) } == ["GET ", "HEAD", "GET ", "GET "])
            #expect(server.connections == 2)
        }
    }
}
