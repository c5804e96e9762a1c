import Synchronization

/// A body that is written while it is sent: one writer, one reader, bounded, never blocking.
///
/// The writer adds chunks; the reader (the server) takes what is there and is woken when more comes.
public final class ByteStream: Sendable {
    /// The most bytes that wait unread before ``write(_:)`` refuses.
    public let capacityBytes: Int

    private struct State {
        var pending: [UInt8] = []
        var isFinished = false
        var isFailed = false
        var isCancelled = false
        var wake: (@Sendable () -> Void)?
        var cancelled: (@Sendable () -> Void)?
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
                state.pending.count + bytes.count <= capacityBytes
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
    public var isTornEmpty: Bool { state.withLock { $0.isFailed && $0.pending.isEmpty } }

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
        state.withLock { state in
            if !state.pending.isEmpty {
                let count = min(maxBytes, state.pending.count)
                let chunk = Array(state.pending[..<count])
                state.pending.removeFirst(count)
                return .bytes(chunk)
            }
            if state.isFailed { return .failed }
            if state.isFinished { return .end }
            state.wake = wake
            return .wait
        }
    }

    /// Tells the writer that the reader is gone; later writes are refused.
    public func cancel() {
        let cancelled = state.withLock { state in
            state.isCancelled = true
            state.pending = []
            state.wake = nil
            defer { state.cancelled = nil }
            return state.cancelled
        }
        cancelled?()
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
