import HTTPMessage
import HTTPTypes
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct SampleTests {
    private func response(_ status: Int, _ body: String = #"{"error":"no"}"#) -> Response {
        Response(
            status: .init(code: status),
            headerFields: [.contentType: body.hasPrefix("<") ? "text/html" : "application/json"],
            body: Array(body.utf8))
    }

    @Test func `the sums of the samples are those of the ledger, also over a restart`() async throws
    {
        let world = try World()
        func growth(_ engine: SyncEngine, _ store: Store) async throws -> Sample.Growth {
            try await engine.samples(since: .earliest, stepSeconds: 60).reduce(into: .init()) {
                $0.add($1.growth)
            }
        }
        func check(_ engine: SyncEngine, _ store: Store) async throws {
            let (sum, ledger) = (try await growth(engine, store), try await store.ledger())
            let sums = [sum.accepted, sum.applied, sum.collapsed, sum.discarded].map(Int64.init)
            #expect(
                sums == [ledger.accepted, ledger.applied, ledger.collapsed, ledger.discarded])
            let samples = try await engine.samples(since: .earliest, stepSeconds: 60)
            #expect(samples.last?.depth == ledger.queue.open)
        }
        try await world.insert("a")
        try await world.insert("b")
        try await check(world.engine, world.store)
        _ = await world.engine.push()
        try await check(world.engine, world.store)
        world.clock.advance(by: .seconds(61))
        await world.engine.with { await $0.maintenance.sampleMinute() }
        try await world.insert("c")
        try await world.delete("c")
        try await world.update("a", #"{"text":"bread"}"#)
        try await check(world.engine, world.store)
        // A process that ends within a minute: its successor counts what the ledger has.
        let (store, engine) = try world.reborn()
        _ = await engine.push()
        world.clock.advance(by: .seconds(61))
        await engine.with { await $0.maintenance.sampleMinute() }
        try await check(engine, store)
        let applied = try await engine.samples(since: .earliest, stepSeconds: 60).map {
            $0.growth.applied
        }
        #expect(applied.filter { $0 > 0 } == [2, 1])
    }

    @Test(arguments: [
        (412, "{}", Sample.FailureCause.conflict), (400, "{}", .refused), (401, "{}", .signIn),
        (503, "{}", .unavailable), (429, "{}", .unavailable), (500, "{}", .serverError),
        (200, "<html>Sign in</html>", .unusable),
    ])
    func `a failed request is counted by its cause`(
        status: Int, body: String, cause: Sample.FailureCause
    ) async throws {
        let world = try World()
        try await world.seed("a", #"{"text":"milk"}"#)
        _ = await world.engine.pull(world.todo)
        try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#)
        try await world.update("a", #"{"text":"mine"}"#)
        let answer = response(status, body)
        if status != 412 {
            world.transport.decide { request, _ in
                request.head.method == .patch ? .instead(answer) : nil
            }
        }
        _ = await world.engine.push()
        let sample = try #require(
            try await world.engine.samples(since: .earliest, stepSeconds: 60).last)
        #expect(sample.growth.failures == [cause: 1])
    }

    @Test func `a read back that finds nothing is no failure`() async throws {
        let world = try World()
        try await world.insert("a")
        world.transport.once(.vanished) { $0.head.method == .post }
        for _ in 0..<3 {
            _ = await world.engine.push()
            world.clock.advance(by: .seconds(30))
        }
        #expect(world.transport.sent.contains { $0.head.method == .get })
        let samples = try await world.engine.samples(since: .earliest, stepSeconds: 3600)
        #expect(samples.map(\.growth.failures) == [[.noAnswer: 1]])
        #expect(samples.map(\.growth.applied) == [1])
    }

    @Test func `percentiles are upper bounds that are at most a fifth too high`() throws {
        var times = AnswerTimes()
        #expect(times.percentileMilliseconds(0.5) == nil)
        for milliseconds in 1...1000 { times.note(.milliseconds(milliseconds)) }
        for (share, exact) in [(0.5, 500.0), (0.95, 950), (0.99, 990), (1, 1000)] {
            let found = Double(try #require(times.percentileMilliseconds(share)))
            #expect(exact <= found && found <= exact * 1.1893 + 1, "\(share): \(found)")
        }
        #expect(AnswerTimes(stored: times.stored) == times)
        #expect(AnswerTimes(stored: #"["999 1","x 2","3"]"#) == AnswerTimes())
        times = AnswerTimes()
        times.note(.seconds(3600))
        times.note(.zero)
        #expect(times.percentileMilliseconds(1) == 131_072)
        #expect(times.percentileMilliseconds(0.5) == 1)
    }

    @Test func `minutes add up to steps that begin at whole multiples`() {
        func sample(_ minute: Int64, depth: Int, latency: Int?) -> Sample {
            var sample = Sample(
                at: Instant(milliseconds: 1_700_000_040_000 + minute * 60_000), depth: depth,
                succeeded: 1, failed: 2, latencyMilliseconds: latency)
            sample.growth.applied = 3
            sample.growth.failures = [.refused: 1]
            sample.reach = [.online: 40_000, .offline: 20_000]
            if let latency { sample.answers.note(.milliseconds(latency)) }
            return sample
        }
        // 22:14 to 22:16, 22:31
        let minutes = [
            sample(0, depth: 5, latency: 10), sample(1, depth: 9, latency: nil),
            sample(2, depth: 2, latency: 30), sample(17, depth: 1, latency: nil),
        ]
        #expect(minutes.steps(of: 60) == minutes)
        let steps = minutes.steps(of: 900)
        #expect(
            steps.map(\.at.text) == [
                "2023-11-14T22:00:00.000Z", "2023-11-14T22:15:00.000Z", "2023-11-14T22:30:00.000Z",
            ])
        #expect(steps.map(\.depth) == [5, 2, 1])
        #expect(steps.map(\.largestDepth) == [5, 9, 1])
        #expect(steps.map(\.growth.applied) == [3, 6, 3])
        #expect(steps.map { $0.growth.failures[.refused] } == [1, 2, 1])
        #expect(steps.map { $0.reach[.offline] } == [20_000, 40_000, 20_000])
        #expect(steps.map(\.latencyMilliseconds) == [10, 30, nil])
        // A mean that is rounded down with each minute falls further and further below this.
        let even = (0..<60).map { sample($0, depth: 1, latency: $0 % 2 == 0 ? 90 : 110) }
        #expect(even.steps(of: 7200).map(\.latencyMilliseconds) == [100])
        let hour = minutes.steps(of: 3600)
        #expect(hour.map(\.latencyMilliseconds) == [20])
        #expect(hour.map(\.answers.count) == [2])
    }

    @Test func `a second sample of the same minute is added to the first`() async throws {
        let world = try World()
        try await world.insert("a")
        world.clock.advance(by: .seconds(61))
        await world.engine.with { await $0.maintenance.sampleMinute() }
        world.clock.jump(by: .seconds(-61))
        try await world.insert("b")
        await world.engine.with { await $0.maintenance.sampleMinute() }
        world.clock.advance(by: .seconds(61))
        await world.engine.with { await $0.maintenance.sampleMinute() }
        let samples = try await world.engine.samples(since: .earliest, stepSeconds: 60)
        #expect(samples.map(\.growth.accepted).reduce(0, +) == 2)
    }

    @Test func `minutes that lie in the future after the clock was set back are left out`()
        async throws
    {
        let world = try World()
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(60))
            await world.engine.with { await $0.maintenance.sampleMinute() }
        }
        world.clock.jump(by: .seconds(-3600))
        await world.engine.with { await $0.maintenance.sampleMinute() }
        let samples = try await world.engine.samples(since: .earliest, stepSeconds: 60)
        #expect(samples.map(\.at) == [world.clock.now().roundedDown(toSeconds: 60)])
    }

    @Test func `a request that was not made is no failure`() async throws {
        let fixture = try StoreFixture()
        for (id, reach) in [("a", AttemptEnd.neverBegun), ("b", "notSent")] {
            try await fixture.insert(id)
            let sent = try #require(try await fixture.send())
            var end = AttemptEnd(error: "No.")
            end.reach = reach
            _ = try await fixture.store.write { [end] in
                try Settling(transaction: $0).settle(
                    sent.seq, .quarantined(reason: "No.", maybeApplied: false), attempt: end)
            }
        }
        let growth = try await fixture.store.read { try $0.samples.growth() }
        #expect(growth.failures == [.noAnswer: 1])
    }

    @Test func `the numbers of a file that another program wrote are bounded, so that they add up`()
        async throws
    {
        let fixture = try StoreFixture()
        let most = Int64.max
        let row = """
            \(most), \(most), \(most), \(most), \(most), \(most), '["refused \(most)"]', \(most), \(most),
            \(most), '["0 \(most)", "68 \(most)"]', '["online \(most)"]'
            """
        try await fixture.store.write { transaction in
            try transaction.run("UPDATE ledger SET value = ?, sampled = ?", [most, Int64.min])
            try transaction.run("INSERT INTO failures VALUES ('refused', ?, ?)", [most, -most])
            try transaction.run("INSERT INTO samples VALUES (60000, \(row)), (120000, \(row))")
        }
        let limit = StoreLimits.largestSampledNumber
        let growth = try await fixture.store.read { try $0.samples.growth() }
        #expect([growth.accepted, growth.applied, growth.discarded] == [limit, limit, limit])
        #expect(growth.failures == [.refused: limit])
        let samples = try await fixture.store.read { try $0.samples.since(.earliest) }
        let hour = try #require(samples.steps(of: 3600).first)
        #expect(hour.growth.accepted == 2 * limit && hour.growth.failures == [.refused: 2 * limit])
        #expect(hour.succeeded == 2 * limit && hour.reach == [.online: 2 * Int64(limit)])
        #expect(hour.latencyMilliseconds == limit && hour.answers.count == 4 * limit)
        #expect(hour.answers.percentileMilliseconds(1) == 131_072)
    }

    @Test func `the time that the backend was in each state is counted`() {
        var scheduler = Scheduler(
            settings: SyncSettings(triggers: [.manual]), url: "http://b", now: .zero,
            wall: .earliest)
        scheduler.reached(now: .seconds(5), wall: .earliest)
        scheduler.reached(now: .seconds(10), wall: .earliest)
        scheduler.failed(
            Prover.Failure(state: .degraded, reason: "500"), now: .seconds(20), wall: .earliest,
            random: SeededRandom(1))
        scheduler.setMode(.offline(until: nil), until: nil, now: .seconds(50))
        #expect(
            scheduler.reachability.milliseconds(now: .seconds(60)) == [
                .notAsked: 5_000, .online: 15_000, .degraded: 30_000, .switchedOff: 10_000,
            ])
        scheduler.reachability.restart(now: .seconds(60))
        scheduler.setMode(.online, until: nil, now: .seconds(61))
        #expect(
            scheduler.reachability.milliseconds(now: .seconds(62)) == [
                .switchedOff: 1_000, .degraded: 1_000,
            ])
    }
}
