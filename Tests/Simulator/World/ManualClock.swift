public import SyncCore
import Synchronization
public import TablesProtocol

/// A clock that stands still until a test advances it. Wall time and uptime advance together; the wall time
/// can also jump.
public final class ManualClock: EngineClock {
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

    /// A clock with this wall time.
    public init(start: Instant = Instant(milliseconds: 1_700_000_000_000)) { self.start = start }

    /// The wall time.
    public func now() -> Instant {
        let elapsed = state.withLock { $0.uptime + $0.offset }
        return Instant(milliseconds: start.milliseconds + elapsed.wholeMilliseconds)
    }

    /// The time since the clock was made.
    public func uptime() -> Duration { state.withLock { $0.uptime } }

    /// Returns when a test has advanced the uptime to `deadline`, or when the task is cancelled.
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

    /// Advances the time, and resumes the tasks whose deadline is reached, the earliest first.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.uptime += duration
            let now = state.uptime
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for id in due.keys { state.sleepers[id] = nil }
            // Tasks with the same deadline are resumed in the order in which they began to sleep.
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        }
        for (_, sleeper) in due { sleeper.continuation.resume() }
    }

    /// Makes the wall time jump. The uptime stays.
    public func jump(by duration: Duration) { state.withLock { $0.offset += duration } }

    /// The number of sleeping tasks.
    public var sleepers: Int { state.withLock { $0.sleepers.count } }

    /// The nearest deadline of a sleeping task; nil if none sleeps.
    public var nextDeadline: Duration? {
        state.withLock { $0.sleepers.values.map(\.deadline).min() }
    }

    /// Returns when a task sleeps; for tests.
    public func waitForSleeper() async {
        await withCheckedContinuation { continuation in
            let sleeps = state.withLock { state in
                if state.sleepers.isEmpty { state.arrivals.append(continuation) }
                return !state.sleepers.isEmpty
            }
            if sleeps { continuation.resume() }
        }
    }
}

/// Random numbers from a seed (SplitMix64), for jitter, ids and faults.
public final class SeededRandom: RandomSource, IDSource, RandomNumberGenerator {
    private let state: Mutex<UInt64>

    /// Makes the generator of a seed.
    public init(_ seed: UInt64) { state = Mutex(seed) }

    /// The next 64 bits.
    public func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }

    /// A number in `0..<bound`.
    public func next(below bound: UInt64) -> UInt64 { next() % max(bound, 1) }

    /// True with this probability, 0 to 1.
    public func happens(_ probability: Double) -> Bool {
        Double(next(below: 1 << 53)) < probability * Double(1 << 53)
    }

    /// A random element.
    public func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(next(below: UInt64(elements.count)))]
    }
}
