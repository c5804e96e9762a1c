import HTTPMessage
import Synchronization

/// A bounded number of permits, taken and given back from any thread.
final class Permits: Sendable {
    private let free: Mutex<Int>

    /// - Parameter count: the number of permits, all free at first.
    init(_ count: Int) { free = Mutex(count) }

    /// Takes a permit; false if none is free.
    func take() -> Bool {
        free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    /// Returns a permit.
    func release() { free.withLock { $0 += 1 } }
}

/// A bounded number of permits, for which a bounded number of callers wait in order of arrival.
final class QueuedPermits: Sendable {
    private struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Bool, Never>
        /// Ends the wait when the time-out is over.
        var timeout: Task<Void, Never>?
    }
    private struct State {
        var free: Int
        /// The waiting callers, the first one first.
        var waiting: [Waiter] = []
        var lastNumber = 0
    }
    private let state: Mutex<State>
    private let limit: Int

    /// - Parameters:
    ///   - count: the number of permits, all free at first.
    ///   - waiting: how many callers may wait.
    init(_ count: Int, waiting: Int) {
        state = Mutex(State(free: count))
        limit = waiting
    }

    /// Takes a permit, in the order of the callers.
    /// - Parameter timeout: returns when the wait shall end.
    /// - Returns: false if too many callers wait, if `timeout` returned first, or if the task was cancelled.
    func take(timeout: @escaping @Sendable () async -> Void) async -> Bool {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isTaken = state.withLock { state -> Bool? in
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    guard state.waiting.count < limit else { return false }
                    state.waiting.append(Waiter(number: number, continuation: continuation))
                    return nil
                }
                if let isTaken { return continuation.resume(returning: isTaken) }
                // The task was cancelled before the waiter was added, so the handler found none.
                if Task.isCancelled { return leave(number) }
                begin(timeout, of: number)
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Returns a permit. The caller that has waited longest gets it.
    func release() {
        let next = state.withLock { state -> Waiter? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.timeout?.cancel()
        next?.continuation.resume(returning: true)
    }

    private func begin(_ timeout: @escaping @Sendable () async -> Void, of number: Int) {
        // Unstructured, since a wait may end before `timeout` returns. The task ends with `timeout`, or is
        // cancelled when the waiter is removed: in `release`, in `leave` or below.
        let task = Task {
            await timeout()
            leave(number)
        }
        let isOver = state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
                return true
            }
            state.waiting[place].timeout = task
            return false
        }
        if isOver { task.cancel() }
    }

    /// Ends a caller's wait, unless the caller has got its permit meanwhile.
    private func leave(_ number: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
                return nil
            }
            return state.waiting.remove(at: place)
        }
        waiter?.timeout?.cancel()
        waiter?.continuation.resume(returning: false)
    }
}

/// The permits of requests without a body that wait for the backend. Reads whose clients have left give theirs
/// to others: a backend may take minutes for an answer that no client waits for.
final class ReadPermits: Sendable {
    /// A read that has a permit.
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
        return permits.take()
    }

    /// Returns a permit.
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
