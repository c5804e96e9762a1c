import Dispatch
import Synchronization

/// Puts jobs of the same key that wait for one another into groups, so that one transaction serves them all.
public final class WaitingGroups<Key: Hashable & Sendable, Job: Sendable>: Sendable {
    /// A job with the thread that brought it.
    ///
    /// `@unchecked Sendable`: `leads` is written before `turn` is signalled, and read after.
    private final class Member: @unchecked Sendable {
        let job: Job
        let turn = DispatchSemaphore(value: 0)
        /// Whether its thread leads the next group, instead of having been served.
        var leads = false

        init(_ job: Job) { self.job = job }
    }

    private struct Queue {
        var waiting: [Member] = []
        var hasLeader = false
    }

    private let queues = Mutex<[Key: Queue]>([:])

    /// No job waits.
    public init() {}

    /// Does a job, possibly together with others.
    ///
    /// 1. The job joins the queue of its key. Its thread waits, unless no other one leads there.
    /// 2. The leading thread takes all that wait, and does them.
    /// 3. Then the first of those that came meanwhile leads.
    /// - Parameter run: does the jobs of a group, on the leading thread.
    @available(*, noasync)
    public func perform(_ job: Job, of key: Key, _ run: ([Job]) -> Void) {
        let member = Member(job)
        let mustWait = queues.withLock { queues in
            var queue = queues[key] ?? Queue()
            queue.waiting.append(member)
            let mustWait = queue.hasLeader
            queue.hasLeader = true
            queues[key] = queue
            return mustWait
        }
        if mustWait {
            member.turn.wait()
            guard member.leads else { return }
        }
        let group = queues.withLock { queues in
            defer { queues[key]?.waiting = [] }
            return queues[key]?.waiting ?? []
        }
        run(group.map(\.job))
        let next = queues.withLock { queues in
            let next = queues[key]?.waiting.first
            if next == nil { queues[key] = nil }
            return next
        }
        for served in group where served !== member { served.turn.signal() }
        guard let next else { return }
        next.leads = true
        next.turn.signal()
    }
}
