import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// The effects of a 401 and of a sign-in.
@Suite struct SignInWakeTests {
    private static let field = HTTPField.Name("X-ZUMO-AUTH").map { HTTPField(name: $0, value: "") }

    /// The tokens of an identity, the latest last. A refused one is removed, unless it is the only one.
    private final class Tokens: Sendable {
        let all: Mutex<[String]>
        let refused = Mutex<[String]>([])

        init(_ all: [String]) { self.all = Mutex(all) }

        var credential: Credential {
            guard var field = SignInWakeTests.field, let last = all.withLock({ $0.last }) else {
                return .missing
            }
            field.value = last
            return .token(field)
        }

        func refuse(_ credential: Credential) {
            guard case .token(let field) = credential else { return }
            refused.withLock { $0.append(field.value) }
            all.withLock { all in
                if all.count > 1 { all.removeAll { $0 == field.value } }
            }
        }
    }

    private func world(_ tokens: Tokens, _ triggers: Set<Trigger>) throws -> World {
        try World(
            settings: SyncSettings(triggers: triggers), credential: { tokens.credential },
            refused: { tokens.refuse($0) })
    }

    /// The backend accepts these tokens and answers 401 to others.
    private func accept(_ good: Set<String>, _ world: World) {
        world.transport.decide { request, _ in
            let name = SignInWakeTests.field?.name
            let given = name.flatMap { request.head.headerFields[$0] } ?? ""
            return good.contains(given) ? nil : .instead(Response(status: .unauthorized))
        }
    }

    @Test func `after a 401 the run continues with the next token, and without one it waits`()
        async throws
    {
        let tokens = Tokens(["desk", "tablet", "phone"])
        let world = try world(tokens, [.manual])
        try await world.insert("a")
        accept(["desk"], world)
        let run = await world.engine.sync()
        #expect(run.state == .complete, "\(run)")
        #expect(run.push?.applied == 1)
        #expect(run.pull.map(\.error) == [nil])
        #expect(tokens.refused.withLock { $0 } == ["phone", "tablet"])
        #expect(await world.engine.backendStatus.state == .online)
        try await world.insert("b")
        accept([], world)
        let last = await world.engine.sync()
        #expect(last.state == .signIn)
        #expect(last.reason == "The backend asks to sign in.")
        #expect(tokens.refused.withLock { $0 } == ["phone", "tablet", "desk"])
        #expect(try await world.open().count == 1)
    }

    @Test func `the 401 of an old token stops nothing if a new one came meanwhile`()
        async throws
    {
        let tokens = Tokens(["old"])
        let world = try world(tokens, [.afterWrites])
        try await world.insert("a")
        let hasSignedIn = Mutex(false)
        world.transport.decide { request, _ in
            let given = SignInWakeTests.field.flatMap { request.head.headerFields[$0.name] }
            guard given == "old" else { return nil }
            // The client signs in while the request is in flight, and the loop is woken at once.
            if !hasSignedIn.withLock({ hasSignedIn in
                defer { hasSignedIn = true }
                return hasSignedIn
            }) {
                tokens.all.withLock { $0.append("new") }
                world.engine.nudge(.signedIn)
            }
            return .instead(Response(status: .unauthorized))
        }
        let run = await world.engine.push(isExplicit: false)
        #expect(run.state == .complete, "\(run)")
        #expect(try await world.open().isEmpty)
    }

    @Test func `an unknown operation is read back at once after a sign-in, whatever its wait`()
        async throws
    {
        let tokens = Tokens(["old"])
        let world = try world(tokens, [.afterWrites])
        try await world.insert("a")
        world.transport.decide { request, _ in
            if request.head.method == .post { return .answerLost }
            return request.head.path?.contains("filter=id") == true ? .notSent : nil
        }
        // Each explicit sync is an attempt. The wait doubles with each.
        var wait: Int64 = 0
        for _ in 0..<100 where wait < 60_000 {
            _ = await world.engine.sync()
            let operation = try #require(try await world.open().first)
            #expect(operation.state == .unknown)
            let next = try #require(operation.nextAttemptAt)
            wait = next.milliseconds - world.clock.now().milliseconds
        }
        #expect(wait >= 60_000)
        accept(["new"], world)
        _ = await world.engine.pull(world.todo, isExplicit: false)
        #expect(await world.engine.backendStatus.state == .signedOut)
        tokens.all.withLock { $0 = ["new"] }
        world.engine.nudge(.signedIn)
        await world.engine.with { $0.runner.takeCauses() }
        _ = await world.engine.push(isExplicit: false)
        #expect(try await world.open().isEmpty)
        #expect(try await world.operations([.done]).count == 1)
    }

    @Test func `a sign-in that the loop has not taken when its store closes is not lost`()
        async throws
    {
        let tokens = Tokens(["old"])
        let world = try world(tokens, [.afterWrites])
        try await world.insert("a")
        accept([], world)
        _ = await world.engine.push(isExplicit: false)
        let now = world.clock.uptime()
        let before = try #require(await world.engine.retire())
        #expect(before.untilPush(now: now).map { $0 > .seconds(60) } == true)
        await world.engine.resume()
        world.engine.nudge(.signedIn)
        #expect(await world.engine.retire() == nil)
        let after = try #require(await world.engine.retire(isForced: true))
        #expect(after.untilPush(now: now) == .zero)
    }
}
