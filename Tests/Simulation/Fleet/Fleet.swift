import Simulator
import TablesProtocol

@testable import Backend
@testable import SyncCore

/// Many proxies that return together after an outage, against a backend that takes a given number of requests
/// a second.
///
/// Each proxy decides with the product's own ``Scheduler``, and the backend with its own ``RequestBudget``. A
/// request is a moment in time: nothing is stored and nothing is sent.
///
/// 1. The backend is away until time 0. Each proxy has been probing since the outage began.
/// 2. Each proxy has a queue of its own length, and sends one request after another, as a push does by
///    default. Then it asks for one page of each of its tables.
/// 3. An operation that is refused waits as long as the backend said. After ``SyncLimits/circuitFailures``
///    refusals in a row the pass ends, and the proxy probes when the backend said.
struct Fleet {
    /// How the fleet is made.
    struct Plan {
        var proxies: Int
        /// What the backend takes in a second.
        var requestsPerSecond: Int
        /// The mean number of operations that wait at a proxy.
        var meanQueue = 5
        /// The tables of a proxy.
        var tables = 2
        /// How long the backend was away.
        var outage = Duration.seconds(600)
        /// From a request to its answer, in milliseconds.
        var roundTripMilliseconds = 100
        /// How long the fleet is watched after the backend's return.
        var watch = Duration.seconds(900)
        /// Whether the answers 429 say when to return.
        var saysWhenToReturn = true
        var seed: UInt64
    }

    private enum Request { case probe, operation, page(left: Int) }

    private enum Event {
        case step
        case answered(Request, RequestBudget.Decision)
    }

    private struct Proxy {
        var scheduler: Scheduler
        /// The operations that are due, and when each of the others is.
        var due: Int
        var held: [Duration] = []
        /// Refusals in a row within a pass.
        var refusals = 0
    }

    private let plan: Plan
    private let random: SeededRandom
    private let start = Instant(milliseconds: 1_700_000_000_000)
    private var budget: RequestBudget
    private var proxies: [Proxy] = []
    /// What happens in each millisecond after the return.
    private var agenda: [[(proxy: Int, event: Event)]]
    private(set) var result = FleetResult()

    init(_ plan: Plan) {
        self.plan = plan
        random = SeededRandom(plan.seed)
        budget = RequestBudget(requestsPerSecond: plan.requestsPerSecond)
        agenda = Array(repeating: [], count: Int(plan.watch.components.seconds) * 1000)
        result.arrivals = Array(repeating: 0, count: Int(plan.watch.components.seconds))
        result.accepted = result.arrivals
        for number in 0..<plan.proxies { addProxy(number) }
    }

    /// Lets the fleet return, and watches it.
    static func run(_ plan: Plan) -> FleetResult {
        var fleet = Fleet(plan)
        for millisecond in fleet.agenda.indices {
            // An event may add others to the same millisecond.
            var next = 0
            while next < fleet.agenda[millisecond].count {
                let (proxy, event) = fleet.agenda[millisecond][next]
                fleet.handle(event, of: proxy, at: millisecond)
                next += 1
            }
            fleet.agenda[millisecond] = []
        }
        return fleet.result
    }

    /// A proxy that has probed in vain since the outage began; its next probe is on the agenda.
    private mutating func addProxy(_ number: Int) {
        let settings = SyncSettings()
        var now = -plan.outage + .milliseconds(Int64(random.next(below: 20_000)))
        let away = Prover.Failure(state: .offline, reason: "away", retryAfter: nil)
        var scheduler = Scheduler(settings: settings, url: "", now: now, wall: wall(now))
        _ = scheduler.next(now: now, outlook: Scheduler.Outlook())
        while now < .zero {
            scheduler.failed(away, now: now, wall: wall(now), random: random)
            guard case .down(_, let probe) = scheduler.link else { break }
            now = max(probe, now + .milliseconds(1))
        }
        let queue = Int(random.next(below: UInt64(2 * plan.meanQueue + 1)))
        proxies.append(Proxy(scheduler: scheduler, due: queue))
        result.operations += queue
        put(.step, of: number, at: now)
    }

    private mutating func handle(_ event: Event, of number: Int, at millisecond: Int) {
        let now = Duration.milliseconds(Int64(millisecond))
        switch event {
        case .step: step(number, now)
        case .answered(.probe, .accepted):
            proxies[number].scheduler.reached(now: now, wall: wall(now))
            step(number, now)
        case .answered(.operation, .accepted):
            proxies[number].refusals = 0
            proxies[number].due -= 1
            result.sent += 1
            if result.sent == result.operations { result.drainedSeconds = millisecond / 1000 }
            pass(number, now)
        case .answered(.page(let left), .accepted):
            if left > 1 { return ask(.page(left: left - 1), number, now) }
            proxies[number].scheduler.reached(now: now, wall: wall(now))
            step(number, now)
        case .answered(.operation, .refused(let seconds)):
            proxies[number].due -= 1
            proxies[number].held.append(now + .seconds(seconds))
            proxies[number].refusals += 1
            guard proxies[number].refusals >= SyncLimits.circuitFailures else {
                return pass(number, now)
            }
            refused(number, now, seconds)
        case .answered(.probe, .refused(let seconds)), .answered(.page, .refused(let seconds)):
            refused(number, now, seconds)
        }
    }

    private mutating func step(_ number: Int, _ now: Duration) {
        let held = proxies[number].held
        proxies[number].held = held.filter { $0 > now }
        proxies[number].due += held.count - proxies[number].held.count
        let outlook = Scheduler.Outlook(
            hasDue: proxies[number].due > 0,
            untilNext: proxies[number].held.min().map { $0 - now })
        switch proxies[number].scheduler.next(now: now, outlook: outlook) {
        case .probe: ask(.probe, number, now)
        case .run:
            proxies[number].refusals = 0
            pass(number, now)
        case .wait(let until):
            if let until { put(.step, of: number, at: max(until, now + .milliseconds(1))) }
        }
    }

    /// Sends the next operation that is due, or asks for the first page.
    private mutating func pass(_ number: Int, _ now: Duration) {
        ask(proxies[number].due > 0 ? .operation : .page(left: plan.tables), number, now)
    }

    private mutating func refused(_ number: Int, _ now: Duration, _ seconds: Int) {
        let wait: Duration? = plan.saysWhenToReturn ? .seconds(seconds) : nil
        let busy = Prover.Failure(state: .degraded, reason: "busy", retryAfter: wait)
        proxies[number].scheduler.failed(busy, now: now, wall: wall(now), random: random)
        step(number, now)
    }

    private mutating func ask(_ request: Request, _ number: Int, _ now: Duration) {
        let decision = budget.decide(now: wall(now))
        let second = Int(now.components.seconds)
        result.arrivals[second] += 1
        if decision == .accepted { result.accepted[second] += 1 }
        put(
            .answered(request, decision), of: number,
            at: now + .milliseconds(Int64(plan.roundTripMilliseconds)))
    }

    private mutating func put(_ event: Event, of number: Int, at time: Duration) {
        let (seconds, attoseconds) = time.components
        // A wait that is no whole number of milliseconds is over in the next one.
        let millisecond =
            Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        if agenda.indices.contains(millisecond) { agenda[millisecond].append((number, event)) }
    }

    private func wall(_ time: Duration) -> Instant { start.advanced(by: time) }
}

/// What was seen of a fleet, by the second after the backend's return.
struct FleetResult {
    /// Requests that arrived, and those that were accepted.
    var arrivals: [Int] = []
    var accepted: [Int] = []
    /// The operations that waited, and those that were sent.
    var operations = 0
    var sent = 0
    /// When the last operation was sent; nil if some still wait.
    var drainedSeconds: Int?

    /// The most requests that arrived in one second.
    var peak: Int { arrivals.max() ?? 0 }
    /// The requests that were refused.
    var refused: Int { arrivals.reduce(0, +) - accepted.reduce(0, +) }
}
