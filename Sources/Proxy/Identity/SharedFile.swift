import Platform
import Synchronization

/// A value in memory with its file on disk. Changes during a write share the next write. Readers of the
/// value never wait for the disk.
final class SharedFile<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var edition = 0
    }
    private let state: Mutex<State>
    /// The edition that is on disk. The lock is held while the file is written: one write at a time.
    private let written = Mutex(0)
    private let write: @Sendable (Value) -> FileFailure?

    /// - Parameters:
    ///   - value: the value that is on disk.
    ///   - write: blocks until a value is on disk; returns the failure, or nil.
    init(_ value: Value, write: @escaping @Sendable (Value) -> FileFailure?) {
        state = Mutex(State(value: value))
        self.write = write
    }

    func read<Result: Sendable>(_ body: (Value) -> Result) -> Result {
        state.withLock { body($0.value) }
    }

    /// Changes the value in memory. ``save()`` writes it.
    /// - Parameter body: returns false if it has changed nothing.
    func change(_ body: (inout Value) -> Bool) {
        state.withLock { state in
            if body(&state.value) { state.edition += 1 }
        }
    }

    /// Blocks until all earlier changes are on disk, written by this call or by another caller's.
    /// - Throws: the failure of the write; the next call tries again.
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
