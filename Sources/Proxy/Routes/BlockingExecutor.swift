import Dispatch

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
