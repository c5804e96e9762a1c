import HTTPMessage
import SyncCore
import Synchronization

/// The permits of requests without a body that wait for the backend. Reads whose clients have left give theirs
/// to others: a backend may take minutes for an answer that no client waits for.
final class ReadPermits: Sendable {
    private struct Read {
        let clientHasLeft: @Sendable () -> Bool
        /// Its work; nil until it has begun.
        var task: Task<Void, Never>?
    }
    private struct State {
        var reads: [Int: Read] = [:]
        var lastNumber = 0
    }
    private let permits: Permits
    private let state = Mutex(State())
    private let checkedFrom: Int

    /// - Parameters:
    ///   - count: the number of permits, all free at first.
    ///   - checkedFrom: the number of reads from which on those are ended whose clients have left.
    init(_ count: Int, checkedFrom: Int) {
        permits = Permits(count)
        self.checkedFrom = checkedFrom
    }

    /// Takes a permit; false if none is free. The caller gives it back with ``release()``, or to
    /// ``run(for:_:)``.
    func take() -> Bool {
        endAbandonedReads()
        return permits.takeNow()
    }

    func release() { permits.release() }

    /// Runs the work of a read, which has a permit, until it has ended. It is cancelled once the client has
    /// left and others want its permit.
    /// - Parameter work: calls its argument to give the permit back.
    func run(
        for reply: Reply,
        _ work: @escaping @Sendable (_ release: @escaping @Sendable () -> Void) async -> Void
    ) async {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.reads[state.lastNumber] = Read(clientHasLeft: { reply.clientHasLeft }, task: nil)
            return state.lastNumber
        }
        // Not a child task, which could not be cancelled alone. It is awaited here in any case.
        let task = Task { await work { self.release(number) } }
        let hasPermit = state.withLock { state in
            state.reads[number]?.task = task
            return state.reads[number] != nil
        }
        if !hasPermit { task.cancel() }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        release(number)
    }

    /// Returns the permit of a read, unless it was returned before.
    private func release(_ number: Int) {
        let read = state.withLock { $0.reads.removeValue(forKey: number) }
        if read != nil { permits.release() }
    }

    /// Cancels the reads whose clients have left, and returns their permits.
    private func endAbandonedReads() {
        let abandoned = state.withLock { state -> [Read] in
            guard state.reads.count >= checkedFrom else { return [] }
            let left = state.reads.filter { $0.value.clientHasLeft() }
            for number in left.keys { state.reads[number] = nil }
            return Array(left.values)
        }
        for read in abandoned {
            read.task?.cancel()
            permits.release()
        }
    }
}
