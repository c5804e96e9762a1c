import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct SchedulerTests {
    private let random = SeededRandom(1)
    private let wall = Instant(milliseconds: 1_700_000_000_000)
    private let down = Prover.Failure(state: .offline, reason: "Connection refused")
    private let due = Scheduler.Outlook(hasDue: true)
    private let idle = Scheduler.Outlook()

    private func scheduler(_ triggers: Set<Trigger> = [.manual, .afterWrites, .reconnect])
        -> Scheduler
    {
        let settings = SyncSettings(
            triggers: triggers, interval: .seconds(60), debounce: .seconds(1))
        return Scheduler(settings: settings, url: "http://b", now: .zero, wall: wall)
    }

    @Test func `work that exists at the start is pushed at once`() {
        var scheduler = scheduler()
        #expect(scheduler.next(now: .zero, outlook: due) == .run(.push))
    }

    @Test func `writes are pushed after a quiet moment, within a maximum delay`() {
        var scheduler = scheduler()
        for tenth in 0..<120 {
            let now = Duration.milliseconds(tenth * 100)
            scheduler.wake(.write, now: now)
            let step = scheduler.next(now: now, outlook: due)
            #expect(
                step
                    == (tenth < 100
                        ? .wait(until: min(now + .seconds(1), .seconds(10))) : .run(.push)))
            if step == .run(.push) { return }
        }
        Issue.record("never pushed")
    }

    @Test func `with only the manual trigger nothing is due without a request`() {
        var scheduler = scheduler([.manual])
        scheduler.wake(.write, now: .zero)
        #expect(scheduler.next(now: .seconds(100), outlook: due) == .wait(until: nil))
        scheduler.failed(down, now: .zero, wall: wall, random: random)
        #expect(scheduler.next(now: .seconds(100), outlook: due) == .wait(until: nil))
        scheduler.wish(.sync)
        #expect(scheduler.next(now: .seconds(100), outlook: due) == .run(.sync))
    }

    @Test func `the interval trigger syncs at the start and at each interval`() {
        var scheduler = scheduler([.manual, .interval])
        #expect(scheduler.next(now: .zero, outlook: idle) == .run(.sync))
        #expect(scheduler.next(now: .seconds(1), outlook: idle) == .wait(until: .seconds(60)))
        #expect(scheduler.next(now: .seconds(60), outlook: idle) == .run(.sync))
    }

    @Test func `a copy is checked when nothing else is due and the backend answers`() throws {
        var scheduler = scheduler()
        let table = try #require(TableName("todoitem"))
        var outlook = Scheduler.Outlook(check: table, untilCheck: .seconds(7))
        #expect(scheduler.next(now: .zero, outlook: outlook) == .wait(until: nil))
        scheduler.reached(now: .zero, wall: wall)
        #expect(scheduler.next(now: .seconds(3), outlook: outlook) == .wait(until: .seconds(10)))
        outlook.untilCheck = .zero
        outlook.hasDue = true
        #expect(scheduler.next(now: .seconds(10), outlook: outlook) == .run(.push))
        outlook.hasDue = false
        #expect(
            scheduler.next(now: .seconds(11), outlook: outlook)
                == .run(.pull(PullRequest(table: table, checksCopy: true))))
        scheduler.failed(down, now: .seconds(12), wall: wall, random: random)
        if case .run = scheduler.next(now: .seconds(12), outlook: outlook) {
            Issue.record("checked while the backend is away")
        }
        var manual = self.scheduler([.manual])
        manual.reached(now: .zero, wall: wall)
        #expect(manual.next(now: .seconds(11), outlook: outlook) == .wait(until: nil))
    }

    @Test func `a waiting operation wakes the schedule when it is due`() {
        var scheduler = scheduler()
        let outlook = Scheduler.Outlook(hasDue: false, untilNext: .seconds(7))
        #expect(scheduler.next(now: .seconds(3), outlook: outlook) == .wait(until: .seconds(10)))
    }

    @Test func `an unreachable backend is probed less and less often, then all is synced`() {
        var scheduler = scheduler()
        var now = Duration.zero
        for failures in 1...12 {
            scheduler.failed(down, now: now, wall: wall, random: random)
            #expect(scheduler.backend.state == .offline)
            guard case .wait(let until?) = scheduler.next(now: now, outlook: due) else {
                // The jitter may be zero.
                #expect(scheduler.next(now: now, outlook: due) == .probe)
                continue
            }
            let cap = min(Duration.seconds(20), .seconds(1 << (failures - 1)))
            #expect(until - now <= cap)
            now = until
            #expect(scheduler.next(now: now, outlook: due) == .probe)
        }
        #expect(scheduler.nextProbe != nil)
        scheduler.reached(now: now, wall: wall)
        #expect(scheduler.nextProbe == nil && scheduler.backend.state == .online)
        #expect(scheduler.next(now: now, outlook: due) == .run(.sync))
        scheduler.reached(now: now, wall: wall)
        #expect(scheduler.nextProbe == nil)
    }

    @Test(arguments: [
        // Minutes away, and the longest wait in seconds: a twentieth, at least 20 s, at most 3 minutes.
        (0, 20), (6, 20), (20, 60), (60, 180), (1440, 180),
    ])
    func `the longer the backend is away, the longer a probe may wait`(_ minutes: Int, _ most: Int)
    {
        var waits: [Duration] = []
        for _ in 0..<200 {
            let wait = Backoff.probe(
                failures: 100, outage: .seconds(60 * minutes), random: random)
            waits.append(wait)
        }
        let longest = waits.max() ?? .zero
        #expect(longest <= .seconds(most))
        #expect(longest > .seconds(most) * 9 / 10)
        // Random from nothing on, so that those which failed together do not return together.
        #expect((waits.min() ?? .seconds(most)) < .seconds(most) / 10)
    }

    @Test func `an outage lasts from its first failure until the backend is reached`() {
        var scheduler = scheduler()
        let longest = LongestWaits()
        for _ in 0..<40 { scheduler.failed(down, now: .zero, wall: wall, random: longest) }
        #expect(scheduler.next(now: .zero, outlook: due) == .wait(until: .seconds(20)))
        let now = probeInVain(&scheduler, from: .seconds(20), until: .seconds(3600))
        #expect(scheduler.next(now: now, outlook: due) == .wait(until: now + .seconds(180)))
        scheduler.reached(now: now, wall: wall)
        #expect(scheduler.next(now: now, outlook: due) == .run(.sync))
        scheduler.failed(down, now: now, wall: wall, random: longest)
        #expect(scheduler.next(now: now, outlook: due) == .wait(until: now + .seconds(1)))
    }

    @Test func `time that was slept is no outage`() {
        var scheduler = scheduler()
        let now = probeInVain(&scheduler, from: .zero, until: .seconds(60))
        let awake = now + .seconds(8 * 3600)
        #expect(scheduler.next(now: awake, outlook: due) == .probe)
        scheduler.failed(down, now: awake, wall: wall, random: LongestWaits())
        #expect(scheduler.next(now: awake, outlook: due) == .wait(until: awake + .seconds(20)))
    }

    /// Probes in vain, each time when the probe is due, with the longest waits.
    /// - Returns: the time of the last probe, the first one at `end` or later.
    private func probeInVain(
        _ scheduler: inout Scheduler, from begin: Duration, until end: Duration
    ) -> Duration {
        var now = begin
        while true {
            scheduler.failed(down, now: now, wall: wall, random: LongestWaits())
            guard now < end, case .wait(let probe?) = scheduler.next(now: now, outlook: due)
            else { return now }
            now = probe
        }
    }

    @Test func `a sync that is requested begins the interval anew`() {
        var scheduler = scheduler([.manual, .interval, .reconnect])
        #expect(scheduler.next(now: .zero, outlook: idle) == .run(.sync))
        scheduler.failed(down, now: .zero, wall: wall, random: random)
        scheduler.reached(now: .seconds(100), wall: wall)
        #expect(scheduler.next(now: .seconds(100), outlook: idle) == .run(.sync))
        #expect(
            scheduler.next(now: .seconds(101), outlook: idle) == .wait(until: .seconds(160)))
    }

    @Test func `Retry-After replaces the probe's own delay`() {
        var scheduler = scheduler()
        var failure = down
        failure.retryAfter = .seconds(300)
        scheduler.failed(failure, now: .zero, wall: wall, random: random)
        #expect(scheduler.next(now: .seconds(299), outlook: due) == .wait(until: .seconds(300)))
        #expect(scheduler.backend.nextTry == wall.advanced(by: .seconds(300)))
    }

    @Test func `a hint that the backend is reachable makes the probe due`() {
        var scheduler = scheduler()
        var failure = down
        failure.retryAfter = .seconds(300)
        scheduler.failed(failure, now: .zero, wall: wall, random: random)
        scheduler.wake(.reachable, now: .seconds(5))
        #expect(scheduler.next(now: .seconds(5), outlook: due) == .probe)
    }

    @Test func `signed out waits for a sign-in, not for the queue`() {
        var scheduler = scheduler()
        let failure = Prover.Failure(state: .signedOut, reason: "sign in")
        scheduler.failed(failure, now: .zero, wall: wall, random: random)
        #expect(scheduler.next(now: .seconds(30), outlook: due) == .wait(until: .seconds(60)))
        #expect(scheduler.backend.nextTry == wall.advanced(by: .seconds(60)))
        scheduler.wake(.signedIn, now: .seconds(31))
        #expect(scheduler.next(now: .seconds(31), outlook: due) == .run(.sync))
    }

    @Test func `operations paused for a sign-in are retried once, after the next proof`() {
        var scheduler = scheduler()
        #expect(!scheduler.retriesAllWhenProven)
        scheduler.failed(
            Prover.Failure(state: .signedOut, reason: "sign in"), now: .zero, wall: wall,
            random: random)
        scheduler.wake(.signedIn, now: .seconds(1))
        // An answer that proves nothing releases no operation.
        scheduler.reached(now: .seconds(2), wall: wall)
        #expect(scheduler.retriesAllWhenProven)
        let isDue = scheduler.takeRetryAll()
        #expect(isDue)
        scheduler.wake(.signedIn, now: .seconds(3))
        scheduler.reached(now: .seconds(4), wall: wall)
        #expect(!scheduler.retriesAllWhenProven)
    }

    @Test func `a backend that requires a sign-in is probed after a request fails to reach it`() {
        var scheduler = scheduler()
        scheduler.failed(
            Prover.Failure(state: .signedOut, reason: "sign in"), now: .zero, wall: wall,
            random: random)
        scheduler.wake(.unreachable, now: .seconds(1))
        #expect(scheduler.next(now: .seconds(1), outlook: due) == .probe)
        #expect(scheduler.next(now: .seconds(1), outlook: due) == .wait(until: .seconds(60)))
    }

    @Test func `offline mode pauses everything and ends at its time`() {
        var scheduler = scheduler()
        scheduler.setMode(.offline(until: nil), until: nil, now: .zero)
        #expect(scheduler.next(now: .seconds(999), outlook: due) == .wait(until: nil))
        scheduler.setMode(.offline(until: wall), until: .seconds(1000), now: .seconds(999))
        #expect(scheduler.next(now: .seconds(999), outlook: due) == .wait(until: .seconds(1000)))
        #expect(scheduler.next(now: .seconds(1000), outlook: due) == .run(.sync))
        #expect(scheduler.mode == .online)
    }

    @Test func `a read table is pulled, but not with every read, and once more after the last`()
        throws
    {
        var scheduler = scheduler([.manual, .read])
        let table = try #require(TableName("todoitem"))
        for second in 0..<10 { scheduler.wake(.read(table), now: .seconds(second)) }
        let wish = Scheduler.Wish.pull(PullRequest(table: table))
        #expect(scheduler.next(now: .seconds(9), outlook: idle) == .run(wish))
        #expect(scheduler.next(now: .seconds(9), outlook: idle) == .wait(until: .seconds(10)))
        #expect(scheduler.next(now: .seconds(10), outlook: idle) == .run(wish))
        #expect(scheduler.next(now: .seconds(10), outlook: idle) == .wait(until: nil))
    }

    @Test func `a pull that a read waits for counts as one of its table`() throws {
        var scheduler = scheduler([.manual, .read])
        let table = try #require(TableName("todoitem"))
        let wish = Scheduler.Wish.pull(PullRequest(table: table))
        scheduler.wake(.read(table), now: .zero)
        #expect(scheduler.next(now: .zero, outlook: idle) == .run(wish))
        scheduler.wake(.read(table), now: .seconds(1))
        scheduler.pullsForRead(of: table, now: .seconds(2))
        #expect(scheduler.next(now: .seconds(6), outlook: idle) == .wait(until: nil))
        scheduler.wake(.read(table), now: .seconds(6))
        #expect(scheduler.next(now: .seconds(6), outlook: idle) == .wait(until: .seconds(7)))
    }

    @Test func `reads of many tables pull a limited number of them, and the others later`() throws {
        var scheduler = scheduler([.manual, .read])
        func pulled(_ names: Range<Int>, at seconds: Int) throws -> Int {
            for name in names {
                scheduler.wake(.read(try #require(TableName("t\(name)"))), now: .seconds(seconds))
            }
            var pulls = 0
            while case .run = scheduler.next(now: .seconds(seconds), outlook: idle) { pulls += 1 }
            return pulls
        }
        #expect(try pulled(0..<900, at: 0) == SyncLimits.readTables)
        #expect(try pulled(0..<900, at: 4) == 0)
        // Those that were read again at 4 s wait until now, and take what is left of the number.
        #expect(try pulled(500..<520, at: 5) == SyncLimits.readTables)
        #expect(try pulled(520..<540, at: 10) == 20)
    }

    @Test func `due work without progress for half a minute is a stall`() {
        var scheduler = scheduler()
        #expect(scheduler.next(now: .zero, outlook: due) == .run(.push))
        #expect(!scheduler.isStalled(now: .seconds(30), outlook: due, isRunning: false))
        #expect(scheduler.isStalled(now: .seconds(31), outlook: due, isRunning: false))
        #expect(!scheduler.isStalled(now: .seconds(150), outlook: idle, isRunning: true))
        #expect(scheduler.isStalled(now: .seconds(151), outlook: idle, isRunning: true))
        #expect(!scheduler.isStalled(now: .seconds(31), outlook: idle, isRunning: false))
        scheduler.progressed(now: .seconds(31))
        #expect(!scheduler.isStalled(now: .seconds(60), outlook: due, isRunning: false))
        scheduler.failed(down, now: .seconds(60), wall: wall, random: random)
        #expect(!scheduler.isStalled(now: .seconds(500), outlook: due, isRunning: false))
    }

    @Test func `the same wish twice is one run`() {
        var scheduler = scheduler()
        scheduler.wish(.sync)
        scheduler.wish(.sync)
        #expect(scheduler.next(now: .zero, outlook: idle) == .run(.sync))
        #expect(scheduler.next(now: .zero, outlook: idle) == .wait(until: nil))
    }
}

/// The longest wait each time.
private struct LongestWaits: RandomSource {
    func next(below bound: UInt64) -> UInt64 { bound - 1 }
}
