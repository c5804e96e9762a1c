import Synchronization

/// The register of everything that may suspend a connection.
///
/// libmicrohttpd aborts the process when it is stopped while a connection is suspended. So a stop closes
/// this register first. Members that wait for a change are interrupted last (``Reply/tryBeginChange()``).
final class Suspensions: Sendable {
    private struct State {
        var members: [ObjectIdentifier: any Interruptible] = [:]
        /// Whether members that wait for a change are refused too.
        var refusesChanges = false
    }
    private let state = Mutex(State())
    // Written under the lock of `state`; read without it only to answer early.
    private let closed = Atomic<Bool>(false)
    private let changes: InFlightCounter

    /// - Parameter changes: counts the changes in progress.
    init(changes: InFlightCounter) {
        self.changes = changes
    }

    /// Whether ``close(milliseconds:)`` was called.
    var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

    /// Registers `member` before it suspends; false when the server is stopping and it must not.
    /// - Parameter isChange: it waits for a change that began before.
    func register(_ member: some Interruptible, isChange: Bool = false) -> Bool {
        state.withLock { state in
            if state.refusesChanges || isClosed && !isChange { return false }
            state.members[ObjectIdentifier(member)] = member
            return true
        }
    }

    /// Removes `member`, whose connection will not be suspended again.
    func unregister(_ member: some Interruptible) {
        let key = ObjectIdentifier(member)
        _ = state.withLock { $0.members.removeValue(forKey: key) }
    }

    /// Counts a change that is being made; false when the server is stopping and it must not be made.
    func tryBeginChange() -> Bool {
        state.withLock { _ in
            if isClosed { return false }
            changes.increment()
            return true
        }
    }

    /// Records that a change has ended, made or failed, and that its reply exists.
    func changeEnded() { changes.decrement() }

    /// Closes the register. When it returns, no connection is suspended and none will be.
    ///
    /// 1. Refuse new members that wait for no change, and interrupt those that are there.
    /// 2. Block until no change is in progress, at most `milliseconds`.
    /// 3. Refuse all new members, and interrupt the rest.
    @available(*, noasync)
    func close(milliseconds: Int) {
        let all = state.withLock { state in
            closed.store(true, ordering: .sequentiallyConsistent)
            return Array(state.members.values)
        }
        for member in all { member.interruptUnlessChange() }
        changes.waitUntilZero(milliseconds: milliseconds)
        let rest = state.withLock { state in
            state.refusesChanges = true
            return Array(state.members.values)
        }
        for member in rest { member.interrupt() }
    }
}

/// A holder of a suspended connection, which a stop of the server interrupts.
protocol Interruptible: AnyObject, Sendable {
    /// Resumes the connection if it is suspended, and never suspends it again.
    func interrupt()
    /// The same, but nothing while the connection waits for a change that the handler makes.
    func interruptUnlessChange()
}

extension Interruptible {
    func interruptUnlessChange() { interrupt() }
}
