import Foundation
import Testing

/// A fleet that returns after an outage: `FLEET=proxies:requests a second:outage in seconds`.
@Suite struct FleetTests {
    private static let plans: [Fleet.Plan] = {
        let text = ProcessInfo.processInfo.environment["FLEET"] ?? "10000:2000:600"
        return text.split(separator: ",").compactMap { words in
            let numbers = words.split(separator: ":").compactMap { Int($0) }
            guard numbers.count == 3 else { return nil }
            return Fleet.Plan(
                proxies: numbers[0], requestsPerSecond: numbers[1],
                outage: .seconds(numbers[2]), seed: 1)
        }
    }()

    @Test(arguments: plans)
    func `a fleet returns without a stampede`(_ plan: Fleet.Plan) throws {
        let result = Fleet.run(plan)
        let capacity = plan.requestsPerSecond
        print(
            "\(plan.proxies) proxies, \(capacity) requests/s, seed \(plan.seed): peak \(result.peak), "
                + "\(result.operations) operations drained after \(result.drainedSeconds ?? -1) s, "
                + "\(result.refused) of \(result.arrivals.reduce(0, +)) requests refused")
        #expect(result.peak <= 2 * capacity)
        #expect(result.sent == result.operations)
        // With every place used from the first second on, the queues and pages would take this long.
        let least = Double(result.operations + plan.proxies * (plan.tables + 1)) / Double(capacity)
        let drained = try #require(result.drainedSeconds)
        #expect(Double(drained) <= 1.5 * least + 20)
        if let file = ProcessInfo.processInfo.environment["FLEET_PICTURE"] {
            try FleetPicture(result, capacity: capacity).svg
                .write(toFile: file, atomically: true, encoding: .utf8)
        }
    }

    @Test func `without Retry-After more requests are refused`() throws {
        var plan = Fleet.Plan(proxies: 2_000, requestsPerSecond: 200, seed: 1)
        let spread = Fleet.run(plan)
        plan.saysWhenToReturn = false
        let blind = Fleet.run(plan)
        print("refused: \(spread.refused) with Retry-After, \(blind.refused) without")
        #expect(blind.refused > 2 * spread.refused)
    }
}
