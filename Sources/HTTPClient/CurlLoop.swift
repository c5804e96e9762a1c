import CCurl
import Glibc
import HTTPMessage

/// The one thread that talks to libcurl. Everything here is confined to it.
final class CurlLoop {
    private let multi: MultiHandle
    private let mailbox: Mailbox
    private let configuration: ClientConfiguration
    /// The transfers in the multi handle. Being here is what keeps a transfer alive for libcurl.
    private var transfers: [UInt64: Transfer] = [:]
    /// Who may begin, and who waits.
    private var line: WaitingLine
    /// The tickets of those who wait.
    private var tickets: [UInt64: Ticket] = [:]
    /// The transfers that have begun to wait for their callers in this round.
    private var standing: [UInt64] = []

    private init(_ start: LoopStart) {
        multi = start.multi
        mailbox = start.mailbox
        configuration = start.configuration
        line = WaitingLine(
            limitPerHost: start.configuration.maxConnectionsPerHost,
            standingLimit: start.configuration.maxStandingTransfers)
    }

    /// Starts the thread. Returns false when the system gives none.
    static func spawn(_ start: LoopStart) -> Bool {
        var thread = pthread_t()
        // Retained here for the thread, which releases it when it begins.
        let context = unsafe Unmanaged.passRetained(start)
        start.mailbox.thread.begin()
        // Safe: `context` is the retained LoopStart that loopThreadMain takes back.
        let code = unsafe pthread_create(&thread, nil, loopThreadMain, context.toOpaque())
        guard code == 0 else {
            start.mailbox.thread.end()
            unsafe context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// The thread's life.
    static func live(_ start: LoopStart) {
        // Signals are for the main thread, and a broken pipe is an error code here.
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        CurlLoop(start).run()
        start.mailbox.thread.end()
    }

    /// 1. Take the letters: who is to be sent joins the line, who is cancelled goes.
    /// 2. When asked to end: fail all, free the handle, return.
    /// 3. Drop from the line whose time is over; begin those whose turn it is.
    /// 4. Let libcurl move bytes; hand over what is complete.
    /// 5. Take their turns from those that wait for their callers, and begin those whose turn it is now.
    /// 6. Sleep until a socket, a timer or a letter wakes the loop, unless 5 began one.
    /// A failure of 4 or 6 is libcurl's own (no memory, no descriptors): it fails what is under way,
    /// so that nobody waits for ever and the next round starts clean.
    private func run() {
        while true {
            let (letters, goesOn) = mailbox.take()
            for letter in letters { handle(letter) }
            guard goesOn else { break }
            advanceLine()
            var running: Int32 = 0
            let moved = unsafe curl_multi_perform(multi.pointer, &running)
            handOver()
            takeTurns()
            advanceLine()
            let slept = unsafe curl_multi_poll(multi.pointer, nil, 0, sleepMilliseconds, nil)
            if moved != CURLM_OK || slept != CURLM_OK {
                let code = moved != CURLM_OK ? moved : slept
                failAll(.reset, unsafe String(cString: curl_multi_strerror(code)))
            }
        }
        failAll(.cancelled, "The client was stopped.")
        // The mailbox is closed, so nobody wakes the handle any more.
        multi.free()
    }

    private func handle(_ letter: Mailbox.Letter) {
        switch letter {
        case .send(let ticket):
            tickets[ticket.id] = ticket
            line.join(.init(id: ticket.id, host: ticket.plan.url, deadline: ticket.deadline))
        case .cancel(let id):
            // An id that is in neither place has been answered already.
            if line.leave(id) {
                tickets.removeValue(forKey: id)?.fail(.cancelled, "Cancelled.")
            } else if let transfer = transfers[id] {
                finish(transfer, with: transfer.failure(.cancelled, "Cancelled."))
            }
        case .resume(let id):
            guard let transfer = transfers[id] else { return }
            line.moved(id)
            // 0 is CURLPAUSE_CONT. A failure comes back as the transfer's own end.
            _ = unsafe curl_easy_pause(transfer.easy, 0)
        }
    }

    /// Drops those whose time is over and begins those whose turn it is.
    private func advanceLine() {
        let now = ContinuousClock.now
        while let id = line.expired(at: now) {
            tickets.removeValue(forKey: id)?.fail(.timeout, "No connection became free in time.")
        }
        while let id = line.next() {
            tickets.removeValue(forKey: id).map { begin($0) }
        }
    }

    /// Until the first of those who wait has no time left; libcurl looks after its own timers.
    private var sleepMilliseconds: Int32 {
        guard let first = line.waiting.first else { return Int32(Limits.idlePollMilliseconds) }
        let left = (first.deadline - .now).wholeMilliseconds
        return Int32(min(left, Limits.idlePollMilliseconds))
    }

    private func begin(_ ticket: Ticket) {
        do {
            let transfer = try Transfer(ticket, configuration: configuration)
            transfers[ticket.id] = transfer
            watch(transfer)
            let code = unsafe curl_multi_add_handle(multi.pointer, transfer.easy)
            guard code == CURLM_OK else {
                let message = unsafe String(cString: curl_multi_strerror(code))
                return finish(transfer, with: transfer.failure(.invalid, message))
            }
        } catch {
            line.release(ticket.id, host: ticket.plan.url)
            ticket.waiter.resume(returning: .failure(error))
        }
    }

    /// A reader that goes away ends its transfer; one that has room again goes on with it.
    private func watch(_ transfer: Transfer) {
        let (mailbox, id) = (mailbox, transfer.id)
        transfer.stands = { [weak self] in self?.standing.append(id) }
        transfer.goOn = { _ = mailbox.leave(.resume(id: id)) }
        transfer.stream?.onCancel { _ = mailbox.leave(.cancel(id: id)) }
    }

    /// A transfer that waits for its caller gives its turn to the next; of too many, one is given up.
    private func takeTurns() {
        let begun = standing
        standing = []
        for transfer in begun.compactMap({ transfers[$0] }) {
            guard let id = line.stand(transfer.id, host: transfer.host), let slowest = transfers[id]
            else { continue }
            finish(
                slowest,
                with: slowest.failure(
                    .timeout, "The body did not move on, and others wait for its place."))
        }
    }

    private func handOver() {
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
        while let first = line.waiting.first, line.leave(first.id) {
            tickets.removeValue(forKey: first.id)?.fail(cause, message)
        }
    }

    /// Takes the transfer from libcurl, frees it and answers its caller.
    private func finish(_ transfer: Transfer, with result: Result<Response, TransportError>) {
        unsafe curl_multi_remove_handle(multi.pointer, transfer.easy)
        transfers[transfer.id] = nil
        line.release(transfer.id, host: transfer.host)
        transfer.close()
        transfer.answer(result)
    }
}

/// The thread's C entry point.
private func loopThreadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    // Safe: the pointer is the LoopStart that `spawn` retained for this thread; released here.
    CurlLoop.live(unsafe Unmanaged<LoopStart>.fromOpaque(context).takeRetainedValue())
    return nil
}
