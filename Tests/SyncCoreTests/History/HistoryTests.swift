import GRDB
import Storage
import Synchronization
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct HistoryTests {
    let fixture: StoreFixture
    var store: Store { fixture.store }
    init() throws { fixture = try StoreFixture() }

    @Test func `pages of operations, conflicts and history follow their cursors to the end`()
        async throws
    {
        for index in 0..<25 { try await fixture.insert("i\(index)") }
        var seen: [String] = []
        var after: String?
        repeat {
            let page = try await store.lists.operations(OperationFilter(), after: after, limit: 10)
            #expect(page.total == 25)
            seen += page.items.map(\.itemID)
            after = page.next
        } while after != nil
        #expect(seen == (0..<25).map { "i\($0)" })
        let first = try await store.lists.history(after: nil, limit: 20)
        let second = try await store.lists.history(after: first.next, limit: 20)
        #expect(first.items.first?.itemID == "i24" && second.items.count == 5)
        #expect(second.next == nil && first.total == 25)
    }

    @Test func `a filter narrows by state, table and text`() async throws {
        try await fixture.insert("a", #"{"text":"Buy milk"}"#)
        try await fixture.insert("b", #"{"text":"100%"}"#)
        func count(_ filter: OperationFilter) async throws -> Int {
            let page = try await store.lists.operations(filter, after: nil, limit: 9)
            #expect(page.total == page.items.count)
            return page.total
        }
        #expect(try await count(OperationFilter(text: "MILK")) == 1)
        #expect(try await count(OperationFilter(text: "0%")) == 1)
        #expect(try await count(OperationFilter(text: "%")) == 1)
        #expect(try await count(OperationFilter(states: [.done])) == 0)
        #expect(try await count(OperationFilter(table: "TODOITEM")) == 2)
        #expect(try await count(OperationFilter(table: "other")) == 0)
    }

    @Test func `an operation shows every attempt with what was sent and answered`() async throws {
        try await fixture.insert("a")
        let sent = try #require(try await fixture.send())
        let long = String(repeating: "é", count: StoreLimits.responseExcerptBytes)
        _ = try await store.write {
            try Settling(transaction: $0).settle(
                sent.seq, .waiting(reason: "Busy.", until: nil),
                attempt: AttemptEnd(status: 503, response: long, error: "Service unavailable"))
        }
        let detail = try #require(try await store.lists.operation(sent.id))
        #expect(detail.summary.lastStatus == 503 && detail.summary.reason == "Busy.")
        #expect(detail.attempts.count == 1)
        #expect(detail.attempts[0].outcome == "waiting")
        #expect(
            detail.attempts[0].responseExcerpt?.utf8.count == StoreLimits.responseExcerptBytes)
    }

    @Test func `events come after the commit, in order, and are kept for later readers`()
        async throws
    {
        let seen = Mutex<[Event]>([])
        store.onEvents { events in seen.withLock { $0 += events } }
        try await fixture.insert("a")
        _ = await fixture.write(.insert(ItemBody(id: try ItemID("a"), columns: Columns())))
        let live = seen.withLock { $0 }
        #expect(live.map(\.kind) == [.item, .operation])
        #expect(try await store.lists.events(after: 0, limit: 100) == .events(live))
        #expect(try await store.lists.events(after: live[0].id, limit: 9) == .events([live[1]]))
        #expect(try await store.lists.events(after: 999, limit: 9) == .reset(latest: live[1].id))
    }

    @Test func `the number of kept events is bounded, and an older id gets a reset`() async throws {
        try await store.write { transaction in
            for _ in 0..<(StoreLimits.events + 2000) { transaction.events.emit(.status) }
        }
        let kept = try await store.read {
            Int(try $0.integer("SELECT count(*) FROM events") ?? 0)
        }
        #expect(kept >= StoreLimits.events && kept < StoreLimits.events + 512)
        guard case .reset = try await store.lists.events(after: 5, limit: 9) else {
            throw World.Failure("event 6 is gone")
        }
    }

    @Test func `old closed operations, history and tombstones are removed, open operations never`()
        async throws
    {
        try await fixture.insert("open")
        try await fixture.insert("gone")
        try await fixture.delete("gone")
        fixture.clock.advance(milliseconds: (StoreLimits.historySeconds + 86_400) * 1000)
        #expect(try await store.write { try Sweep(transaction: $0).run() } == false)
        #expect(try await fixture.chain("open").count == 1)
        #expect(try await store.lists.history(after: nil, limit: 9).items.isEmpty)
        #expect(try await fixture.row("gone")?.deleted == true)
        let closed = try await store.lists.operations(
            OperationFilter(states: [.collapsed]), after: nil, limit: 9)
        #expect(closed.items.isEmpty && closed.total == 0)
        fixture.clock.advance(milliseconds: StoreLimits.tombstoneSeconds * 1000)
        _ = try await store.write { try Sweep(transaction: $0).run() }
        #expect(try await fixture.row("gone") == nil)
        let ledger = try await store.ledger()
        #expect(ledger.balances && ledger.collapsed == 2)
    }

    @Test func `history is searched in sentences, ids, columns and names of tables, page by page`()
        async throws
    {
        for id in ["one", "two", "three", "50%"] { try await fixture.insert(id) }
        try await store.write { transaction in
            _ = try transaction.history.record(
                .failed, actor: .engine, summary: "Syncing stood still.")
        }
        func found(_ text: String, after: String? = nil, limit: Int = 9) async throws -> (
            ids: [String?], next: String?, total: Int
        ) {
            let page = try await store.lists.history(
                HistoryFilter(text: text), after: after, limit: limit)
            return (page.items.map { $0.itemID ?? $0.summary }, page.next, page.total)
        }
        #expect(try await found("stood").ids == ["Syncing stood still."])
        #expect(try await found("TWO").ids == ["two"])
        #expect(try await found("0%").ids == ["50%"])
        #expect(try await found("").total == 5)
        #expect(try await found("nothing of this").ids == [])
        let first = try await found("TodoItem", limit: 3)
        #expect(first.ids == ["50%", "three", "two"] && first.total == 4)
        let second = try await found("TodoItem", after: first.next, limit: 3)
        #expect(second.ids == ["one"] && second.next == nil && second.total == 4)
    }

    @Test func `runs and samples are kept`() async throws {
        var run = Run(
            id: "r1", identity: store.identity, kind: .sync, startedAt: fixture.clock.now(),
            push: PushReport())
        run.push?.results = [PushReport.Result(id: "o1", state: .conflict)]
        run.pull = [PullReport(table: "todoitem")]
        let unfinished = run
        try await store.write { try $0.runs.save(unfinished) }
        #expect(try await store.lists.run("r1") == unfinished)
        run.state = .complete
        run.endedAt = fixture.clock.now()
        run.pull[0].applied = 3
        let finished = run
        try await store.write { try $0.runs.save(finished) }
        #expect(try await store.lists.runs(after: nil, limit: 9).items == [finished])
        let sample = Sample(
            at: fixture.clock.now(), depth: 1, succeeded: 2, failed: 0, latencyMilliseconds: 9)
        try await store.write { try $0.samples.save(sample) }
        #expect(try await store.read { try $0.samples.since(.earliest) } == [sample])
    }

    @Test func `a run that a process left unfinished is cancelled at the next start`() async throws
    {
        let run = Run(
            id: "r1", identity: store.identity, kind: .push, startedAt: fixture.clock.now())
        try await store.write { try $0.runs.save(run) }
        #expect(try await fixture.reopened().lists.run("r1")?.state == .cancelled)
    }
}
