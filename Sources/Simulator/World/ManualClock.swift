public import SyncCore
import Synchronization
public import TablesProtocol

/// Time that stands still until a test moves it. Wall time and uptime move together, unless the
/// wall is made to jump.
public final class ManualClock: EngineClock, StoreClock {
    private struct Sleeper {
        var deadline: Duration
        var continuation: CheckedContinuation<Void, Never>
    }
    private struct State {
        var uptime = Duration.zero
        var offset: Duration = .zero
        var sleepers: [Int: Sleeper] = [:]
        var next = 0
        var cancelled: Set<Int> = []
        var arrivals: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())
    private let start: Instant

    /// A clock that shows this wall time.
    public init(start: Instant = Instant(milliseconds: 1_700_000_000_000)) { self.start = start }

    /// The wall time.
    public func now() -> Instant {
        let elapsed = state.withLock { $0.uptime + $0.offset }
        let (seconds, attoseconds) = elapsed.components
        return Instant(
            milliseconds: start.milliseconds + seconds * 1000
                + attoseconds / 1_000_000_000_000_000)
    }

    /// Time since the clock was made.
    public func uptime() -> Duration { state.withLock { $0.uptime } }

    /// Waits until a test has moved the time that far.
    public func sleep(until deadline: Duration) async {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, arrivals) = state.withLock { state in
                    defer { state.arrivals = [] }
                    let isOver =
                        deadline <= state.uptime || state.cancelled.remove(id) != nil
                        || Task.isCancelled
                    if !isOver {
                        state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    }
                    return (isOver, state.arrivals)
                }
                if isOver { continuation.resume() }
                for arrival in arrivals { arrival.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                if let sleeper = state.sleepers.removeValue(forKey: id) { return Optional(sleeper) }
                state.cancelled.insert(id)
                return nil
            }
            sleeper?.continuation.resume()
        }
    }

    /// Moves the time and wakes the tasks that waited for it, the earliest first.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.uptime += duration
            let now = state.uptime
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for id in due.keys { state.sleepers[id] = nil }
            // The task that began to sleep first wakes first where the times are the same.
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        }
        for (_, sleeper) in due { sleeper.continuation.resume() }
    }

    /// Makes the wall time jump, uptime not.
    public func jump(by duration: Duration) { state.withLock { $0.offset += duration } }

    /// How many tasks sleep.
    public var sleepers: Int { state.withLock { $0.sleepers.count } }

    /// The nearest time that a task sleeps until.
    public var nextDeadline: Duration? {
        state.withLock { $0.sleepers.values.map(\.deadline).min() }
    }

    /// Returns once a task sleeps.
    public func someoneSleeps() async {
        await withCheckedContinuation { continuation in
            let sleeps = state.withLock { state in
                if state.sleepers.isEmpty { state.arrivals.append(continuation) }
                return !state.sleepers.isEmpty
            }
            if sleeps { continuation.resume() }
        }
    }
}
