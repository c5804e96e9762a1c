import TablesProtocol

@testable import SyncCore

/// One proxy of a fleet: its schedule, its queue and its run.
struct FleetProxy {
    /// An operation that the backend refused.
    struct Postponed {
        var attempts: Int
        var due: Instant
        /// Whether the backend named the time, so that a new proof does not make it due.
        var isForbidden: Bool
    }

    var scheduler: Scheduler
    /// Whether the backend gave a list, and nothing has failed since.
    var isProven = false
    /// Whether it has pulled every table since the return.
    var isSynced = false
    /// The push of the run.
    var push = PushState(isProven: false)
    /// Whether the run pulls after its push.
    private(set) var pulls = false
    /// The operations that the run has not tried.
    private(set) var operationsOfRun = 0
    /// How often each operation that is due was tried, the next one last.
    private var due: [Int]
    private var postponed: [Postponed] = []

    /// A proxy that was up, with a queue.
    init(queue: Int, now: Duration, wall: Instant) {
        scheduler = Scheduler(settings: SyncSettings(), url: "", now: now, wall: wall)
        _ = scheduler.next(now: now, outlook: Scheduler.Outlook())
        scheduler.reached(now: now, wall: wall)
        due = Array(repeating: 0, count: queue)
    }

    /// How often the next operation was tried.
    var attemptsOfNext: Int { due.last ?? 0 }

    /// What the store would say: operations whose time has come are due.
    mutating func outlook(_ now: Instant) -> Scheduler.Outlook {
        takeDue { $0.due <= now }
        let next = postponed.map(\.due).min()
        return Scheduler.Outlook(
            hasDue: !due.isEmpty,
            untilNext: next.map { .milliseconds($0.milliseconds - now.milliseconds) })
    }

    /// Begins a run with the operations that are due.
    mutating func begin(_ wish: Scheduler.Wish, _ now: Instant) {
        takeDue { $0.due <= now }
        push = PushState(isProven: isProven)
        operationsOfRun = due.count
        pulls = wish == .sync
    }

    /// The next operation was applied.
    mutating func sent() {
        due.removeLast()
        operationsOfRun -= 1
        push.record(PushedOperation(id: "", seq: 0, requests: 1, state: .done))
    }

    /// The next operation was refused.
    mutating func postpone(_ operation: Postponed, _ failure: Prover.Failure) {
        due.removeLast()
        operationsOfRun -= 1
        postponed.append(operation)
        push.record(
            PushedOperation(
                id: "", seq: 0, requests: 1, state: .waiting, linkFailure: failure))
    }

    /// The backend gave a list or took an operation: what waits for a time of our own is due.
    mutating func reached(_ now: Duration, _ wall: Instant) {
        scheduler.reached(now: now, wall: wall)
        if scheduler.takeRetryAll() { takeDue { !$0.isForbidden } }
    }

    private mutating func takeDue(_ isDue: (Postponed) -> Bool) {
        guard !postponed.isEmpty else { return }
        due += postponed.filter(isDue).map(\.attempts)
        postponed.removeAll(where: isDue)
    }
}
