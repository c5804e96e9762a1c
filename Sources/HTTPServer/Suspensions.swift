import Synchronization

/// All that may hold a connection suspended. libmicrohttpd aborts the process when it is stopped
/// while a connection is suspended, so stopping closes this register first.
final class Suspensions: Sendable {
    private let members = Mutex<[ObjectIdentifier: any Interruptible]>([:])
    // Written under the lock of `members`; read without it only to answer early.
    private let closed = Atomic<Bool>(false)

    /// Whether ``close()`` was called.
    var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

    /// Registers `member` before it suspends; false when the server is stopping and it must not.
    func enter(_ member: some Interruptible) -> Bool {
        members.withLock { members in
            if isClosed { return false }
            members[ObjectIdentifier(member)] = member
            return true
        }
    }

    /// Forgets `member`, whose connection will not be suspended again.
    func leave(_ member: some Interruptible) {
        let key = ObjectIdentifier(member)
        _ = members.withLock { $0.removeValue(forKey: key) }
    }

    /// Refuses new members and interrupts all there are. When it returns, no connection is suspended
    /// and none will be.
    func close() {
        let all = members.withLock { members in
            closed.store(true, ordering: .sequentiallyConsistent)
            return Array(members.values)
        }
        for member in all { member.interrupt() }
    }
}
