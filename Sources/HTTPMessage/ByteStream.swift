import Synchronization

/// A body that is sent while it is written: one writer, one reader, a bounded buffer. No call blocks.
///
/// The reader takes the bytes that are there. If there are none, its callback is called after the next write.
public final class ByteStream: Sendable {
    /// The most unread bytes; ``write(_:)`` refuses more.
    public let capacityBytes: Int

    private struct State {
        var pending: [UInt8] = []
        /// How many of the first bytes of `pending` were taken already.
        var taken = 0
        var isFinished = false
        var isFailed = false
        var isCancelled = false
        var readable: (@Sendable () -> Void)?
        var cancelled: (@Sendable () -> Void)?
        var writable: (@Sendable () -> Void)?

        var pendingCount: Int { pending.count - taken }

        /// Takes bytes from the front. The rest is moved only when it is the smaller part.
        mutating func take(_ maxBytes: Int) -> [UInt8] {
            let chunk = Array(pending[taken..<min(taken + maxBytes, pending.count)])
            taken += chunk.count
            if taken == pending.count {
                pending.removeAll(keepingCapacity: true)
                taken = 0
            } else if taken > pending.count / 2 {
                pending.removeFirst(taken)
                taken = 0
            }
            return chunk
        }
    }
    private let state = Mutex(State())

    public init(capacityBytes: Int = 1 << 20) {
        self.capacityBytes = capacityBytes
    }

    /// Adds bytes.
    /// - Returns: false, with nothing added, when the stream has ended or was cancelled, and when it would
    ///   hold more than ``capacityBytes``.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        let (accepted, readable) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            guard !state.isFinished, !state.isFailed, !state.isCancelled,
                state.pendingCount + bytes.count <= capacityBytes
            else { return (false, nil) }
            state.pending += bytes
            defer { state.readable = nil }
            return (true, state.readable)
        }
        readable?()
        return accepted
    }

    public func finish() {
        let readable = state.withLock { state in
            state.isFinished = true
            defer { state.readable = nil }
            return state.readable
        }
        readable?()
    }

    /// Ends the body as incomplete. A server then closes the connection, so that the client does not take the
    /// body for whole.
    public func fail() {
        let readable = state.withLock { state in
            state.isFailed = !state.isFinished
            defer { state.readable = nil }
            return state.readable
        }
        readable?()
    }

    /// Whether the body is incomplete and no byte is unread. A server that has not sent the head then closes
    /// the connection without one.
    public var isFailedAndEmpty: Bool { state.withLock { $0.isFailed && $0.pendingCount == 0 } }

    /// Whether the reader has cancelled the stream, so that no more bytes are needed.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// The result of ``read(maxBytes:wake:)``.
    public enum Chunk: Sendable, Equatable {
        case bytes([UInt8])
        /// No byte yet; the closure is called once when there is one, or when the body ends.
        case wait
        case end
        /// The body is incomplete, see ``fail()``.
        case failed
    }

    /// Takes up to `maxBytes` bytes. If there are none yet, `wake` is kept and called once.
    public func read(maxBytes: Int, wake: @escaping @Sendable () -> Void) -> Chunk {
        let (chunk, writable) = state.withLock { state -> (Chunk, (@Sendable () -> Void)?) in
            if state.pendingCount > 0 {
                let chunk = state.take(maxBytes)
                // The writer is called back once for each half of the capacity, not for each piece.
                guard state.pendingCount <= capacityBytes / 2 else { return (.bytes(chunk), nil) }
                defer { state.writable = nil }
                return (.bytes(chunk), state.writable)
            }
            if state.isFailed { return (.failed, nil) }
            if state.isFinished { return (.end, nil) }
            state.readable = wake
            return (.wait, nil)
        }
        writable?()
        return chunk
    }

    /// Calls `action` once when at most half of the capacity is unread or the stream is cancelled; at once if
    /// that is so already. For a writer whose bytes were refused.
    public func onWritable(_ action: @escaping @Sendable () -> Void) {
        let isWritable = state.withLock { state in
            let isWritable = state.isCancelled || state.pendingCount <= capacityBytes / 2
            if !isWritable { state.writable = action }
            return isWritable
        }
        if isWritable { action() }
    }

    /// Cancels the stream for the reader: unread bytes are dropped, and later writes are refused.
    public func cancel() {
        let (cancelled, writable) = state.withLock { state in
            state.isCancelled = true
            state.pending = []
            state.taken = 0
            state.readable = nil
            defer { (state.cancelled, state.writable) = (nil, nil) }
            return (state.cancelled, state.writable)
        }
        cancelled?()
        writable?()
    }

    /// Calls `action` once when the reader cancels the stream; at once if it has.
    public func onCancel(_ action: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.cancelled = action }
            return state.isCancelled
        }
        if isCancelled { action() }
    }
}
