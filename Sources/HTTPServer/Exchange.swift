import HTTPMessage
import HTTPTypes

/// One request and its answer, from the request line until libmicrohttpd is done with both.
///
/// It decides; ``ExchangeRunner`` carries out. Not Sendable: it lives on its connection's thread.
final class Exchange {
    /// How far the request is.
    enum Phase {
        /// The head is not complete.
        case head
        /// The body arrives, up to a limit.
        case receiving(limitBytes: Int)
        /// The body goes to the handler as it arrives.
        case streaming(Upload)
        /// The body is thrown away; the refusal is sent when it ends.
        case discarding(Response, leftBytes: Int)
        /// The refusal waits for libmicrohttpd's last call; there is no body.
        case refused(Response)
        /// The handler replies later.
        case paused(ReplyPause)
        /// A response was handed to libmicrohttpd.
        case answered
    }

    /// What libmicrohttpd is to do.
    enum Step {
        case goOn
        /// Send the response, afterwards close the connection if so asked.
        case send(Response, closing: Bool)
        /// Send the response past libmicrohttpd, which takes none in mid-body, and close.
        case cutOff(Response)
        /// Call the handler's closure and wait for its reply.
        case pause(@Sendable (Reply) -> Void)
        /// Call the handler's closure and go on with the body, of at most so many bytes.
        case stream(ByteStream, limitBytes: Int, @Sendable (Reply) -> Void)
        /// Leave the piece of the body where it is until the handler has room for it.
        case hold(Upload)
        /// The body is over; wait for the handler's reply.
        case settle(ReplyPause)
    }

    let core: ServerCore
    /// The raw target; nil when there was none or it was not UTF-8.
    let target: String?
    /// Where the target ends in libmicrohttpd's memory: a number to compare, never an address to read.
    private let targetEnd: UInt
    /// What the server's observer will be told; nil when it does not watch.
    private let record: RequestRecord?
    private var request: Request?
    private var body: [UInt8] = []
    /// How many bytes of the server's memory for bodies this one holds.
    private(set) var heldBytes = 0
    /// The body that is handed over as it arrives.
    private var upload: Upload?
    /// The wait for the handler's reply; nil for one that came at once.
    private var pause: ReplyPause?
    private(set) var phase = Phase.head
    /// Whether the answer has a head only.
    private(set) var isHead = false
    /// The stream that is being sent, with the reaper's token for it.
    var feed: (stream: StreamFeed, token: UInt64?)?

    init(core: ServerCore, target: String?, targetEnd: UInt) {
        self.core = core
        self.target = target
        self.targetEnd = targetEnd
        record = core.observer?.isWatching == true ? RequestRecord() : nil
    }

    /// Whether the target ends right before the version. If not, a NUL byte has cut it.
    func isTargetWhole(versionAt address: UInt) -> Bool { targetEnd &+ 1 == address }

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
            record?.head = head.request
            let request = Request(head: head.request, connection: connection)
            self.request = request
            isHead = head.request.method == .head
            return admit(core.handler.admit(request), head)
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
            return turnDown(RefusalReason.bodyTooLarge.response, head)
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
            return turnDown(response, head)
        }
    }

    /// Hands the request over with its body to come.
    private func stream(_ limit: Int) -> Step {
        guard var request else { return refuse(.unreadable) }
        self.request = nil
        let stream = ByteStream()
        request.bodyStream = stream
        switch core.handler.handle(request) {
        case .later(let start): return .stream(stream, limitBytes: limit, start)
        case .now(let response):
            phase = .discarding(response, leftBytes: core.limits.discardedBodyBytes)
            return .goOn
        }
    }

    /// Refuses a request whose body is still to come. A client that waits for `100 Continue` gets
    /// its answer at once, and so does one that announces more than is ever thrown away; another
    /// one first gets rid of its body.
    private func turnDown(_ response: Response, _ head: RequestHead) -> Step {
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
                let response = request.flatMap(core.handler.tooLarge)
                discard(.bodyTooLarge, response)
                return unsafe receive(bytes)
            }
            guard hold(body.count + bytes.count) else {
                core.reaper.makeRoomForBody()
                discard(.bodiesTooMany)
                return unsafe receive(bytes)
            }
            unsafe body.append(contentsOf: bytes)
            return .goOn
        case .streaming(let upload):
            guard bytes.count <= upload.leftBytes else {
                core.refused(.bodyTooLarge)
                upload.stream.fail()
                upload.pause.end()
                phase = .discarding(
                    RefusalReason.bodyTooLarge.response, leftBytes: core.limits.discardedBodyBytes)
                return unsafe receive(bytes)
            }
            guard unsafe upload.stream.write(Array(bytes)) else {
                // A handler that has answered already does not want the rest; the client still sends it.
                return upload.stream.isReaderGone ? .goOn : .hold(upload)
            }
            upload.leftBytes -= bytes.count
            return .goOn
        case .discarding(let response, let leftBytes):
            guard bytes.count <= leftBytes else { return .cutOff(response) }
            phase = .discarding(response, leftBytes: leftBytes - bytes.count)
            return .goOn
        case .head, .refused, .paused, .answered: return .goOn
        }
    }

    /// Takes memory for a body of so many bytes; false where there is not enough.
    private func hold(_ bytes: Int) -> Bool {
        let more = max(0, bytes - core.limits.smallBodyBytes) - heldBytes
        guard core.bodies.take(more) else { return false }
        heldBytes += more
        return true
    }

    private func letGo() {
        body = []
        core.bodies.giveBack(heldBytes)
        heldBytes = 0
    }

    /// Refuses in the middle of a body; what is still to come is thrown away.
    private func discard(_ reason: RefusalReason, _ response: Response? = nil) {
        core.refused(reason)
        letGo()
        phase = .discarding(
            response ?? reason.response, leftBytes: core.limits.discardedBodyBytes)
    }

    /// Answers: the request is complete, or its connection was resumed.
    func complete() -> Step {
        switch phase {
        case .receiving:
            guard var request else { return refuse(.unreadable) }
            request.body = body
            body = []
            self.request = nil
            return send(core.handler.handle(request))
        case .streaming(let upload):
            upload.stream.finish()
            phase = .paused(upload.pause)
            return .settle(upload.pause)
        case .discarding(let response, _): return .send(response, closing: true)
        case .refused(let response): return .send(response, closing: false)
        case .paused(let pause):
            guard let response = pause.take() else { return .goOn }
            return .send(response, closing: core.suspensions.isClosed)
        case .head, .answered: return .goOn
        }
    }

    /// Whether the answer is to a change, for which a stop waits.
    var isChange: Bool { pause?.isChange ?? false }

    /// Notes that the handler replies later.
    func paused(_ pause: ReplyPause) {
        self.pause = pause
        phase = .paused(pause)
    }

    /// Notes that the handler takes the body as it arrives.
    func streaming(_ upload: Upload) {
        self.upload = upload
        pause = upload.pause
        phase = .streaming(upload)
    }

    /// Notes that libmicrohttpd has a response, with so many bytes of body that are there already.
    func answered(_ response: Response) {
        phase = .answered
        letGo()
        record?.answered(
            response.head.status, bodyBytes: isHead ? 0 : response.bytes?.count ?? 0)
    }

    /// Ends: the connection is done with the response, or gone.
    /// - Parameters:
    ///   - isSent: there was a response, perhaps libmicrohttpd's own.
    ///   - isWhole: the response was sent to its end.
    func end(descriptor: CInt, isSent: Bool, isWhole: Bool) {
        switch phase {
        case .head, .receiving, .discarding: if isSent { core.refused(.unreadable) }
        case .streaming(let upload):
            upload.stream.fail()
            upload.pause.end()
        case .paused(let pause): pause.end()
        case .refused, .answered: pause?.sent()
        }
        letGo()
        if let upload { core.suspensions.leave(upload.hold) }
        if let feed {
            if let token = feed.token { core.reaper.unwatch(token, descriptor: descriptor) }
            core.suspensions.leave(feed.stream)
            feed.stream.finish()
        }
        if let record {
            core.observer?.ended(
                record.ended(streamedBytes: feed?.stream.sentBytes ?? 0, isWhole: isWhole))
        }
        core.exchanges.closed()
    }
}
