import Simulator
import TablesProtocol
import Testing

@testable import Backend
@testable import SyncCore

/// Many proxies that return together after an outage, against a backend that takes a given number of requests
/// a second.
///
/// The product's own types decide: each proxy has a ``Scheduler``, a ``PushState`` for each push, and a
/// ``RetryTimes`` for each answer; the backend has a ``RequestBudget``. A request is a moment of virtual time:
/// nothing is stored and nothing is sent.
///
/// 1. Until time 0 the backend is away and refuses connections. All proxies notice within
///    ``Plan/noticed``, and probe from then on.
/// 2. From time 0 on the backend answers. Each proxy has a queue of its own length. It sends one operation
///    after another, as a push does by default, and then asks for one page of each of its tables.
/// 3. Nobody writes anything new.
struct Fleet {
    /// How the fleet is made.
    struct Plan {
        var proxies: Int
        /// What the backend takes in a second.
        var requestsPerSecond: Int
        /// How long the backend was away.
        var outage = Duration.seconds(3600)
        /// Within what time all proxies notice that it is away.
        var noticed = Duration.seconds(5)
        /// The mean number of operations that wait at a proxy.
        var meanQueue = 5
        /// The tables of a proxy.
        var tables = 2
        /// From a request to its answer, in milliseconds.
        var roundTripMilliseconds: Int64 = 100
        /// How long the fleet is watched after the backend's return.
        var watch = Duration.seconds(900)
        /// Whether a proxy's waits are random. Without that, all wait the longest time.
        var jitters = true
        /// Whether an answer 429 says when to return.
        var saysWhenToReturn = true
        var seed: UInt64 = 1
    }

    private enum Request { case probe, proof, operation, page(left: Int) }

    private enum Event {
        case step
        case answered(Request, RequestBudget.Decision)
    }

    private let plan: Plan
    private let table: TableName
    private let random: SeededRandom
    private let start = Instant(milliseconds: 1_700_000_000_000)
    private var budget: RequestBudget
    private var proxies: [FleetProxy] = []
    /// What happens in each millisecond after the return.
    private var agenda: [[(proxy: Int, event: Event)]]
    private var result: FleetResult

    private init(_ plan: Plan) throws {
        self.plan = plan
        table = try #require(TableName("todoitem"))
        random = SeededRandom(plan.seed)
        budget = RequestBudget(requestsPerSecond: plan.requestsPerSecond)
        let seconds = Int(plan.watch.components.seconds)
        agenda = Array(repeating: [], count: seconds * 1000)
        result = FleetResult(seconds: seconds)
        for number in 0..<plan.proxies { addProxy(number) }
    }

    /// Lets the fleet return, and watches it.
    static func run(_ plan: Plan) throws -> FleetResult {
        var fleet = try Fleet(plan)
        for millisecond in fleet.agenda.indices {
            // An event may add others to the same millisecond.
            var next = 0
            while next < fleet.agenda[millisecond].count {
                let (proxy, event) = fleet.agenda[millisecond][next]
                fleet.handle(event, of: proxy, at: .milliseconds(Int64(millisecond)))
                next += 1
            }
            fleet.agenda[millisecond] = []
        }
        return fleet.result
    }

    /// A proxy that was up, and has probed in vain since the outage began. Its next probe is on the agenda.
    private mutating func addProxy(_ number: Int) {
        let queue = Int(random.next(below: UInt64(2 * plan.meanQueue + 1)))
        let notices = UInt64(plan.noticed / .milliseconds(1))
        var now =
            Duration.zero - plan.outage + .milliseconds(Int64(random.next(below: notices + 1)))
        var proxy = FleetProxy(queue: queue, now: now, wall: wall(now))
        let away = Prover.Failure(state: .offline, reason: "away")
        while now < .zero {
            proxy.scheduler.failed(away, now: now, wall: wall(now), random: waits)
            guard case .wait(let probe?) = proxy.scheduler.next(now: now, outlook: .init()) else {
                continue
            }
            now = probe
        }
        proxies.append(proxy)
        result.operations += queue
        put(.step, of: number, at: now)
    }

    /// Where the proxies' random waits come from.
    private var waits: any RandomSource { plan.jitters ? random : LongestWaits() }

    private mutating func handle(_ event: Event, of number: Int, at now: Duration) {
        switch event {
        case .step: step(number, now)
        case .answered(let request, .accepted): accepted(request, number, now)
        case .answered(let request, .refused(let seconds)):
            let field = plan.saysWhenToReturn ? String(seconds) : nil
            let answer = RemoteAnswer.unavailable(
                status: 429, retryAfter: RetryAfter.parse(field, now: wall(now)))
            refused(request, answer, number, now)
        }
    }

    private mutating func step(_ number: Int, _ now: Duration) {
        let outlook = proxies[number].outlook(wall(now))
        switch proxies[number].scheduler.next(now: now, outlook: outlook) {
        case .probe: ask(.probe, number, now)
        case .run(let wish):
            proxies[number].begin(wish, wall(now))
            goOn(number, now)
        case .wait(let until):
            if let until { put(.step, of: number, at: max(until, now + .milliseconds(1))) }
        }
    }

    /// What a run does next, as PushPass and the pulls after it do.
    private mutating func goOn(_ number: Int, _ now: Duration) {
        if case .backend(let failure) = proxies[number].push.stop {
            return failed(failure, number, now)
        }
        if proxies[number].operationsOfRun > 0 {
            return ask(proxies[number].push.isProven ? .operation : .proof, number, now)
        }
        proxies[number].isProven = proxies[number].push.isProven
        if proxies[number].push.report.applied > 0 { proxies[number].reached(now, wall(now)) }
        if proxies[number].pulls { return ask(.page(left: plan.tables), number, now) }
        step(number, now)
    }

    private mutating func accepted(_ request: Request, _ number: Int, _ now: Duration) {
        switch request {
        case .probe:
            proxies[number].isProven = true
            proxies[number].reached(now, wall(now))
            step(number, now)
        case .proof:
            proxies[number].push.isProven = true
            goOn(number, now)
        case .operation:
            proxies[number].sent()
            result.sent += 1
            result.drainedSeconds = Int(now.components.seconds)
            goOn(number, now)
        case .page(let left):
            proxies[number].isProven = true
            proxies[number].reached(now, wall(now))
            if left > 1 { return ask(.page(left: left - 1), number, now) }
            if !proxies[number].isSynced { result.synced += 1 }
            proxies[number].isSynced = true
            step(number, now)
        }
    }

    private mutating func refused(
        _ request: Request, _ answer: RemoteAnswer, _ number: Int, _ now: Duration
    ) {
        let failure = Prover.failure(answer, table)
        switch request {
        case .probe, .page: failed(failure, number, now)
        case .proof:
            proxies[number].push.stop = .backend(failure)
            goOn(number, now)
        case .operation:
            let attempts = proxies[number].attemptsOfNext + 1
            let times = RetryTimes(
                attempts: attempts, maxAttempts: 10, now: wall(now), random: waits)
            if case .postponed(let later) = times.outcome(Verdict.noVerdict(answer)),
                !later.maybeApplied
            {
                proxies[number].postpone(
                    .init(
                        attempts: attempts, due: later.until ?? wall(now),
                        isForbidden: later.isRetryAfter), failure)
            }
            goOn(number, now)
        }
    }

    private mutating func failed(_ failure: Prover.Failure, _ number: Int, _ now: Duration) {
        proxies[number].isProven = false
        proxies[number].scheduler.failed(failure, now: now, wall: wall(now), random: waits)
        step(number, now)
    }

    private mutating func ask(_ request: Request, _ number: Int, _ now: Duration) {
        let decision = budget.decide(now: wall(now))
        let second = Int(now.components.seconds)
        result.arrivals[second] += 1
        if decision == .accepted { result.accepted[second] += 1 }
        put(
            .answered(request, decision), of: number,
            at: now + .milliseconds(plan.roundTripMilliseconds))
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

/// The longest wait each time.
private struct LongestWaits: RandomSource {
    func next(below bound: UInt64) -> UInt64 { bound - 1 }
}
