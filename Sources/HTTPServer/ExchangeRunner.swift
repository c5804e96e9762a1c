private import CMicroHTTPD
import Glibc
import HTTPMessage
import HTTPTypes

/// Carries an exchange's decisions out on libmicrohttpd's connection, on the connection's thread.
@safe
struct ExchangeRunner {
    private let connection: OpaquePointer
    private let exchange: Exchange

    init(_ connection: OpaquePointer, _ exchange: Exchange) {
        unsafe self.connection = connection
        self.exchange = exchange
    }

    /// Does what `step` says; false closes the connection.
    func perform(_ step: Exchange.Step) -> Bool {
        switch step {
        case .goOn: return true
        case .send(let response, let closing): return send(response, closing: closing)
        case .cutOff(let response):
            cutOff(response)
            return false
        case .pause(let start):
            let pause = ReplyPause(
                connection: unsafe ConnectionHandle(connection),
                suspensions: exchange.core.suspensions)
            exchange.paused(pause)
            start(PendingReply.reply(to: pause))
            return settle(pause)
        case .stream(let stream, let limitBytes, let start):
            return open(stream, limitBytes, start)
        case .hold(let upload): return upload.hold.wait(for: upload.stream)
        case .settle(let pause): return settle(pause)
        }
    }

    private func settle(_ pause: ReplyPause) -> Bool {
        guard let response = pause.settle() else { return true }
        return send(response, closing: exchange.core.suspensions.isClosed)
    }

    private func open(
        _ stream: ByteStream, _ limitBytes: Int, _ start: @Sendable (Reply) -> Void
    ) -> Bool {
        let handle = unsafe ConnectionHandle(connection)
        let suspensions = exchange.core.suspensions
        let upload = Upload(
            stream: stream, pause: ReplyPause(connection: handle, suspensions: suspensions),
            hold: UploadHold(connection: handle), leftBytes: limitBytes)
        guard suspensions.enter(upload.hold) else {
            return send(RefusalReason.stopping.response, closing: true)
        }
        exchange.streaming(upload)
        start(PendingReply.reply(to: upload.pause))
        return true
    }

    private func send(_ response: Response, closing: Bool) -> Bool {
        exchange.answered(response)
        switch OutgoingBody.of(response, toHead: exchange.isHead) {
        case .whole(let bytes):
            if case .stream(let unsent) = response.body { unsent.cancel() }
            return queue(OutgoingResponse(head: response.head, bytes: bytes), closing)
        case .none(let length):
            if case .stream(let unsent) = response.body { unsent.cancel() }
            return queue(OutgoingResponse(headOnly: response.head, length: length), closing)
        case .streamed(let stream) where stream.isTornEmpty: return false
        case .streamed(let stream):
            let isChange = exchange.isChange
            let feed = StreamFeed(
                stream, connection: unsafe ConnectionHandle(connection), isChange: isChange)
            guard exchange.core.suspensions.enter(feed, isChange: isChange) else {
                feed.finish()
                return send(
                    isChange ? ReplyPause.unknown : RefusalReason.stopping.response, closing: true)
            }
            let token = exchange.core.reaper.watch(
                feed, descriptor: unsafe understudy_socket(connection))
            exchange.feed = (feed, token)
            return queue(
                OutgoingResponse(
                    head: response.head, feed: feed, length: response.announcedBytes), closing)
        }
    }

    /// Hands a response to libmicrohttpd, which counts its own reference; ours ends here.
    private func queue(_ response: consuming OutgoingResponse?, _ closing: Bool) -> Bool {
        guard let response else { return false }
        if closing { response.closeConnection() }
        return unsafe response.queue(on: connection)
    }

    /// Writes a whole response to the socket. What does not fit into its buffer is lost, as the
    /// connection is closed next.
    private func cutOff(_ response: Response) {
        exchange.answered(response)
        let body = response.bytes ?? []
        var text = "HTTP/1.1 \(response.head.status)\r\n"
        for field in response.head.headerFields { text += "\(field.name): \(field.value)\r\n" }
        text += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        let bytes = Array(text.utf8) + body
        _ = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.send(
                understudy_socket(connection), buffer.baseAddress, buffer.count,
                CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
        }
    }
}

/// What every copy of one ``Reply`` shares. When the last copy goes unused, the client still gets an
/// answer.
final class PendingReply: Sendable {
    private let pause: ReplyPause

    init(_ pause: ReplyPause) {
        self.pause = pause
    }

    deinit {
        pause.reply(
            RefusalReason.response(
                .internalServerError, sentence: "The request was dropped without an answer."))
    }

    /// The reply that the handler's closure gets.
    static func reply(to pause: ReplyPause) -> Reply {
        let pending = PendingReply(pause)
        return Reply(
            { pending.pause.reply($0) }, beginsChange: { pending.pause.beginsChange() },
            changed: { pending.pause.changed($0) }, isLeft: { pending.pause.isLeft })
    }
}
