import CCurl
import Glibc
import HTTPMessage

/// The thread that calls libcurl. Only this thread uses its state.
///
/// `unsafe`: the multi handle is freed by the last call on this thread (``MultiHandle/free()``). An easy
/// handle is freed by ``Transfer/close()``, which ``finish(_:with:)`` calls after it was removed from the
/// multi handle. Texts of libcurl's error codes are static.
final class CurlLoop {
    private let multi: MultiHandle
    private let commands: CommandQueue
    private let configuration: ClientConfiguration
    /// The transfers in the multi handle. This reference keeps a transfer alive while libcurl points to it.
    private var transfers: [UInt64: Transfer] = [:]
    private var queue: RequestQueue
    private var calls: [UInt64: PendingCall] = [:]
    /// The ids of transfers that have paused since ``freePausedSlots()``.
    private var paused: [UInt64] = []
    private let connections = KeptConnections()

    private init(_ start: LoopStart) {
        multi = start.multi
        commands = start.commands
        configuration = start.configuration
        queue = RequestQueue(
            limitPerHost: start.configuration.maxConnectionsPerHost,
            pausedLimit: start.configuration.maxPausedTransfers)
    }

    /// Starts the thread; false when the system has no more threads.
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

    static func runThread(_ start: LoopStart) {
        // The main thread handles signals; here a broken pipe is an error code. Both calls use one struct.
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        CurlLoop(start).run()
        start.commands.thread.end()
    }

    /// 1. Take the commands: enqueue calls, remove cancelled ones.
    /// 2. If the loop was asked to end: fail all calls, free the handle, return.
    /// 3. Fail the calls whose deadline has passed; begin those whose host has a free slot.
    /// 4. Let libcurl move bytes; finish the transfers that are complete.
    /// 5. Free the slots of paused transfers, and begin the calls that may use them.
    /// 6. Sleep until a socket, a timer or a command wakes the loop, unless 5 began a call.
    ///
    /// Step 4 or 6 fails when libcurl has no memory or descriptors. Then all calls fail, so that no caller
    /// waits for ever.
    private func run() {
        while true {
            let (taken, isOpen) = commands.take()
            for command in taken { handle(command) }
            guard isOpen else { break }
            advanceQueue()
            var running: Int32 = 0
            let moved = unsafe curl_multi_perform(multi.pointer, &running)
            finishCompleted()
            freePausedSlots()
            advanceQueue()
            let slept = unsafe curl_multi_poll(multi.pointer, nil, 0, sleepMilliseconds, nil)
            if moved != CURLM_OK || slept != CURLM_OK {
                let code = moved != CURLM_OK ? moved : slept
                failAll(.reset, unsafe String(cString: curl_multi_strerror(code)))
            }
        }
        failAll(.cancelled, "The client was stopped.")
        // The queue of commands is closed, so no other thread uses the handle any more.
        multi.free()
    }

    private func handle(_ command: CommandQueue.Command) {
        switch command {
        case .send(let call):
            calls[call.id] = call
            queue.enqueue(.init(id: call.id, host: call.plan.url, deadline: call.deadline))
        case .cancel(let id):
            // A call that is in neither place was answered before.
            if queue.removeWaiting(id) {
                calls.removeValue(forKey: id)?.fail(.cancelled, "Cancelled.")
            } else if let transfer = transfers[id] {
                finish(transfer, with: transfer.failure(.cancelled, "Cancelled."))
            }
        case .resume(let id):
            guard let transfer = transfers[id] else { return }
            queue.noteProgress(id)
            // 0 is CURLPAUSE_CONT. After a failure libcurl ends the transfer.
            _ = unsafe curl_easy_pause(transfer.easy, 0)
        }
    }

    /// Fails the calls whose deadline has passed and begins those whose host has a free slot.
    private func advanceQueue() {
        let now = ContinuousClock.now
        while let id = queue.removeExpired(at: now) {
            calls.removeValue(forKey: id)?.fail(.timeout, "No connection became free in time.")
        }
        while let id = queue.startNext() {
            calls.removeValue(forKey: id).map { begin($0) }
        }
    }

    /// The time until the first deadline of the waiting calls. libcurl adds its own timers.
    private var sleepMilliseconds: Int32 {
        guard let first = queue.waiting.first else { return Int32(Limits.idlePollMilliseconds) }
        let left = (first.deadline - .now).curlMilliseconds
        return Int32(min(left, Limits.idlePollMilliseconds))
    }

    private func begin(_ call: PendingCall) {
        do {
            let transfer = try Transfer(
                call, configuration: configuration, connections: connections)
            transfers[call.id] = transfer
            postCommands(of: transfer)
            add(transfer)
        } catch {
            queue.release(call.id, host: call.plan.url)
            call.waiter.resume(returning: .failure(error))
        }
    }

    private func add(_ transfer: Transfer) {
        let code = unsafe curl_multi_add_handle(multi.pointer, transfer.easy)
        guard code == CURLM_OK else {
            let message = unsafe String(cString: curl_multi_strerror(code))
            return finish(transfer, with: transfer.failure(.invalid, message))
        }
    }

    /// Posts a command when the transfer's reader cancels it, and when a paused transfer can go on.
    private func postCommands(of transfer: Transfer) {
        let (commands, id) = (commands, transfer.id)
        transfer.onPause = { [weak self] in self?.paused.append(id) }
        transfer.onReady = { _ = commands.post(.resume(id: id)) }
        transfer.stream?.onCancel { _ = commands.post(.cancel(id: id)) }
    }

    /// Frees the slots of paused transfers. When too many are paused, one is given up.
    private func freePausedSlots() {
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

    /// Finishes the transfers that libcurl has ended.
    private func finishCompleted() {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi.pointer, &left) {
            // Safe: a message is valid until its handle is removed from the multi handle
            // (curl_multi_info_read(3)). `end` removes it, after the last use of the message. `begin`
            // added the handle, and `finish` removes it before its owner leaves `transfers`. So the owner
            // is alive.
            guard unsafe message.pointee.msg == CURLMSG_DONE,
                let transfer = unsafe Transfer.owner(of: message.pointee.easy_handle)
            else { continue }
            let code = unsafe understudy_message_result(message)
            end(transfer, code)
        }
    }

    /// Finishes a transfer that libcurl has ended with `code`, or begins it again on a fresh connection where
    /// input waited on its kept one.
    private func end(_ transfer: Transfer, _ code: CURLcode) {
        transfer.noteConnection()
        do throws(TransportError) {
            guard try transfer.tryPrepareFresh() else {
                return finish(transfer, with: transfer.end(code).result)
            }
        } catch { return finish(transfer, with: .failure(error)) }
        unsafe curl_multi_remove_handle(multi.pointer, transfer.easy)
        add(transfer)
    }

    private func failAll(_ cause: TransportError.Cause, _ message: String) {
        for transfer in transfers.values {
            finish(transfer, with: transfer.failure(cause, message))
        }
        while let first = queue.waiting.first, queue.removeWaiting(first.id) {
            calls.removeValue(forKey: first.id)?.fail(cause, message)
        }
    }

    /// Removes the transfer from libcurl, frees it and answers its caller.
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

/// The arguments of the thread.
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
/// `@unchecked Sendable`: only the loop's thread uses the pointer, except for ``wake()``, which libcurl
/// allows from any thread. ``CommandQueue`` calls it under its lock and only while the queue is open. The
/// loop frees the handle after the queue was closed under the same lock. So no call comes after the handle
/// was freed.
@safe struct MultiHandle: @unchecked Sendable {
    /// Owned; freed by ``free()``.
    let pointer: UnsafeMutableRawPointer

    /// Makes a handle with the limits of `configuration`; nil when memory or descriptors are short.
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

    /// Ends the loop's current or next sleep.
    @discardableResult
    func wake() -> Bool {
        unsafe curl_multi_wakeup(pointer) == CURLM_OK
    }

    /// Frees the handle. No thread may use it any more.
    func free() {
        unsafe curl_multi_cleanup(pointer)
    }
}
