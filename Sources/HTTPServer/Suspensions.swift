import Synchronization

/// All that may hold a connection suspended. libmicrohttpd aborts the process when it is stopped
/// while a connection is suspended, so stopping closes this register first:
/// what waits for a change that is being made may wait on, for a while (see ``Reply/beginsChange()``).
final class Suspensions: Sendable {
    private struct State {
        var members: [ObjectIdentifier: any Interruptible] = [:]
        /// Whether even what waits for a change may not suspend any more.
        var isOver = false
    }
    private let state = Mutex(State())
    // Written under the lock of `state`; read without it only to answer early.
    private let closed = Atomic<Bool>(false)
    private let changes: OpenExchanges

    /// Counts changes with `changes`.
    init(changes: OpenExchanges) {
        self.changes = changes
    }

    /// Whether ``close(milliseconds:)`` was called.
    var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

    /// Registers `member` before it suspends; false when the server is stopping and it must not.
    /// - Parameter isChange: it waits for a change that began before.
    func enter(_ member: some Interruptible, isChange: Bool = false) -> Bool {
        state.withLock { state in
            if state.isOver || isClosed && !isChange { return false }
            state.members[ObjectIdentifier(member)] = member
            return true
        }
    }

    /// Forgets `member`, whose connection will not be suspended again.
    func leave(_ member: some Interruptible) {
        let key = ObjectIdentifier(member)
        _ = state.withLock { $0.members.removeValue(forKey: key) }
    }

    /// Counts a change that is being made; false when the server is stopping and it must not be made.
    func beginsChange() -> Bool {
        state.withLock { _ in
            if isClosed { return false }
            changes.opened()
            return true
        }
    }

    /// A change is made or has failed, and its reply is here.
    func changeEnded() { changes.closed() }

    /// Refuses new members and interrupts all there are; waits for the changes being made, at most so
    /// long. When it returns, no connection is suspended and none will be.
    @available(*, noasync)
    func close(milliseconds: Int) {
        let all = state.withLock { state in
            closed.store(true, ordering: .sequentiallyConsistent)
            return Array(state.members.values)
        }
        for member in all { member.interrupt() }
        changes.waitUntilNone(milliseconds: milliseconds)
        let rest = state.withLock { state in
            state.isOver = true
            return Array(state.members.values)
        }
        for member in rest { member.giveUp() }
    }
}

/// Something that may hold a connection suspended and lets go of it when the server stops.
protocol Interruptible: AnyObject, Sendable {
    /// Resumes the connection if it is suspended and never suspends it again; not where it waits for a
    /// change that the handler makes.
    func interrupt()
    /// The same, whatever it waits for.
    func giveUp()
}

extension Interruptible {
    func giveUp() { interrupt() }
}
