import Dispatch
import Synchronization

/// Runs the asynchronous work that requests start, as tasks of one group. The server's threads only add work.
struct BackgroundWork: Sendable {
    private let stream: AsyncStream<@Sendable () async -> Void>
    private let continuation: AsyncStream<@Sendable () async -> Void>.Continuation

    /// Makes a queue without work; ``run()`` runs it.
    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    /// Adds work. Never waits.
    func start(_ work: @escaping @Sendable () async -> Void) {
        continuation.yield(work)
    }

    /// Runs the added work concurrently until cancelled; then the running work is cancelled too.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await work in stream {
                group.addTask { await work() }
            }
            group.cancelAll()
        }
    }
}

/// A serial queue for blocking work that may not delay a server thread, such as store reads after a wait
/// for the backend. Long lists have threads of their own (``LongReads``).
struct BlockingExecutor: Sendable {
    /// The number of this executor's reader, after those of the server's threads.
    let worker: Int
    private let queue = DispatchQueue(label: "understudy.blocking")

    init(worker: Int) {
        self.worker = worker
    }

    /// Runs `body` after all earlier ones.
    func run(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }
}

/// A flag that one of several callers can claim.
final class OnceFlag: Sendable {
    private let claimed = Mutex(false)

    /// Claims the flag.
    /// - Returns: true for the first caller alone.
    func claim() -> Bool {
        claimed.withLock { claimed in
            defer { claimed = true }
            return !claimed
        }
    }

    /// Whether a caller has claimed the flag.
    var isClaimed: Bool { claimed.withLock { $0 } }
}
