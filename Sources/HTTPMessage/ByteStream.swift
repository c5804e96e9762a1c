import Synchronization

/// A body that is written while it is sent: one writer, one reader, bounded, never blocking.
///
/// The writer adds chunks; the reader (the server) takes what is there and is woken when more comes.
public final class ByteStream: Sendable {
    /// The most bytes that wait unread before ``write(_:)`` refuses.
    public let capacityBytes: Int

    private struct State {
        var pending: [UInt8] = []
        /// How much of the beginning of `pending` was taken already.
        var taken = 0
        var isFinished = false
        var isFailed = false
        var isCancelled = false
        var wake: (@Sendable () -> Void)?
        var cancelled: (@Sendable () -> Void)?
        var room: (@Sendable () -> Void)?

        var pendingCount: Int { pending.count - taken }

        /// Takes bytes from the front; what is left moves down only when it is the smaller part.
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

    /// Makes an empty stream.
    public init(capacityBytes: Int = 1 << 20) {
        self.capacityBytes = capacityBytes
    }

    /// Adds bytes. Returns false, adding nothing, when the reader is gone or too far behind.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        let (accepted, wake) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            guard !state.isFinished, !state.isFailed, !state.isCancelled,
                state.pendingCount + bytes.count <= capacityBytes
            else { return (false, nil) }
            state.pending += bytes
            defer { state.wake = nil }
            return (true, state.wake)
        }
        wake?()
        return accepted
    }

    /// Says that no more bytes come.
    public func finish() {
        let wake = state.withLock { state in
            state.isFinished = true
            defer { state.wake = nil }
            return state.wake
        }
        wake?()
    }

    /// Says that the body is torn: no more bytes come, and the reader must not take what it has for
    /// whole. A server closes the connection; when not a byte of the head is out yet, without a head.
    public func fail() {
        let wake = state.withLock { state in
            state.isFailed = !state.isFinished
            defer { state.wake = nil }
            return state.wake
        }
        wake?()
    }

    /// Whether the stream is torn and holds no byte: a server that has not sent the head yet closes
    /// the connection without one.
    public var isTornEmpty: Bool { state.withLock { $0.isFailed && $0.pendingCount == 0 } }

    /// Whether the reader is gone, so that no more bytes are needed.
    public var isReaderGone: Bool { state.withLock { $0.isCancelled } }

    /// What a reader finds.
    public enum Chunk: Sendable, Equatable {
        case bytes([UInt8])
        /// Nothing now; the closure given to ``read(maxBytes:wake:)`` is called once when there is.
        case wait
        case end
        /// The body is torn, see ``fail()``.
        case failed
    }

    /// Takes up to `maxBytes` bytes. When there are none yet, `wake` is kept and called once.
    public func read(maxBytes: Int, wake: @escaping @Sendable () -> Void) -> Chunk {
        let (chunk, room) = state.withLock { state -> (Chunk, (@Sendable () -> Void)?) in
            if state.pendingCount > 0 {
                let chunk = state.take(maxBytes)
                // The writer is called back once for each half of the stream, not for each piece.
                guard state.pendingCount <= capacityBytes / 2 else { return (.bytes(chunk), nil) }
                defer { state.room = nil }
                return (.bytes(chunk), state.room)
            }
            if state.isFailed { return (.failed, nil) }
            if state.isFinished { return (.end, nil) }
            state.wake = wake
            return (.wait, nil)
        }
        room?()
        return chunk
    }

    /// Asks to be told once when there is room again: when at most half of the capacity waits unread,
    /// or the reader is gone; at once when that is so already. For a writer whose bytes were refused.
    public func onRoom(_ action: @escaping @Sendable () -> Void) {
        let hasRoom = state.withLock { state in
            let hasRoom = state.isCancelled || state.pendingCount <= capacityBytes / 2
            if !hasRoom { state.room = action }
            return hasRoom
        }
        if hasRoom { action() }
    }

    /// Tells the writer that the reader is gone; later writes are refused.
    public func cancel() {
        let (cancelled, room) = state.withLock { state in
            state.isCancelled = true
            state.pending = []
            state.taken = 0
            state.wake = nil
            defer { (state.cancelled, state.room) = (nil, nil) }
            return (state.cancelled, state.room)
        }
        cancelled?()
        room?()
    }

    /// Asks to be told once when the reader goes away; at once when it is gone already.
    public func onCancel(_ action: @escaping @Sendable () -> Void) {
        let isGone = state.withLock { state in
            if !state.isCancelled { state.cancelled = action }
            return state.isCancelled
        }
        if isGone { action() }
    }
}
