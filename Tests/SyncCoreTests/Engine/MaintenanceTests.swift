import Backend
import Foundation
import HTTPMessage
import HTTPTypes
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite(.ends) struct MaintenanceTests {
    @Test func `samples are kept for seven days and then cut`() async throws {
        let world = try World()
        await world.engine.with { await $0.maintenance.run() }
        for _ in 0..<(9 * 24) {
            world.clock.advance(by: .seconds(3600))
            await world.engine.with { await $0.maintenance.run() }
        }
        let samples = try await world.engine.samples(since: .earliest, stepSeconds: 60).dropLast()
        let oldest = try #require(samples.first).at
        let days = (world.clock.now().milliseconds - oldest.milliseconds) / 86_400_000
        #expect(days == 7 && samples.count >= 7 * 24 && samples.count <= 7 * 24 + 2)
    }

    @Test func `the file of a long log is emptied once a minute`() async throws {
        let world = try World()
        await world.engine.with { await $0.maintenance.run() }
        try await world.store.write { transaction in
            for number in 0..<20 {
                try transaction.run(
                    "INSERT INTO meta VALUES (?, zeroblob(100000))", ["filling\(number)"])
            }
        }
        func logBytes() throws -> Int {
            let path = world.store.path + "-wal"
            return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        }
        #expect(try logBytes() > 2_000_000)
        world.clock.advance(by: .seconds(61))
        await world.engine.with { await $0.maintenance.run() }
        #expect(try logBytes() == 0)
    }

    @Test func `the loop runs maintenance even without other work`() async throws {
        let world = try World(settings: SyncSettings(triggers: [.manual]))
        try await world.insert("a")
        try await world.delete("a")
        world.clock.advance(by: .seconds(40 * 86_400))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            try await world.pass { try await world.operations([.collapsed]).isEmpty }
            group.cancelAll()
        }
        #expect(try await world.store.ledger().balances)
    }

    private static let page = Array("<html><body>Accept the terms</body></html>".utf8)

    @Test(arguments: [200, 302, 400, 403, 511])
    func `a network's sign-in page is not the backend, with or without work`(status: Int)
        async throws
    {
        for hasWork in [false, true] {
            let world = try World()
            if hasWork { try await world.insert("a") }
            world.transport.decide { _, _ in
                .instead(
                    Response(
                        status: .init(code: status), headerFields: [.contentType: "text/html"],
                        body: Self.page))
            }
            let run = await world.engine.sync()
            #expect(run.state == .offline, "\(status) \(hasWork): \(run)")
            let state = await world.engine.backendStatus.state
            #expect(state != .online && state != .signedOut, "\(status): \(state)")
            #expect(world.writes.isEmpty)
            #expect(try await world.open().allSatisfy { $0.attempts == 0 })
            // The backend answers once the sign-in page is gone.
            world.transport.decide { _, _ in nil }
            #expect(await world.engine.sync().state == .complete)
        }
    }
}
