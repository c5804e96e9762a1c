import HTTPMessage
import HTTPTypes

/// One request and its answer, from the request line until libmicrohttpd has released both.
///
/// It decides the next step; ``ExchangeRunner`` does it. Not Sendable: only the connection's thread uses it.
final class Exchange {
    /// The progress of the request.
    enum Phase {
        /// The head is not complete.
        case head
        /// The body arrives, up to a limit.
        case receiving(limitBytes: Int)
        /// The body goes to the handler as it arrives.
        case streaming(Upload)
        /// The body is discarded; the refusal is sent when it ends.
        case discarding(Response, leftBytes: Int)
        /// The refusal waits for libmicrohttpd's last call; there is no body.
        case refused(Response)
        /// The handler replies later.
        case paused(ReplyPause)
        /// A response was handed to libmicrohttpd.
        case answered
    }

    /// What ``ExchangeRunner`` does next.
    enum Step {
        case goOn
        /// Send the response, afterwards close the connection if so asked.
        case send(Response, closing: Bool)
        /// Write the response to the socket, since libmicrohttpd takes none in mid-body, and close.
        case writeRaw(Response)
        /// Call the handler's closure and wait for its reply.
        case pause(@Sendable (Reply) -> Void)
        /// Call the handler's closure and read the body, at most `limitBytes`.
        case stream(ByteStream, limitBytes: Int, @Sendable (Reply) -> Void)
        /// Leave the piece of the body in libmicrohttpd's buffer until the stream can be written.
        case keepPiece(Upload)
        /// The body has ended; wait for the handler's reply.
        case awaitReply(ReplyPause)
    }

    let core: ServerCore
    /// The raw target; nil when there was none or it was not UTF-8.
    let target: String?
    /// Where the target stands in libmicrohttpd's memory.
    let targetPlace: HeadLayout.Text
    /// Whether fields came behind a body in chunks. libmicrohttpd does not tell where they end, so the
    /// connection closes after the answer.
    var hasTrailer = false
    private var record = RequestRecord()
    /// Whether the observer gets the request when it has ended.
    private let isObserved: Bool
    /// What answers the request; nil until its head was read.
    private var handler: (any RequestHandler)?
    private var request: Request?
    private var body: [UInt8] = []
    /// How many bytes of ``BodyMemory`` this body holds.
    private(set) var heldBytes = 0
    /// The body, where the handler takes it as it arrives.
    private var upload: Upload?
    /// The wait for the handler's reply; nil for an immediate answer.
    private var pause: ReplyPause?
    private(set) var phase = Phase.head
    /// Whether the answer has a head only.
    private(set) var isHead = false
    /// The stream that is being sent.
    struct Sending {
        let stream: StreamFeed
        /// The reaper's token for it.
        let token: UInt64?
        /// Whether its connection does not count in ``Limits/connections``.
        let isUncounted: Bool
    }
    var feed: Sending?

    init(core: ServerCore, target: String?, targetPlace: HeadLayout.Text) {
        self.core = core
        self.target = target
        self.targetPlace = targetPlace
        isObserved = core.observer?.isWatching == true
    }

    private func send(_ answer: Answer) -> Step {
        switch answer {
        case .now(let response): return .send(response, closing: core.suspensions.isClosed)
        case .later(let start): return .pause(start)
        }
    }

    /// Judges the head and asks the handler for admission.
    func begin(_ head: Result<RequestHead, RefusalReason>, connection: Connection) -> Step {
        switch head {
        case .failure(let reason):
            // Where the request ends is not known any more: answer and close.
            return refuse(reason)
        case .success where core.suspensions.isClosed:
            return refuse(.stopping)
        case .success(let head):
            record.head = head.request
            var request = Request(head: head.request, connection: connection)
            if case .length(let bytes) = head.framing { request.announcedBytes = bytes }
            self.request = request
            isHead = head.request.method == .head
            let handler = core.handler.read(request)
            self.handler = handler
            return admit(handler.admit(request), head)
        }
    }

    private func refuse(_ reason: RefusalReason) -> Step {
        core.refused(reason)
        return .send(reason.response, closing: true)
    }

    private func admit(_ admission: Admission, _ head: RequestHead) -> Step {
        switch (admission, head.framing) {
        case (.accept(let limit), .length(let length)) where length > limit,
            (.stream(let limit), .length(let length)) where length > limit:
            core.refused(.bodyTooLarge)
            return refuseBeforeBody(RefusalReason.bodyTooLarge.response, head)
        case (.stream(let limit), .length), (.stream(let limit), .chunked):
            return stream(limit)
        case (.accept(let limit), let framing), (.stream(let limit), let framing):
            if case .length(let length) = framing {
                body.reserveCapacity(min(length, core.limits.reservedBodyBytes))
            }
            phase = .receiving(limitBytes: limit)
            return .goOn
        case (.refuse(let response), .none):
            phase = .refused(response)
            return .goOn
        case (.refuse(let response), _):
            return refuseBeforeBody(response, head)
        }
    }

    /// Gives the request to the handler before its body has arrived.
    private func stream(_ limit: Int) -> Step {
        guard var request, let handler else { return refuse(.unreadable) }
        self.request = nil
        let stream = ByteStream()
        request.bodyStream = stream
        switch handler.handle(request) {
        case .later(let start): return .stream(stream, limitBytes: limit, start)
        case .now(let response):
            phase = .discarding(response, leftBytes: core.limits.discardedBodyBytes)
            return .goOn
        }
    }

    /// Refuses a request whose body has not arrived. The answer is sent at once to a client that waits for
    /// `100 Continue`, and to one that announces more than ``Limits/discardedBodyBytes``. Any other client
    /// sends its body first, which is discarded.
    private func refuseBeforeBody(_ response: Response, _ head: RequestHead) -> Step {
        if head.expectsContinue { return .send(response, closing: true) }
        if case .length(let length) = head.framing, length > core.limits.discardedBodyBytes {
            return .send(response, closing: true)
        }
        phase = .discarding(response, leftBytes: core.limits.discardedBodyBytes)
        return .goOn
    }

    /// Takes a piece of the body.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Step {
        switch phase {
        case .receiving(let limitBytes):
            guard bytes.count <= limitBytes - body.count else {
                let response = request.flatMap { handler?.tooLarge($0) }
                discard(.bodyTooLarge, response)
                return unsafe receive(bytes)
            }
            guard reserveBody(body.count + bytes.count) else {
                core.reaper.evictForBody()
                discard(.bodiesTooMany)
                return unsafe receive(bytes)
            }
            unsafe body.append(contentsOf: bytes)
            return .goOn
        case .streaming(let upload):
            guard bytes.count <= upload.leftBytes else {
                core.refused(.bodyTooLarge)
                upload.stream.fail()
                upload.pause.connectionEnded()
                phase = .discarding(
                    RefusalReason.bodyTooLarge.response, leftBytes: core.limits.discardedBodyBytes)
                return unsafe receive(bytes)
            }
            guard unsafe upload.stream.write(Array(bytes)) else {
                // The handler has answered and cancelled the stream; the client still sends the rest.
                return upload.stream.isCancelled ? .goOn : .keepPiece(upload)
            }
            upload.leftBytes -= bytes.count
            return .goOn
        case .discarding(let response, let leftBytes):
            guard bytes.count <= leftBytes else { return .writeRaw(response) }
            phase = .discarding(response, leftBytes: leftBytes - bytes.count)
            return .goOn
        case .head, .refused, .paused, .answered: return .goOn
        }
    }

    /// Reserves memory for a body of `bytes` bytes; false where too little is free.
    private func reserveBody(_ bytes: Int) -> Bool {
        let more = max(0, bytes - core.limits.smallBodyBytes) - heldBytes
        guard core.bodies.take(more) else { return false }
        heldBytes += more
        return true
    }

    private func releaseBody() {
        body = []
        core.bodies.release(heldBytes)
        heldBytes = 0
    }

    /// Refuses in the middle of a body, and discards the rest.
    private func discard(_ reason: RefusalReason, _ response: Response? = nil) {
        core.refused(reason)
        releaseBody()
        phase = .discarding(
            response ?? reason.response, leftBytes: core.limits.discardedBodyBytes)
    }

    /// Answers: the request is complete, or its connection was resumed.
    func complete() -> Step {
        switch phase {
        case .receiving:
            guard var request, let handler else { return refuse(.unreadable) }
            request.body = body
            body = []
            self.request = nil
            return send(handler.handle(request))
        case .streaming(let upload):
            upload.stream.finish()
            phase = .paused(upload.pause)
            return .awaitReply(upload.pause)
        case .discarding(let response, _): return .send(response, closing: true)
        case .refused(let response): return .send(response, closing: false)
        case .paused(let pause):
            guard let response = pause.takeReply() else { return .goOn }
            return .send(response, closing: core.suspensions.isClosed)
        case .head, .answered: return .goOn
        }
    }

    /// Whether the answer is to a change, for which a stop waits.
    var isChange: Bool { pause?.isChange ?? false }

    func paused(_ pause: ReplyPause) {
        self.pause = pause
        phase = .paused(pause)
    }

    /// Records that the handler takes the body as it arrives.
    func streaming(_ upload: Upload) {
        self.upload = upload
        pause = upload.pause
        phase = .streaming(upload)
    }

    func answered(_ response: Response) {
        phase = .answered
        releaseBody()
        record.answered(
            response.head.status, bodyBytes: isHead ? 0 : response.bytes?.count ?? 0)
    }

    /// Ends the exchange: the response was sent, or the connection closed.
    /// - Parameters:
    ///   - isSent: there was a response, perhaps libmicrohttpd's own.
    ///   - isWhole: the response was sent to its end.
    func end(descriptor: CInt, isSent: Bool, isWhole: Bool) {
        switch phase {
        case .head, .receiving, .discarding: if isSent { core.refused(.unreadable) }
        case .streaming(let upload):
            upload.stream.fail()
            upload.pause.connectionEnded()
        case .paused(let pause): pause.connectionEnded()
        case .refused, .answered: pause?.replySent()
        }
        releaseBody()
        if let upload { core.suspensions.unregister(upload.backpressure) }
        if let feed {
            if let token = feed.token { core.reaper.unwatch(token, descriptor: descriptor) }
            if feed.isUncounted { core.reaper.endEvents() }
            core.suspensions.unregister(feed.stream)
            feed.stream.finish()
        }
        if handler != nil || isObserved {
            let ended = record.ended(
                streamedBytes: feed?.stream.sentBytes ?? 0, isWhole: isWhole)
            handler?.ended(status: ended.status, took: ended.duration)
            if isObserved { core.observer?.ended(ended) }
        }
        core.exchanges.decrement()
    }
}
