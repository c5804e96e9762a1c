import CCurl
import Glibc
import HTTPMessage

/// The one thread that talks to libcurl. Everything here is confined to it.
final class CurlLoop {
    private let multi: MultiHandle
    private let commands: CommandQueue
    private let configuration: ClientConfiguration
    /// The transfers in the multi handle. Being here is what keeps a transfer alive for libcurl.
    private var transfers: [UInt64: Transfer] = [:]
    /// Which requests may begin, and which wait.
    private var queue: RequestQueue
    /// The calls that wait.
    private var calls: [UInt64: PendingCall] = [:]
    /// The transfers that have paused in this round.
    private var paused: [UInt64] = []

    private init(_ start: LoopStart) {
        multi = start.multi
        commands = start.commands
        configuration = start.configuration
        queue = RequestQueue(
            limitPerHost: start.configuration.maxConnectionsPerHost,
            pausedLimit: start.configuration.maxPausedTransfers)
    }

    /// Starts the thread. Returns false when the system gives none.
    static func spawn(_ start: LoopStart) -> Bool {
        var thread = pthread_t()
        // Retained here for the thread, which releases it when it begins.
        let context = unsafe Unmanaged.passRetained(start)
        start.commands.thread.begin()
        // Safe: `context` is the retained LoopStart that loopThreadMain takes back.
        let code = unsafe pthread_create(&thread, nil, loopThreadMain, context.toOpaque())
        guard code == 0 else {
            start.commands.thread.end()
            unsafe context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Runs on the thread from its start to its end.
    static func runThread(_ start: LoopStart) {
        // Signals are for the main thread, and a broken pipe is an error code here.
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        CurlLoop(start).run()
        start.commands.thread.end()
    }

    /// 1. Take the commands: a call to send joins the queue, a cancelled one leaves it.
    /// 2. When asked to end: fail all, free the handle, return.
    /// 3. Fail the calls whose time is over; begin those that have a free turn at their host.
    /// 4. Let libcurl move bytes; answer the calls that are complete.
    /// 5. Free the turns of paused transfers, and begin the calls that may use them.
    /// 6. Sleep until a socket, a timer or a command wakes the loop, unless 5 began a call.
    /// A failure of 4 or 6 is libcurl's own (no memory, no descriptors). It fails what is under way, so
    /// that no caller waits for ever and the next round starts clean.
    private func run() {
        while true {
            let (taken, isOpen) = commands.take()
            for command in taken { handle(command) }
            guard isOpen else { break }
            advanceQueue()
            var running: Int32 = 0
            let moved = unsafe curl_multi_perform(multi.pointer, &running)
            answerComplete()
            freePausedTurns()
            advanceQueue()
            let slept = unsafe curl_multi_poll(multi.pointer, nil, 0, sleepMilliseconds, nil)
            if moved != CURLM_OK || slept != CURLM_OK {
                let code = moved != CURLM_OK ? moved : slept
                failAll(.reset, unsafe String(cString: curl_multi_strerror(code)))
            }
        }
        failAll(.cancelled, "The client was stopped.")
        // The queue of commands is closed, so no caller wakes the handle any more.
        multi.free()
    }

    private func handle(_ command: CommandQueue.Command) {
        switch command {
        case .send(let call):
            calls[call.id] = call
            queue.join(.init(id: call.id, host: call.plan.url, deadline: call.deadline))
        case .cancel(let id):
            // An id that is in neither place has been answered already.
            if queue.leave(id) {
                calls.removeValue(forKey: id)?.fail(.cancelled, "Cancelled.")
            } else if let transfer = transfers[id] {
                finish(transfer, with: transfer.failure(.cancelled, "Cancelled."))
            }
        case .resume(let id):
            guard let transfer = transfers[id] else { return }
            queue.moved(id)
            // 0 is CURLPAUSE_CONT. A failure comes back as the transfer's own end.
            _ = unsafe curl_easy_pause(transfer.easy, 0)
        }
    }

    /// Fails the calls whose time is over and begins those that have a free turn.
    private func advanceQueue() {
        let now = ContinuousClock.now
        while let id = queue.expired(at: now) {
            calls.removeValue(forKey: id)?.fail(.timeout, "No connection became free in time.")
        }
        while let id = queue.next() {
            calls.removeValue(forKey: id).map { begin($0) }
        }
    }

    /// Until the first of the waiting calls has no time left; libcurl looks after its own timers.
    private var sleepMilliseconds: Int32 {
        guard let first = queue.waiting.first else { return Int32(Limits.idlePollMilliseconds) }
        let left = (first.deadline - .now).wholeMilliseconds
        return Int32(min(left, Limits.idlePollMilliseconds))
    }

    private func begin(_ call: PendingCall) {
        do {
            let transfer = try Transfer(call, configuration: configuration)
            transfers[call.id] = transfer
            watch(transfer)
            let code = unsafe curl_multi_add_handle(multi.pointer, transfer.easy)
            guard code == CURLM_OK else {
                let message = unsafe String(cString: curl_multi_strerror(code))
                return finish(transfer, with: transfer.failure(.invalid, message))
            }
        } catch {
            queue.release(call.id, host: call.plan.url)
            call.waiter.resume(returning: .failure(error))
        }
    }

    /// A reader that goes away ends its transfer; one that has room again continues it.
    private func watch(_ transfer: Transfer) {
        let (commands, id) = (commands, transfer.id)
        transfer.onPause = { [weak self] in self?.paused.append(id) }
        transfer.onReady = { _ = commands.post(.resume(id: id)) }
        transfer.stream?.onCancel { _ = commands.post(.cancel(id: id)) }
    }

    /// A paused transfer frees its turn for the next call; of too many, one is given up.
    private func freePausedTurns() {
        let newlyPaused = paused
        paused = []
        for transfer in newlyPaused.compactMap({ transfers[$0] }) {
            guard let id = queue.pause(transfer.id, host: transfer.host),
                let slowest = transfers[id]
            else { continue }
            finish(
                slowest,
                with: slowest.failure(
                    .timeout, "The body did not move on, and others wait for its place."))
        }
    }

    /// Answers the calls whose transfers libcurl has ended.
    private func answerComplete() {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi.pointer, &left) {
            // Safe: a message lives until its handle leaves the multi handle (curl_multi_info_read(3)),
            // which `finish` does after the last look at it. The handle is one that `begin` added, and
            // `finish` takes it out before its owner leaves `transfers`, so the owner lives.
            guard unsafe message.pointee.msg == CURLMSG_DONE,
                let transfer = unsafe Transfer.owner(of: message.pointee.easy_handle)
            else { continue }
            let code = unsafe understudy_message_result(message)
            finish(transfer, with: transfer.end(code).result)
        }
    }

    private func failAll(_ cause: TransportError.Cause, _ message: String) {
        for transfer in transfers.values {
            finish(transfer, with: transfer.failure(cause, message))
        }
        while let first = queue.waiting.first, queue.leave(first.id) {
            calls.removeValue(forKey: first.id)?.fail(cause, message)
        }
    }

    /// Takes the transfer from libcurl, frees it and answers its caller.
    private func finish(_ transfer: Transfer, with result: Result<Response, TransportError>) {
        unsafe curl_multi_remove_handle(multi.pointer, transfer.easy)
        transfers[transfer.id] = nil
        queue.release(transfer.id, host: transfer.host)
        transfer.close()
        transfer.answer(result)
    }
}

/// The thread's C entry point.
private func loopThreadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    // Safe: the pointer is the LoopStart that `spawn` retained for this thread; released here.
    CurlLoop.runThread(unsafe Unmanaged<LoopStart>.fromOpaque(context).takeRetainedValue())
    return nil
}

/// What the thread is started with.
final class LoopStart: Sendable {
    let multi: MultiHandle
    let commands: CommandQueue
    let configuration: ClientConfiguration

    init(multi: MultiHandle, commands: CommandQueue, configuration: ClientConfiguration) {
        self.multi = multi
        self.commands = commands
        self.configuration = configuration
    }
}

/// A libcurl multi handle.
///
/// `@unchecked Sendable` because only the loop's thread uses the pointer, with one exception:
/// ``wake()``, which libcurl allows from any thread and ``CommandQueue`` calls under its lock, so never
/// after the loop has closed the commands and before it frees the handle.
@safe struct MultiHandle: @unchecked Sendable {
    /// Owned; freed by the loop's last act.
    let pointer: UnsafeMutableRawPointer

    /// Makes a handle with the bounds of `configuration`; nil when memory or descriptors are short.
    init?(_ configuration: ClientConfiguration) {
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard let multi = unsafe curl_multi_init() else { return nil }
        unsafe pointer = multi
        let bounds: [(CURLMoption, Int)] = [
            (
                CURLMOPT_MAX_HOST_CONNECTIONS,
                configuration.maxConnectionsPerHost + configuration.maxPausedTransfers
            ),
            (CURLMOPT_MAXCONNECTS, Limits.idleConnections),
        ]
        for (option, value) in bounds {
            unsafe understudy_multi_set_long(multi, option, value)
        }
        guard wake() else {
            unsafe curl_multi_cleanup(multi)
            return nil
        }
    }

    /// Ends the loop's current or next sleep at once.
    @discardableResult
    func wake() -> Bool {
        unsafe curl_multi_wakeup(pointer) == CURLM_OK
    }

    /// Frees the handle. Only where no thread uses it, or by the last act of the one that did.
    func free() {
        unsafe curl_multi_cleanup(pointer)
    }
}
