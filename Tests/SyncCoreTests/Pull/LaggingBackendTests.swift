import Backend
import HTTPMessage
import HTTPTypes
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A backend whose reads come from a copy that is as it was before the last push.
@Suite struct LaggingBackendTests {
    /// Item `a` as it was pulled, and the answers of a copy of the backend that stays as it is now.
    private func lagging(
        soft: Bool = true
    ) async throws -> (World, @Sendable (Request) -> FaultyTransport.Fault?) {
        let world = try World(.mobileApps, TableOptions(softDelete: soft))
        try await world.seed("a", #"{"text":"old"}"#)
        _ = await world.engine.pull(world.todo)
        return (world, try await frozen(world))
    }

    /// Once the copy has caught up, both sides have the same row.
    private func expectSent(_ world: World, _ id: String, _ columns: String) async throws {
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(3600))
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote(id)?.columns.text == columns)
        #expect(try await world.row(id)?.columns.text == columns)
    }

    /// The answers to reads as the backend gives them now: a list of all rows, and one of each row.
    private func frozen(_ world: World) async throws
        -> @Sendable (Request) -> FaultyTransport.Fault?
    {
        let direct = InProcessTransport(world.backend)
        let all = try await direct.send(
            .tables("GET", "/tables/todoitem?__includeDeleted=true&__systemproperties=*"))
        let one = try await direct.send(
            .tables("GET", "/tables/todoitem/a?__includeDeleted=true&__systemproperties=*"))
        let empty = Response(status: .ok, body: Array("[]".utf8))
        return { request in
            guard request.head.method == .get else { return nil }
            let path = request.head.path ?? ""
            if path.contains("todoitem/a") { return .instead(one) }
            return .instead(path.contains("id%20gt") || path.contains("skip=1") ? empty : all)
        }
    }

    @Test func `a page does not undo a push, and the table is asked again`() async throws {
        let (world, before) = try await lagging()
        try await world.update("a", #"{"text":"new"}"#)
        _ = await world.engine.push()
        world.transport.decide { request, _ in before(request) }
        for reconcile in [false, true] {
            _ = await world.engine.pull(world.todo, reconcile: reconcile)
            #expect(try await world.row("a")?.columns.text == #"{"text":"new"}"#)
        }
        world.transport.decide { _, _ in nil }
        _ = await world.engine.pull(world.todo)
        #expect(try await world.row("a")?.columns == world.remote("a")?.columns)
    }

    @Test(arguments: [true, false])
    func `a page does not bring back what a push deleted`(_ isSoft: Bool) async throws {
        let (world, before) = try await lagging(soft: isSoft)
        try await world.delete("a")
        _ = await world.engine.push()
        world.transport.decide { request, _ in before(request) }
        _ = await world.engine.pull(world.todo, reconcile: true)
        #expect(try await world.row("a")?.deleted == true)
        #expect(try await world.open().isEmpty)
    }

    @Test func `a page without it does not remove what a push inserted`() async throws {
        let (world, before) = try await lagging()
        try await world.insert("n", #"{"text":"new"}"#)
        _ = await world.engine.push()
        world.transport.decide { request, _ in before(request) }
        _ = await world.engine.pull(world.todo, reconcile: true)
        #expect(try await world.local("n")?.columns.text == #"{"text":"new"}"#)
        // After a while the backend is believed.
        world.clock.advance(by: .seconds(SyncLimits.doubtedAbsenceSeconds + 1))
        _ = await world.engine.pull(world.todo)
        #expect(try await world.local("n") == nil)
    }

    @Test(arguments: [409, 412])
    func `a read back from before the last push is no refusal and no conflict`(
        _ status: Int
    ) async throws {
        let (world, before) = try await lagging()
        try await world.update("a", #"{"text":"new"}"#)
        _ = await world.engine.push()
        try await world.update("a", #"{"text":"newer"}"#)
        let refusal = Response.json(#"{"error":"No."}"#, status)
        world.transport.decide { request, _ in
            request.head.method == .get ? before(request) : .instead(refusal)
        }
        _ = await world.engine.push()
        #expect(try await world.open().map(\.state) == [.waiting])
        try await expectSent(world, "a", #"{"text":"newer"}"#)
    }

    @Test func `a lost answer is not judged by a row from before the last push`() async throws {
        let (world, before) = try await lagging()
        try await world.update("a", #"{"text":"new"}"#)
        _ = await world.engine.push()
        try await world.update("a", #"{"text":"newer"}"#)
        world.transport.decide { request, _ in
            request.head.method == .get ? before(request) : .answerLost
        }
        for _ in 0..<3 { _ = await world.engine.push() }
        #expect(try await world.open().map(\.state) == [.unknown])
        try await expectSent(world, "a", #"{"text":"newer"}"#)
    }

    @Test func `a read back without it does not make a conflict of a change to a new item`()
        async throws
    {
        let (world, before) = try await lagging()
        try await world.insert("n", #"{"text":"new"}"#)
        _ = await world.engine.push()
        try await world.update("n", #"{"text":"newer"}"#)
        world.transport.decide { request, _ in
            guard request.head.method == .get else { return .vanished }
            return request.head.path?.contains("todoitem/n") == true
                ? .instead(Response(status: .notFound, body: [])) : before(request)
        }
        for _ in 0..<3 { _ = await world.engine.push() }
        #expect(try await world.open().map(\.state) == [.unknown])
        try await expectSent(world, "n", #"{"text":"newer"}"#)
    }

    @Test func `a 412 that names another version outweighs an older row`() {
        var subject = PushSubject(
            kind: .update, itemID: ItemID(1), sent: Columns(stored: #"{"a":2}"#),
            base: Columns(stored: #"{"a":1}"#), baseVersion: "v2")
        let row = RemoteRow(id: ItemID(1), columns: Columns(stored: #"{"a":1}"#), version: "v2")
        func isOlder(_ version: String?, _ status: Int = 412) -> Bool {
            subject.isOlder(row, than: Refused(status: status, text: "", version: version))
        }
        #expect(isOlder("v3") && !isOlder("v2") && !isOlder(nil) && !isOlder("v3", 409))
        subject.operation.mayArriveLate = true
        #expect(isOlder(nil) && !isOlder("v2"))
    }

    @Test func `what pushes have replaced ends with time, and with the number of pushes`() {
        var replaced = ReplacedRows()
        let start = Instant(milliseconds: 1_700_000_000_000)
        replaced.add(version: nil, updatedAt: nil, at: start)
        replaced.add(version: "v1", updatedAt: "2024-01-01T00:00:00.000Z", at: start)
        #expect(ReplacedRows(stored: replaced.text ?? "") == replaced)
        #expect(replaced.contains(version: "v1", updatedAt: "2024-01-01T00:00:00Z"))
        #expect(replaced.contains(version: "v1", updatedAt: nil))
        #expect(!replaced.contains(version: "v1", updatedAt: "2024-01-01T00:00:01Z"))
        #expect(!replaced.contains(version: nil, updatedAt: nil))
        let minute = Duration.seconds(SyncLimits.doubtedAbsenceSeconds)
        #expect(replaced.hasInsert(start) && !replaced.hasInsert(start.advanced(by: minute)))
        let later = start.advanced(by: .seconds(SyncLimits.replicaLagSeconds + 1))
        #expect(replaced.recent(at: later).text == nil)
        for number in 0..<20 { replaced.add(version: "w\(number)", updatedAt: nil, at: start) }
        #expect(!replaced.contains(version: "w11", updatedAt: nil))
        #expect(replaced.contains(version: "w12", updatedAt: nil))
    }
}
