import Dispatch
import Synchronization

/// Where asynchronous work runs that a request starts: tasks of one group, which end with the
/// process. The server's threads only hand work over.
struct BackgroundWork: Sendable {
    private let stream: AsyncStream<@Sendable () async -> Void>
    private let continuation: AsyncStream<@Sendable () async -> Void>.Continuation

    /// Makes a queue; ``run()`` sets it going.
    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    /// Hands work over. Never waits.
    func start(_ work: @escaping @Sendable () async -> Void) {
        continuation.yield(work)
    }

    /// Runs what is handed over, all at once, until cancelled; then what runs is cancelled too.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await work in stream {
                group.addTask { await work() }
            }
            group.cancelAll()
        }
    }
}

/// One thread at a time for store reads that may not hold up a server thread: what had to wait
/// for the backend first. Lists that take long have threads of their own (``LongReads``).
struct BlockingExecutor: Sendable {
    /// The reader that belongs to this executor, counted after those of the server's threads.
    let worker: Int
    private let queue = DispatchQueue(label: "understudy.blocking")

    /// Makes the executor.
    init(worker: Int) {
        self.worker = worker
    }

    /// Runs `body` after what was handed over before.
    func run(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }
}

/// Says once that it is the first time.
final class Once: Sendable {
    private let wasAsked = Mutex(false)

    /// True for the first caller.
    var isFirst: Bool {
        wasAsked.withLock { wasAsked in
            defer { wasAsked = true }
            return !wasAsked
        }
    }

    /// Whether there was a first caller.
    var isSpent: Bool { wasAsked.withLock { $0 } }
}
