import Backend
import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// What the backend refuses is tried once more at the end of the push, if other changes were applied since.
@Suite struct SecondTryTests {
    private static let foreignKey = Response.json(
        #"{"error":"conflicted with the FOREIGN KEY constraint"}"#, 400)

    /// A backend that refuses an item `o` as often as said, and a queue with `o` before `c`.
    private func world(
        refusals: Int, log: CollectedLog = CollectedLog()
    ) async throws -> (World, Counter) {
        let world = try World(log: log.logger)
        let counter = Counter()
        world.transport.decide { request, _ in
            guard request.head.method == .post,
                String(decoding: request.body, as: UTF8.self).contains(#""id":"o""#)
            else { return nil }
            return counter.next() <= refusals ? .instead(Self.foreignKey) : nil
        }
        try await world.insert("o", #"{"client":"c"}"#)
        try await world.insert("c", "{}")
        return (world, counter)
    }

    @Test func `an item that names a later one is sent after it`() async throws {
        let (world, counter) = try await world(refusals: 1)
        let run = await world.engine.push()
        #expect(run.state == .complete)
        #expect(run.push?.applied == 2 && run.push?.quarantined == 0 && run.push?.left == 0)
        #expect(counter.value == 2)
        let (here, there) = (try await world.row("o"), try await world.remote("o"))
        #expect(there?.columns.text == #"{"client":"c"}"#)
        #expect(here?.columns.changedNames(from: there?.columns ?? Columns()) == [])
        #expect(try await world.store.ledger().balances)
    }

    @Test func `a second refusal is not announced again, and is not tried by the next push`()
        async throws
    {
        let (world, counter) = try await world(refusals: .max)
        let run = await world.engine.push()
        #expect(run.push?.applied == 1 && run.push?.quarantined == 1 && run.push?.left == 1)
        #expect(run.push?.results.filter { $0.state == .quarantined }.count == 1)
        for _ in 0..<3 { _ = await world.engine.push() }
        try await world.insert("d", "{}")
        _ = await world.engine.push()
        #expect(counter.value == 2)
        let refused = try #require(try await world.open().first)
        #expect(refused.state == .quarantined && refused.attempts == 2)
        #expect(refused.reason?.contains("FOREIGN KEY") == true)
        let history = try await world.store.lists.history(after: nil, limit: 50).items
        #expect(history.filter { $0.kind == .quarantined }.count == 1)
        #expect(try await world.store.ledger().refusals == 1)
    }

    @Test func `without a success in between nothing is tried again`() async throws {
        let (world, counter) = try await world(refusals: .max)
        world.transport.decide { request, _ in
            guard request.head.method == .post else { return nil }
            _ = counter.next()
            return .instead(Self.foreignKey)
        }
        let run = await world.engine.push()
        #expect(run.push?.quarantined == 2)
        #expect(counter.value == 2)
    }

    @Test func `a line that fails at the second try leaves the refusal as it is`() async throws {
        let (world, counter) = try await world(refusals: 0)
        world.transport.decide { request, _ in
            guard request.head.method == .post,
                String(decoding: request.body, as: UTF8.self).contains(#""id":"o""#)
            else { return nil }
            return counter.next() == 1 ? .instead(Self.foreignKey) : .notSent
        }
        _ = await world.engine.push()
        let refused = try #require(try await world.open().first)
        #expect(refused.state == .quarantined && refused.attempts == 2)
        #expect(refused.reason?.contains("FOREIGN KEY") == true)
        let history = try await world.store.lists.history(after: nil, limit: 50).items
        #expect(history.filter { $0.kind == .quarantined }.count == 1)
    }

    @Test func `an answer that is lost at the second try is read back`() async throws {
        let (world, counter) = try await world(refusals: 0)
        world.transport.decide { request, _ in
            guard request.head.method == .post,
                String(decoding: request.body, as: UTF8.self).contains(#""id":"o""#)
            else { return nil }
            return counter.next() == 1 ? .instead(Self.foreignKey) : .answerLost
        }
        _ = await world.engine.push()
        #expect(try await world.open().map(\.state) == [.unknown])
        world.clock.advance(by: .seconds(700))
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("o")?.columns.text == #"{"client":"c"}"#)
        #expect(counter.value == 2)
    }

    @Test func `many refused changes cost one more request each`() async throws {
        let world = try World()
        let counter = Counter()
        world.transport.decide { request, _ in
            guard request.head.method == .post,
                String(decoding: request.body, as: UTF8.self).contains(#""bad""#)
            else { return nil }
            _ = counter.next()
            return .instead(Self.foreignKey)
        }
        for number in 0..<200 { try await world.insert("b\(number)", #"{"text":"bad"}"#) }
        try await world.insert("good", "{}")
        for _ in 0..<3 { _ = await world.engine.push() }
        #expect(counter.value == 400)
        #expect(try await world.store.ledger().queue.quarantined == 200)
        #expect(try await world.store.ledger().balances)
    }

    final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func next() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
    }
}
