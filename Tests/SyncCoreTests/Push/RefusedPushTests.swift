import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Refused, failed and unanswered requests, and which operations they delay.
@Suite struct RefusedPushTests {
    private static let page = Response(
        status: .ok, headerFields: [.contentType: "text/html"],
        body: Array("<html>Sign in to the Wi-Fi</html>".utf8))

    @Test func `an operation that fails by itself is quarantined after ten times`() async throws {
        let world = try World()
        try await world.insert("a")
        try await world.insert("b")
        world.transport.decide { request, _ in
            request.head.method == .post
                && String(decoding: request.body, as: UTF8.self).contains(#""a""#)
                ? .instead(.refusal(500)) : nil
        }
        for _ in 0..<9 {
            _ = await world.engine.push()
            #expect(try await world.open().map(\.state) == [.unknown])
            world.clock.advance(by: .seconds(700))
        }
        _ = await world.engine.push()
        #expect(try await world.open().map(\.state) == [.quarantined])
        #expect(try await world.remote("b") != nil)
    }

    @Test func `nothing is sent to a backend that does not answer with a list`() async throws {
        let cases: [(Response, BackendState, RunState)] = [
            (Self.page, .portal, .offline), (.refusal(503), .degraded, .offline),
            (.refusal(404), .online, .completeWithErrors),
            (.refusal(401), .signedOut, .signIn),
        ]
        for (answer, state, end) in cases {
            let world = try World()
            try await world.insert("a")
            world.transport.decide { _, _ in .instead(answer) }
            let run = await world.engine.push()
            #expect(run.state == end)
            #expect(world.writes.isEmpty)
            #expect(await world.engine.backendStatus.state == state)
            #expect(try await world.open().first?.attempts == 0)
            world.transport.decide { _, _ in nil }
            #expect(await world.engine.push().push?.applied == 1)
        }
    }

    @Test func `an expired sign-in pauses the queue without counting an attempt`() async throws {
        let token = Credential.token(HTTPField(name: .authorization, value: "Bearer t"))
        let world = try World(credential: { token })
        try await world.insert("a")
        try await world.insert("b")
        world.transport.once(.instead(.refusal(401))) { $0.head.method == .post }
        let run = await world.engine.push()
        #expect(run.state == .signIn)
        #expect(world.writes.count == 1)
        #expect(try await world.open().count == 2)
        let again = await world.engine.push()
        #expect(again.push?.applied == 2, "\(again)")
    }

    @Test func `a failure before an expired sign-in may have taken effect, and is read back`()
        async throws
    {
        let token = Credential.token(HTTPField(name: .authorization, value: "Bearer t"))
        let world = try World(credential: { token })
        try await world.insert("a")
        // The probe, the insert, and the probe after it.
        world.transport.decide { _, number in
            [nil, .answered(.refusal(500)), .instead(.refusal(401))][min(number, 2)]
        }
        #expect(await world.engine.push().state == .signIn)
        #expect(try await world.open().map(\.state) == [.unknown])
        try await world.delete("a")
        world.transport.decide { _, _ in nil }
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("a")?.deleted != false)
    }

    @Test func `a queue without its identity's token waits for sign-in`() async throws {
        let world = try World(credential: { .missing })
        try await world.insert("a")
        let run = await world.engine.push()
        #expect(run.state == .signIn)
        #expect(world.transport.sent.isEmpty)
        #expect(await world.engine.backendStatus.state == .signedOut)
    }

    @Test func `too many requests stop the push and are obeyed`() async throws {
        let world = try World()
        for id in ["a", "b", "c", "d"] { try await world.insert(id) }
        var fields = HTTPFields()
        fields[.retryAfter] = "120"
        let busy = Response(status: .tooManyRequests, headerFields: fields)
        world.transport.decide { request, _ in request.head.method == .post ? .instead(busy) : nil }
        let run = await world.engine.push()
        #expect(run.state == .offline)
        #expect(world.writes.count == 1)
        let first = try #require(try await world.open().first)
        #expect(first.state == .waiting)
        #expect(!first.maybeApplied)
        let wait = try #require(first.nextAttemptAt).milliseconds - world.clock.now().milliseconds
        #expect((110_000...120_000).contains(wait))
    }
}
