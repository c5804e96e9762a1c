import Synchronization

/// A value in memory, and the file that holds it. Changes that come while the file is written share the
/// next write, and no reader of the value ever waits for the disk.
final class SharedFile<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        /// How many changes there were.
        var edition = 0
    }
    private let state: Mutex<State>
    /// The edition that is on disk. The lock is held while the file is written: one write at a time.
    private let written = Mutex(0)
    private let write: @Sendable (Value) -> FileFailure?

    /// Begins with what is on disk.
    /// - Parameter write: puts a value on disk, and returns when it is there; gives the reason where it
    ///   cannot.
    init(_ value: Value, write: @escaping @Sendable (Value) -> FileFailure?) {
        state = Mutex(State(value: value))
        self.write = write
    }

    /// The value as it is now.
    func read<Result: Sendable>(_ body: (Value) -> Result) -> Result {
        state.withLock { body($0.value) }
    }

    /// Changes the value in memory. What has to outlast the process calls ``save()`` afterwards.
    /// - Parameter body: returns false where it changed nothing.
    func change(_ body: (inout Value) -> Bool) {
        state.withLock { state in
            if body(&state.value) { state.edition += 1 }
        }
    }

    /// Returns when every change that was made before is on disk; blocks. A write that another caller
    /// began after the change serves this one too.
    /// - Throws: the reason when it cannot be written; the next call tries again.
    func save() throws(FileFailure) {
        let failure = written.withLock { written -> FileFailure? in
            let (value, edition) = state.withLock { ($0.value, $0.edition) }
            guard edition > written else { return nil }
            if let failure = write(value) { return failure }
            written = edition
            return nil
        }
        if let failure { throw failure }
    }
}
