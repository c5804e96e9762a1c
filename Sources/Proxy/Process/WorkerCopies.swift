import Synchronization

/// A value of which each server worker has a copy behind a lock of its own, so that no request waits for one
/// on another worker.
final class WorkerCopies<Value: Sendable>: Sendable {
    private final class Copy: Sendable {
        let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
    }
    /// One for each of the workers 0, 1, …; beyond the last they begin anew.
    private let copies: [Copy]

    init(_ value: Value) { copies = (0..<Limits.workerCopies).map { _ in Copy(value) } }

    func withCopy<T>(of worker: Int, _ body: (inout sending Value) -> sending T) -> T {
        copies[worker % copies.count].value.withLock(body)
    }

    func value(of worker: Int) -> Value { withCopy(of: worker) { $0 } }

    /// Replaces every copy. A request that begins afterwards reads the new value.
    func replace(with value: Value) { for copy in copies { copy.value.withLock { $0 = value } } }

    var all: [Value] { copies.map { $0.value.withLock { $0 } } }
}
