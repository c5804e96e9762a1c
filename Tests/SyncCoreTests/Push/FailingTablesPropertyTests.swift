import Backend
import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Three tables whose backend fails for each in turn, at random, on virtual time.
@Suite struct FailingTablesPropertyTests {
    /// What the backend answers for one table.
    private struct Plan: Sendable {
        var status: Int?
        var after: Int?
        var onlyWrites = false
        /// The uptime before which the table may not be asked again for what failed, by `GET` or not.
        var patience: [Bool: Duration] = [:]
    }

    /// The backend's plans by table, and what was asked too early.
    private final class Faults: Sendable {
        let plans = Mutex<[String: Plan]>([:])
        let early = Mutex<[String]>([])

        /// The answer to a request; nil for the backend's own.
        func answer(_ request: Request, at now: Duration) -> Response? {
            let path = request.head.path ?? ""
            let name = String(path.dropFirst("/tables/".count).prefix { $0 != "/" && $0 != "?" })
            let isRead = request.head.method == .get
            return plans.withLock { plans in
                guard var plan = plans[name] else { return nil }
                defer { plans[name] = plan }
                if let time = plan.patience[isRead], now < time, !isRead {
                    early.withLock { $0.append("\(request.head.method) \(path) at \(now)") }
                }
                guard let status = plan.status, !(isRead && plan.onlyWrites) else { return nil }
                var fields: HTTPFields = [.contentType: "application/json"]
                if let after = plan.after, status != 500 {
                    fields[.retryAfter] = String(after)
                    plan.patience[isRead] = now + .seconds(after)
                }
                return Response(
                    status: .init(code: status), headerFields: fields, body: Array("{}".utf8))
            }
        }
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `healthy tables go on, and failing ones are asked seldom`(_ seed: UInt64) async throws {
        let names = ["todoitem", "orders", "lines"]
        let random = SeededRandom(seed &* 7919)
        let world = try World(seed: seed, settings: SyncSettings(interval: .seconds(60)))
        let faults = Faults()
        for name in names { try await write(world, name, "\(name)-0") }
        #expect(await world.engine.sync().state == .complete)
        world.transport.decide { request, _ in
            faults.answer(request, at: world.clock.uptime()).map { .instead($0) }
        }
        var written = names.map { ($0, "\($0)-0") }
        let loop = Task { await world.engine.run() }
        for round in 1...12 {
            // One table is always well, and may be asked: no time that it named for reads is left.
            let now = world.clock.uptime()
            let askable = faults.plans.withLock { plans in
                names.filter { (plans[$0]?.patience[true] ?? .zero) <= now }
            }
            let well = askable[Int(random.next(below: UInt64(askable.count)))]
            for name in names {
                var plan = Plan()
                if name != well, random.next(below: 3) > 0 {
                    plan.status = [502, 503, 504][Int(random.next(below: 3))]
                    plan.after = random.next(below: 3) == 0 ? 90 : nil
                    plan.onlyWrites = random.next(below: 2) == 0
                }
                faults.plans.withLock { plans in
                    plan.patience = plans[name]?.patience ?? [:]
                    plans[name] = plan
                }
            }
            world.transport.forget()
            for name in names {
                for number in 0..<5 {
                    let id = "\(name)-\(round)-\(number)"
                    try await write(world, name, id)
                    written.append((name, id))
                }
            }
            try await world.pass(for: .seconds(45))
            let posts = world.transport.targets.filter { $0.hasPrefix("POST") }
            for name in names where faults.plans.withLock({ $0[name]?.status != nil }) {
                let count = posts.filter { $0 == "POST /tables/\(name)" }.count
                #expect(count <= 12, "seed \(seed), round \(round), \(name): \(posts)")
            }
            // One that failed before may still wait as long as its backoff or the backend says.
            let wait = try await world.store.tables().first { $0.name == well }?.pushWait
            if wait == nil {
                let open = try await world.open().filter { $0.table == well }
                #expect(
                    open.allSatisfy { $0.state == .unknown || $0.state == .waiting },
                    "seed \(seed), round \(round), \(well): \(open)")
            }
            #expect(
                await world.engine.backendStatus.state == .online, "seed \(seed), \(round)")
        }
        faults.plans.withLock { plans in
            for name in names { plans[name]?.status = nil }
        }
        let end = world.clock.uptime() + .seconds(1300)
        try await world.pass {
            try await world.open().isEmpty || world.clock.uptime() > end
        }
        loop.cancel()
        await loop.value
        #expect(try await world.open().isEmpty, "seed \(seed)")
        #expect(
            faults.early.withLock { $0 }.isEmpty, "seed \(seed): \(faults.early.withLock { $0 })")
        #expect(await world.engine.with { $0.context.memory.stalls } == 0)
        for (name, id) in written {
            let table = try #require(TableName(name))
            #expect(try await world.backend.effectCount(table, id) == 1, "seed \(seed), \(id)")
        }
        #expect(try await world.store.ledger().balances)
    }

    private func write(_ world: World, _ table: String, _ id: String) async throws {
        let name = try #require(TableName(table))
        let body = ItemBody(id: try ItemID(id), columns: Columns(stored: #"{"text":"\#(id)"}"#))
        guard
            case .inserted = await world.store.submit(
                LocalWrite(table: name, action: .insert(body)))
        else { throw World.Failure("insert of \(id)") }
    }
}
