/// A bound on the time that a client waits for work which goes on without it.
enum TimeOut {
    /// Runs `work` to its end. Where that takes longer than `seconds`, calls `late` meanwhile.
    static func run(
        seconds: Int, late: @escaping @Sendable () -> Void, work: () async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
                late()
            }
            await work()
            group.cancelAll()
        }
    }
}
