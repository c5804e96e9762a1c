import SyncCore
import Synchronization

/// The task in which an engine runs, from when the services run until its store is closed.
final class EngineLoop: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Whether it was started.
    var isRunning: Bool { task.withLock { $0 != nil } }

    /// Starts it, once.
    func start(_ engine: SyncEngine) {
        task.withLock { task in
            if task == nil { task = Task { await engine.run() } }
        }
    }

    /// Starts it anew after ``end()``.
    func restart(_ engine: SyncEngine) {
        task.withLock { $0 = Task { await engine.run() } }
    }

    /// Ends it: a commit under way is finished first.
    func end() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }
}
