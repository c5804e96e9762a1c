import HTTPMessage
import SyncCore
import TablesProtocol

/// Goes on with requests that have to wait, off the server's threads.
struct Waiting: Sendable {
    let work: BackgroundWork
    let executor: BlockingExecutor
    /// For requests that wait for the backend.
    let permits: ReadPermits

    /// Goes on with a request in the blocking executor.
    func readLater(
        _ request: TableRequest, _ body: @escaping @Sendable (TableRequest) -> Void
    ) {
        executor.run { body(request.moved(to: executor.worker)) }
    }

    /// Answers later, in a task, if the limit of clients that wait for the backend is not reached.
    func later(
        _ request: TableRequest, _ respond: @escaping @Sendable (Reply) async -> Void
    ) -> Answer {
        .later { reply in
            guard permits.take() else { return reply(request.error(PassThrough.tooManyWait)) }
            work.start { await permits.run(for: reply) { _ in await respond(reply) } }
        }
    }

    /// Pulls the request's table, and calls `then` in the blocking executor, with false if that takes too long. The
    /// pull goes on after that.
    /// - Parameter time: since when the pull must have begun; nil for any that is not over.
    func pull(
        _ request: TableRequest, since time: Duration? = nil,
        seconds: Int = Limits.backendWaitSeconds,
        then: @escaping @Sendable (Bool, TableRequest) -> Void
    ) {
        let once = OnceFlag()
        let end: @Sendable (Bool) -> Void = { isOver in
            if once.claim() { readLater(request) { then(isOver, $0) } }
        }
        work.start {
            await TimeOut.run(seconds: seconds) {
                end(false)
            } work: {
                let (engine, table) = (request.tenant.engine, request.call.table)
                if let time {
                    await engine.refresh(table, since: time)
                } else {
                    _ = await engine.pull(table, isExplicit: false)
                }
                // The answer shows the backend's state after the pull.
                await request.tenant.refreshBackendStatus()
                end(true)
            }
        }
    }
}

/// A time limit for a client that waits for work. The work goes on without the client.
enum TimeOut {
    /// Runs `work` to its end. If that takes longer than `seconds`, calls `late` meanwhile.
    static func run(
        seconds: Int, late: @escaping @Sendable () -> Void, work: () async -> Void
    ) async {
        await run(.seconds(seconds), late: late, work: work)
    }

    static func run(
        _ limit: Duration, late: @escaping @Sendable () -> Void, work: () async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                late()
            }
            await work()
            group.cancelAll()
        }
    }
}
