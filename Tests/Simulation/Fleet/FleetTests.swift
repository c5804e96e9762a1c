import Foundation
import Testing

@testable import SyncCore

/// Fleets that return after an outage. `FLEETS` names others, with commas: proxies, requests that the backend
/// takes in a second, and the outage in seconds, such as `100000:5000:3600`. `FLEET_PICTURES` is a folder for
/// a picture of each.
@Suite struct FleetTests {
    private static let plans: [Fleet.Plan] = {
        let text = environment("FLEETS") ?? "1000:50:3600"
        return text.split(separator: ",").map { words in
            let numbers = words.split(separator: ":").compactMap { Int($0) }
            precondition(numbers.count == 3, "FLEETS is proxies:requests:seconds, not \(words)")
            return Fleet.Plan(
                proxies: numbers[0], requestsPerSecond: numbers[1], outage: .seconds(numbers[2]))
        }
    }()

    private static func environment(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name]
    }

    @Test(arguments: plans) func `a fleet returns without a stampede`(_ plan: Fleet.Plan) throws {
        let result = try Fleet.run(plan)
        let capacity = plan.requestsPerSecond
        let least = Double(result.operations + plan.proxies * (plan.tables + 1)) / Double(capacity)
        print(
            "\(plan.proxies) proxies, \(capacity) requests/s, seed \(plan.seed): "
                + "peak \(result.peak), drained after \(result.drainedSeconds) s "
                + "(at least \(Int(least)) s), "
                + "\(result.refused) of \(result.arrivals.reduce(0, +)) requests refused")
        if let folder = Self.environment("FLEET_PICTURES") {
            let name = "fleet-\(plan.proxies)-\(capacity)-\(plan.outage.components.seconds).svg"
            try FleetPicture(result, plan).svg.write(
                toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        }
        #expect(result.peak <= 2 * capacity)
        #expect(result.sent == result.operations)
        #expect(result.synced == plan.proxies)
        // The last proxy probes this late, and then its requests may have to wait once more.
        let probe = Double(SyncLimits.longOutageProbeCapMilliseconds) / 1000
        #expect(Double(result.drainedSeconds) <= max(probe, least) * 2)
    }

    @Test func `without random waits a fleet stampedes`() throws {
        var plan = Fleet.Plan(proxies: 1_000, requestsPerSecond: 50)
        plan.jitters = false
        let result = try Fleet.run(plan)
        print("without jitter: peak \(result.peak) of \(plan.requestsPerSecond)")
        #expect(result.peak > 4 * plan.requestsPerSecond)
    }

    @Test func `without Retry-After a fleet asks again and again`() throws {
        var plan = Fleet.Plan(proxies: 1_000, requestsPerSecond: 25)
        let told = try Fleet.run(plan)
        plan.saysWhenToReturn = false
        let blind = try Fleet.run(plan)
        print(
            "with and without Retry-After: peaks \(told.peak) and \(blind.peak), refused "
                + "\(told.refused) and \(blind.refused)")
        #expect(told.sent == told.operations)
        #expect(blind.refused > 4 * told.refused)
        #expect(blind.peak > 4 * plan.requestsPerSecond)
    }
}
