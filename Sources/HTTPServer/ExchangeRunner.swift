private import CMicroHTTPD
import Glibc
import HTTPMessage
import HTTPTypes

/// Does the steps of an exchange on libmicrohttpd's connection, on the connection's thread.
///
/// `unsafe`: a runner is made and dropped within one call of `accessCallback`, for which libmicrohttpd lends
/// the connection. The bytes that are sent live until `send` returns.
@safe
struct ExchangeRunner {
    private let connection: OpaquePointer
    private let exchange: Exchange

    init(_ connection: OpaquePointer, _ exchange: Exchange) {
        unsafe self.connection = connection
        self.exchange = exchange
    }

    /// Does `step`.
    /// - Returns: false when libmicrohttpd must close the connection.
    func perform(_ step: Exchange.Step) -> Bool {
        switch step {
        case .goOn: return true
        case .send(let response, let closing): return send(response, closing: closing)
        case .writeRaw(let response):
            writeRaw(response)
            return false
        case .pause(let start):
            let pause = ReplyPause(
                connection: unsafe ConnectionHandle(connection),
                suspensions: exchange.core.suspensions)
            exchange.paused(pause)
            start(PendingReply.reply(to: pause))
            return sendOrSuspend(pause)
        case .stream(let stream, let limitBytes, let start):
            return open(stream, limitBytes, start)
        case .keepPiece(let upload): return upload.backpressure.suspend(until: upload.stream)
        case .awaitReply(let pause): return sendOrSuspend(pause)
        }
    }

    private func sendOrSuspend(_ pause: ReplyPause) -> Bool {
        guard let response = pause.replyOrSuspend() else { return true }
        return send(response, closing: exchange.core.suspensions.isClosed)
    }

    private func open(
        _ stream: ByteStream, _ limitBytes: Int, _ start: @Sendable (Reply) -> Void
    ) -> Bool {
        let handle = unsafe ConnectionHandle(connection)
        let suspensions = exchange.core.suspensions
        let upload = Upload(
            stream: stream, pause: ReplyPause(connection: handle, suspensions: suspensions),
            backpressure: UploadBackpressure(connection: handle), leftBytes: limitBytes)
        guard suspensions.register(upload.backpressure) else {
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
        case .streamed(let stream) where stream.isFailedAndEmpty: return false
        case .streamed(let stream):
            let isChange = exchange.isChange
            let feed = StreamFeed(
                stream, connection: unsafe ConnectionHandle(connection), isChange: isChange,
                isEndless: response.isEventStream)
            guard exchange.core.suspensions.register(feed, isChange: isChange) else {
                feed.finish()
                return send(
                    isChange ? ReplyPause.outcomeUnknown : RefusalReason.stopping.response,
                    closing: true)
            }
            let token = exchange.core.reaper.watch(
                feed, descriptor: unsafe understudy_socket(connection))
            exchange.feed = Exchange.Sending(
                stream: feed, token: token,
                isUncounted: feed.isEndless && exchange.core.reaper.beginEvents())
            return queue(
                OutgoingResponse(
                    head: response.head, feed: feed, length: response.announcedBytes), closing)
        }
    }

    /// Hands a response to libmicrohttpd, which takes a reference of its own; this one ends here.
    private func queue(_ response: consuming OutgoingResponse?, _ closing: Bool) -> Bool {
        guard let response else { return false }
        if closing || exchange.hasTrailer || exchange.core.reaper.isCrowded {
            response.closeConnection()
        }
        return unsafe response.queue(on: connection)
    }

    /// Writes a whole response to the socket. Bytes that do not fit into its buffer are lost, since the
    /// connection is closed next.
    private func writeRaw(_ response: Response) {
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

/// The state that all copies of one ``Reply`` share. When the last copy is dropped without an answer, the
/// client gets a 500.
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
            { pending.pause.reply($0) }, tryBeginChange: { pending.pause.tryBeginChange() },
            endChange: { pending.pause.endChange(answerOnStop: $0) },
            clientHasLeft: { pending.pause.clientHasLeft })
    }
}
