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

    private init(_ start: LoopStart) {
        multi = start.multi
        mailbox = start.mailbox
        configuration = start.configuration
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

    /// 1. Take the letters: begin what is to be sent, drop what is cancelled.
    /// 2. When asked to end: fail what is under way, free the handle, return.
    /// 3. Let libcurl move bytes.
    /// 4. Hand over what is complete.
    /// 5. Sleep until a socket, a timer of libcurl or a letter wakes the loop.
    /// A failure of 3 or 5 is libcurl's own (no memory, no descriptors): it fails what is under way,
    /// so that nobody waits for ever and the next round starts clean.
    private func run() {
        while true {
            let (letters, goesOn) = mailbox.take()
            for letter in letters { handle(letter) }
            guard goesOn else { break }
            var running: Int32 = 0
            let moved = unsafe curl_multi_perform(multi.pointer, &running)
            handOver()
            let slept = unsafe curl_multi_poll(
                multi.pointer, nil, 0, Limits.idlePollMilliseconds, nil)
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
            begin(ticket)
        case .cancel(let id):
            // An unknown id has been answered already.
            transfers[id].map { finish($0, with: $0.failure(.cancelled, "Cancelled.")) }
        }
    }

    private func begin(_ ticket: Ticket) {
        do {
            let transfer = try Transfer(ticket, configuration: configuration)
            transfers[ticket.id] = transfer
            let code = unsafe curl_multi_add_handle(multi.pointer, transfer.easy)
            guard code == CURLM_OK else {
                let message = unsafe String(cString: curl_multi_strerror(code))
                return finish(transfer, with: transfer.failure(.invalid, message))
            }
        } catch {
            ticket.waiter.resume(returning: .failure(error))
        }
    }

    private func handOver() {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi.pointer, &left) {
            // Safe: a message lives until the next call into libcurl; the handle in it is one that
            // `begin` added, so its owner is in `transfers`.
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
    }

    /// Takes the transfer from libcurl, frees it and answers its caller.
    private func finish(_ transfer: Transfer, with result: Result<Response, TransportError>) {
        unsafe curl_multi_remove_handle(multi.pointer, transfer.easy)
        transfers[transfer.id] = nil
        transfer.close()
        transfer.waiter.resume(returning: result)
    }
}

/// What the thread is started with.
final class LoopStart: Sendable {
    let multi: MultiHandle
    let mailbox: Mailbox
    let configuration: ClientConfiguration

    init(multi: MultiHandle, mailbox: Mailbox, configuration: ClientConfiguration) {
        self.multi = multi
        self.mailbox = mailbox
        self.configuration = configuration
    }
}

/// The thread's C entry point.
private func loopThreadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    // Safe: the pointer is the LoopStart that `spawn` retained for this thread; released here.
    CurlLoop.live(unsafe Unmanaged<LoopStart>.fromOpaque(context).takeRetainedValue())
    return nil
}
