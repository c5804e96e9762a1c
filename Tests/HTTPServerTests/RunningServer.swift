import Glibc
import HTTPMessage
import HTTPServer
import Synchronization

/// A server on a free port of 127.0.0.1 that is stopped when it goes out of scope.
final class RunningServer: Sendable {
    let server: Server
    let port: UInt16
    private let tally = Tally()

    final class Tally: Sendable {
        let reasons = Mutex<[RefusalReason]>([])
    }

    init(
        workers: Int = 2, limits: Limits = Limits(), observer: (any RequestObserver)? = nil,
        _ handler: TestHandler
    ) throws {
        let tally = tally
        let configuration = ServerConfiguration(
            addresses: [try ListenAddress("127.0.0.1:0")], workers: workers, limits: limits)
        server = Server(configuration, handler: handler, observer: observer) { reason in
            tally.reasons.withLock { $0.append(reason) }
        }
        port = try server.start()[0].port
    }

    deinit { server.stop() }

    /// What the server refused by itself, in order.
    var refusals: [RefusalReason] { tally.reasons.withLock { $0 } }

    func client() -> RawClient { RawClient(port: port) }

    /// Sends `text` on a new connection and returns the answer and whether the server then closed.
    func exchange(_ text: String) -> (answer: RawClient.Answer?, closed: Bool) {
        let client = client()
        client.send(text)
        let answer = client.answer()
        client.send("GET /after HTTP/1.1\r\nHost: h\r\n\r\n")
        return (answer, client.head() == nil)
    }
}
