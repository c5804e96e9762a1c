import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A gateway, or something else on the way, answers "later" with other codes than 429 and 503.
@Suite struct LaterTests {
    struct Gateway: Sendable, CustomTestStringConvertible {
        var status: Int
        var fields: HTTPFields = [:]
        var body = #"{"message":"later"}"#
        var state: BackendState
        var testDescription: String { "\(status) \(fields)" }

        var answer: Response {
            Response(status: .init(code: status), headerFields: fields, body: Array(body.utf8))
        }
    }

    private static let page: HTTPFields = [.contentType: "text/html"]
    private static let date = Instant(milliseconds: 1_700_000_000_000)
    static let gateways = [
        Gateway(status: 403, fields: [.retryAfter: "120"], state: .degraded),
        Gateway(
            status: 403,
            fields: [
                .retryAfter: date.advanced(by: .seconds(120)).httpDate, .date: date.httpDate,
            ], state: .degraded),
        Gateway(status: 403, fields: [.retryAfter: "0"], state: .degraded),
        Gateway(status: 425, state: .degraded),
        Gateway(status: 425, fields: [.retryAfter: "120"], state: .degraded),
        Gateway(status: 407, state: .offline), Gateway(status: 421, state: .offline),
        Gateway(status: 511, fields: page, body: "<html>Sign in</html>", state: .portal),
        Gateway(status: 522, fields: page, body: "<html>Timed out</html>", state: .degraded),
    ]

    /// A backend before which the gateway answers from the sixth insert on.
    private func world(behind gateway: Gateway) async throws -> World {
        let world = try World()
        try await world.insert("first")
        #expect(await world.engine.sync().state == .complete)
        for number in 0..<20 { try await world.insert("i\(number)", #"{"text":"\#(number)"}"#) }
        world.transport.forget()
        world.transport.decide { [transport = world.transport] _, _ in
            transport.targets.count { $0.hasPrefix("POST") } > 5 ? .instead(gateway.answer) : nil
        }
        return world
    }

    @Test(arguments: gateways)
    func `it is no verdict on any write, and all are sent once the gateway lets them through`(
        gateway: Gateway
    ) async throws {
        let world = try await world(behind: gateway)
        #expect(await world.engine.sync().state == .offline)
        #expect(try await world.store.ledger().queue.quarantined == 0)
        #expect(try await world.store.ledger().queue.open == 15)
        let status = await world.engine.backendStatus
        #expect(status.state == gateway.state, "\(status)")
        #expect(!status.reason.contains("answers."), "\(status)")
        let sent = world.transport.targets.count
        // Not even a sync that a person asks for tries it before the time that it named.
        let namesTime = (gateway.fields[.retryAfter] ?? "0") != "0"
        world.clock.advance(by: .seconds(110))
        #expect(await world.engine.sync().state == .offline)
        #expect((world.transport.targets.count == sent) == namesTime)
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(12))
        #expect(await world.engine.sync().state == .complete)
        #expect(await world.engine.backendStatus.state == .online)
        for number in 0..<20 {
            let (here, there) = (
                try await world.local("i\(number)"), try await world.remote("i\(number)")
            )
            #expect(here?.columns.text == there?.columns.text)
            #expect(there != nil)
            #expect(try await world.backend.effectCount(world.todo, "i\(number)") == 1)
        }
        #expect(try await world.store.ledger().balances)
    }

    @Test(arguments: [HTTPFields(), [.retryAfter: "soon"]])
    func `a 403 that names no time is a refusal`(fields: HTTPFields) async throws {
        let gateway = Gateway(status: 403, fields: fields, state: .online)
        let world = try await world(behind: gateway)
        _ = await world.engine.push()
        #expect(try await world.store.ledger().queue.quarantined == 15)
    }
}
