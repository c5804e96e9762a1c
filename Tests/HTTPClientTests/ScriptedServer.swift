import Foundation
import Glibc
import HTTPClient
import HTTPMessage
import HTTPTypes
import Synchronization

/// A TCP server on 127.0.0.1 that runs a script for each connection, to simulate broken servers. Each
/// connection has a thread, and is closed when its script returns.
final class ScriptedServer: Sendable {
    struct Failure: Error {}
    struct Seen {
        var connections = 0
        var notes: [String] = []
        var open: Set<Int32> = []
        var isClosed = false
    }

    let port: UInt16
    private let listener: Int32
    private let accepts: Bool
    private let seen = Mutex(Seen())
    private let arrivals: AsyncStream<String>
    private let arrive: AsyncStream<String>.Continuation

    /// - Parameter backlog: 0 makes a server that is full after one connection; it never accepts.
    init(backlog: Int32 = 64, _ script: @escaping @Sendable (Wire) -> Void) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        accepts = backlog > 0
        (arrivals, arrive) = AsyncStream.makeStream()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        // Safe: a sockaddr_in is passed as the sockaddr that it begins with, with its own size.
        let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(listener, generic, size) == 0 && listen(listener, backlog) == 0
                    && getsockname(listener, generic, &size) == 0
            }
        }
        guard bound else { throw Failure() }
        port = UInt16(bigEndian: address.sin_port)
        guard accepts else { return }
        Thread { self.accept(script) }.start()
    }

    /// A server that answers every request with the result of `answer`, and keeps connections open.
    convenience init(answering answer: @escaping @Sendable (String) -> String) throws {
        try self.init { wire in
            while let request = wire.readRequest() { wire.write(answer(request)) }
        }
    }

    /// Accepts until the listener is shut down, and then closes it. Closed by another thread, its number
    /// could be another server's at the next call.
    private func accept(_ script: @escaping @Sendable (Wire) -> Void) {
        defer { _ = Glibc.close(listener) }
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            let number = seen.withLock { seen in
                seen.connections += 1
                seen.open.insert(descriptor)
                return seen.connections
            }
            Thread {
                script(Wire(number: number, descriptor: descriptor, note: self.note))
                self.seen.withLock { seen in
                    seen.open.remove(descriptor)
                    _ = Glibc.close(descriptor)
                }
                self.note("end \(number)")
            }.start()
        }
    }

    private func note(_ text: String) {
        seen.withLock { $0.notes.append(text) }
        arrive.yield(text)
    }

    /// The number of accepted connections.
    var connections: Int { seen.withLock { $0.connections } }
    /// The requests that arrived whole, in order.
    var requests: [String] { seen.withLock { $0.notes.filter { $0.contains("HTTP/1.1\r\n") } } }

    /// Waits until a note (a request, `closed`, `end 1`) with this beginning has come.
    func wait(for beginning: String) async {
        for await text in arrivals where text.hasPrefix(beginning) { return }
    }

    /// Ends the server and its connections.
    func close() {
        seen.withLock { seen in
            guard !seen.isClosed else { return }
            seen.isClosed = true
            for descriptor in seen.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
            shutdown(listener, Int32(SHUT_RDWR))
            if !accepts { _ = Glibc.close(listener) }
        }
    }

    /// A request to this server.
    func request(
        _ method: HTTPRequest.Method = .get, _ path: String = "/", scheme: String = "http",
        fields: HTTPFields = [:], body: String = ""
    ) -> Request {
        let head = HTTPRequest(
            method: method, scheme: scheme, authority: "127.0.0.1:\(port)", path: path,
            headerFields: fields)
        return Request(head: head, body: Array(body.utf8))
    }
}

/// Runs `body` with a client and stops both afterwards, the client first.
func withClient(
    of server: ScriptedServer, _ configuration: ClientConfiguration = .init(),
    _ body: (CurlTransport) async throws -> Void
) async throws {
    let client = try CurlTransport(configuration)
    let result: Result<Void, any Error>
    do { result = .success(try await body(client)) } catch { result = .failure(error) }
    await client.stop()
    server.close()
    try result.get()
}

/// A response with `Content-Length`.
func ok(_ body: String = "", status: String = "200 OK", fields: String = "") -> String {
    "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.unicodeScalars.count)\r\n\r\n\(body)"
}

/// The error that `send` throws, or nil when it returns.
func failure(of client: CurlTransport, _ request: Request) async -> TransportError? {
    do {
        _ = try await client.send(request)
        return nil
    } catch {
        return error
    }
}

extension TransportError {
    /// Cause and reach without the sentence.
    var verdict: String { "\(cause.rawValue) \(reach.rawValue)" }
}

extension Response {
    var text: String { String(decoding: bytes ?? [], as: UTF8.self) }
}
