import HTTPMessage
import HTTPTypes
import Logging
import Platform
import Storage
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy
@testable import SyncCore

/// When a webhook is told that a person is needed, and what.
struct NotifierTests {
    private final class Hook: Sendable {
        let now = Mutex(ThisProcess.now)
        let transport = FaultyTransport(NoBackend()) { _, _ in .instead(Response(status: .ok)) }

        func pass(seconds: Int64) { now.withLock { $0 = $0.adding(seconds: seconds) } }

        var messages: [JSONValue] {
            transport.sent.compactMap { try? JSONValue(parsing: $0.body) }
        }

        func notifier(
            _ test: TestApp, sleep: @escaping @Sendable (Int64) async -> Void = { _ in }
        ) throws -> Notifier {
            Notifier(
                Webhook("https://hooks.example/SECRET", isLoopback: { _ in false }),
                tenants: test.graph.tenants, transport: transport,
                sender: Notifier.Sender(
                    host: "till-7", backend: "http://backend.test",
                    dashboard: { "http://127.0.0.1:8080/-/" }),
                now: { self.now.withLock { $0 } }, sleep: sleep, log: Logger(label: "test"))
        }
    }

    private struct NoBackend: HTTPTransport {
        func send(_: Request) async throws(TransportError) -> Response {
            throw TransportError(reach: .notSent, cause: .invalid, message: "There is none.")
        }
    }

    /// Makes operations of a table that came to wait for a person, as many as a queue of years has.
    private func add(
        _ count: Int, _ state: OperationState, to table: String, of test: TestApp
    ) async throws {
        let first = await test.table("POST", table, #"{"text":"x"}"#)
        #expect(first.status == 201)
        try await test.graph.tenants.anonymous.store.write { transaction in
            let last = try transaction.integer("SELECT max(seq) FROM operations", []) ?? 0
            try transaction.run(
                """
                INSERT INTO operations
                  (op_id, table_id, item_id, kind, state, generation, actor, created_at)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                SELECT op_id || i, table_id, item_id || i, kind, 'queued', generation, actor, created_at
                FROM n, operations WHERE seq = ? AND i < ?
                """, [count, last, count])
            try transaction.run(
                "UPDATE operations SET state = ? WHERE seq >= ?", [state.rawValue, last])
        }
    }

    /// A message without what is the same in all.
    private func message(
        _ open: String, conflicts: Int, refused: Int, _ tables: String, view: String
    ) throws -> JSONValue {
        let link = "http://127.0.0.1:8080/-/#/\(view)"
        return try JSONValue(
            parsing: """
                {"text":"Understudy on till-7: Open: \(open). \(link)","test":false,"host":"till-7",\
                "backend":"http://backend.test","dashboard":"\(link)","version":"\(Version.text)",\
                "conflicts":\(conflicts),"refused":\(refused),"tables":[\(tables)],\
                "waitingForSignIn":0,"storesWithoutWrites":0}
                """)
    }

    private func withoutTime(_ message: JSONValue) -> JSONValue {
        guard case .object(let members) = message else { return message }
        return .object(members.filter { $0.name != "at" })
    }

    @Test func `with more than ten thousand open operations a new one is told within a minute`()
        async throws
    {
        try await TestApp.run { test in
            test.unplug()
            let hook = Hook()
            let notifier = try hook.notifier(test)
            await notifier.look()
            #expect(hook.messages == [])

            try await add(10_400, .quarantined, to: "todoitem", of: test)
            hook.pass(seconds: 60)
            await notifier.look()
            var tables = #"{"table":"todoitem","conflicts":0,"refused":10400}"#
            var expected = [
                try message(
                    "10400 refused changes (todoitem 10400)", conflicts: 0, refused: 10_400, tables,
                    view: "queue")
            ]
            #expect(hook.messages.map(withoutTime) == expected)
            #expect(await notifier.last?.result == "https://hooks.example answered 200.")

            // What was told is not told again.
            hook.pass(seconds: 60)
            await notifier.look()
            #expect(hook.messages.count == 1)

            try await add(1, .conflict, to: "notes", of: test)
            hook.pass(seconds: 60)
            await notifier.look()
            tables += #",{"table":"notes","conflicts":1,"refused":0}"#
            expected.append(
                try message(
                    "1 conflict, 10400 refused changes (todoitem 10400, notes 1)", conflicts: 1,
                    refused: 10_400, tables, view: "conflicts"))
            #expect(hook.messages.map(withoutTime) == expected)
        }
    }

    @Test func `what was not delivered is tried again with the counts of then`() async throws {
        try await TestApp.run { test in
            test.unplug()
            let hook = Hook()
            let notifier = try hook.notifier(test)
            try await add(2, .conflict, to: "todoitem", of: test)
            hook.transport.decide { _, _ in .instead(Response(status: .serviceUnavailable)) }
            await notifier.look()
            #expect(await notifier.last?.isDelivered == false)
            #expect(await notifier.last?.result == "https://hooks.example answered 503.")
            hook.transport.decide { _, _ in .instead(Response(status: .noContent)) }
            try await add(1, .conflict, to: "todoitem", of: test)
            hook.pass(seconds: 60)
            await notifier.look()
            #expect(await notifier.last?.isDelivered == true)
            #expect(hook.messages.map { $0["conflicts"] } == [.number(2), .number(3)])
            // A day later it is repeated.
            hook.pass(seconds: Limits.reminderSeconds)
            await notifier.look()
            #expect(hook.messages.count == 3)
            // Another webhook is told at once.
            await notifier.replace(with: Webhook("https://other.example/x") { _ in false })
            await notifier.look()
            #expect(hook.messages.count == 4)
        }
    }

    @Test func `it looks once a minute, however long a delivery takes`() async throws {
        try await TestApp.run { test in
            test.unplug()
            let hook = Hook()
            let sleeps = Mutex<[Int64]>([])
            let task = Mutex<Task<Void, Never>?>(nil)
            let notifier = try hook.notifier(test) { seconds in
                hook.pass(seconds: seconds)
                let count = sleeps.withLock {
                    $0.append(seconds)
                    return $0.count
                }
                if count >= 3 { task.withLock { $0?.cancel() } }
                await Task.yield()
            }
            hook.transport.decide { _, number in
                hook.pass(seconds: number == 0 ? 20 : -3600)
                return .notSent
            }
            try await add(1, .conflict, to: "todoitem", of: test)
            let running = Task { await notifier.run() }
            task.withLock { $0 = running }
            await running.value
            #expect(Array(sleeps.withLock { $0 }.prefix(3)) == [40, 60, 60])
        }
    }

    private func summary(
        conflicts: Int = 0, occurred: Int64 = 0, queued: Int = 0, oldestAt: Instant? = nil
    ) -> StoreSummary {
        var store = StoreSummary.empty
        store.ledger.queue.conflict = conflicts
        store.ledger.queue.queued = queued
        store.ledger.conflicts = occurred
        store.oldestAt = oldestAt
        store.tables = [
            StoreSummary.Table(
                name: "todoitem", items: 1, setAside: 0, pullsFail: false, conflicts: conflicts,
                refused: 0)
        ]
        return store
    }

    @Test func `one store's new conflict is told though another's was decided`() {
        let at = Instant(milliseconds: 1_700_000_000_000)
        func needed(_ ana: StoreSummary, _ ben: StoreSummary) -> PersonNeeded {
            var needed = PersonNeeded()
            needed.add(ana, of: "ana", isSignedOut: false, at: at)
            needed.add(ben, of: "ben", isSignedOut: false, at: at)
            return needed
        }
        let first = needed(
            summary(conflicts: 2, occurred: 2), summary(conflicts: 1, occurred: 5))
        #expect(first.decisions.tables.map(\.conflicts) == [3])
        var told = ToldNeeds()
        #expect(told.lacks(first, at: at))
        told.add(first, at: at)
        #expect(!told.lacks(first, at: at))
        // Ana's were decided: there is nothing new, though her counter keeps what happened.
        #expect(
            !told.lacks(needed(summary(occurred: 3), summary(conflicts: 1, occurred: 5)), at: at))
        // As many as before, and one of them is new.
        #expect(
            told.lacks(
                needed(summary(conflicts: 1, occurred: 3), summary(conflicts: 1, occurred: 5)),
                at: at))
        // A store that cannot be read now is not told again when it can.
        told.add(needed(summary(), summary(conflicts: 1, occurred: 5)), at: at)
        #expect(!told.lacks(first, at: at))
        #expect(!ToldNeeds().lacks(PersonNeeded(), at: at))
    }

    @Test func `a missing sign-in is told after an hour, and anew once it was there again`() {
        let at = Instant(milliseconds: 1_700_000_000_000)
        func needed(waitedSeconds: Int64, isSignedOut: Bool = true) -> PersonNeeded {
            var needed = PersonNeeded()
            needed.add(
                summary(queued: 3, oldestAt: at.adding(seconds: -waitedSeconds)), of: "ana",
                isSignedOut: isSignedOut, at: at)
            return needed
        }
        #expect(!needed(waitedSeconds: 3599).isAny)
        #expect(!needed(waitedSeconds: 9999, isSignedOut: false).isAny)
        let missing = needed(waitedSeconds: 3600)
        #expect(missing.unsigned == ["ana": 3])
        var told = ToldNeeds()
        told.add(missing, at: at)
        told.forget(exceptFor: missing)
        #expect(!told.lacks(missing, at: at))
        told.forget(exceptFor: PersonNeeded())
        #expect(told.lacks(missing, at: at))
    }

    @Test func `a store without writes is told, and anew when it is one more or again`() {
        let at = Instant(milliseconds: 1_700_000_000_000)
        let (none, one, two) = (
            PersonNeeded(), PersonNeeded(brokenStores: 1), PersonNeeded(brokenStores: 2)
        )
        var told = ToldNeeds()
        told.add(one, at: at)
        #expect(!told.lacks(one, at: at) && told.lacks(two, at: at))
        told.forget(exceptFor: none)
        #expect(told.lacks(one, at: at))
    }

    @Test(arguments: [
        (
            "https://hooks.example/services/T0/SECRET?a=b", "https://hooks.example",
            "/services/T0/SECRET?a=b"
        ),
        ("https://hooks.example", "https://hooks.example", "/"),
        ("https://hooks.example?key=SECRET", "https://hooks.example", "/?key=SECRET"),
        ("http://127.0.0.1:9/x", "http://127.0.0.1:9", "/x"),
    ])
    func `a webhook shows scheme and host`(text: String, shown: String, target: String) throws {
        let webhook = try #require(Webhook(text) { $0.authority.hasPrefix("127.") })
        #expect("\(webhook)" == shown && webhook.target == target)
    }

    @Test(arguments: [
        "", "hooks.example/x", "http://hooks.example/x", "https://user:pass@hooks.example/x",
        "https://hooks.example/x#part", "https://hooks.example/a b", "ftp://hooks.example/",
        "https:///x", "https://hooks.example/ä",
    ])
    func `other addresses are no webhook`(text: String) {
        #expect(Webhook(text) { $0.authority.hasPrefix("127.") } == nil)
    }
}
