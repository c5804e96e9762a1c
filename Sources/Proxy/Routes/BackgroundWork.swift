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
