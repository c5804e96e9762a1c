import HTTPMessage
import HTTPTypes
import Logging
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Runs that a person or a command requests, and what the log says of runs and operations.
@Suite struct RequestedRunTests {
    @Test func `in offline mode a requested run ends at once, and the reason says what to do`()
        async throws
    {
        let world = try World()
        try await world.insert("a")
        await world.engine.setMode(.offline(until: nil))
        for id in [
            await world.engine.startSync(), await world.engine.startPush(),
            await world.engine.startPull(world.todo),
        ] {
            let run = try #require(await world.engine.run(id))
            #expect(run.state == .offline && run.endedAt != nil)
            #expect(run.reason == "Offline mode is on. `understudy online` ends it.")
            #expect(try await world.store.lists.run(id) == run)
        }
        #expect(world.transport.sent.isEmpty)
    }

    @Test(arguments: [false, true])
    func `offline mode ends the runs that were requested and have not begun`(
        isForAll: Bool
    ) async throws {
        let world = try World()
        let id = await world.engine.startSync()
        async let waited = world.engine.result(of: id, timeout: .seconds(5))
        if isForAll {
            var all = SettingsForAll()
            all.add(.mode(.offline(until: nil), until: nil))
            await world.engine.apply(all)
        } else {
            await world.engine.setMode(.offline(until: nil))
        }
        #expect(await waited?.state == .offline)
        #expect(await world.engine.runs().map(\.id) == [id])
    }

    @Test func `a requested run is listed from its request on, with one start`() async throws {
        let world = try World()
        let id = await world.engine.startSync()
        let requested = try #require(try await world.store.lists.run(id))
        #expect(requested.state == .running && requested.endedAt == nil)
        world.clock.advance(by: .seconds(7))
        let run = await world.engine.sync()
        #expect(run.id == id && run.state == .complete)
        #expect(run.startedAt == requested.startedAt)
        let listed = try await world.store.lists.runs(after: nil, limit: 10).items
        #expect(listed.map(\.id) == [id] && listed.first?.startedAt == requested.startedAt)
    }

    @Test func `the log repeats no text of the backend about an operation that waits`()
        async throws
    {
        let log = CollectedLog()
        let world = try World(log: log.logger)
        try await world.insert("a")
        #expect(await world.engine.push().state == .complete)
        world.transport.decide { request, _ in
            request.head.method == .patch
                ? .instead(
                    Response(
                        status: .internalServerError, body: Array(#"{"error":"secret"}"#.utf8)))
                : nil
        }
        try await world.update("a", #"{"text":"mine"}"#)
        let run = await world.engine.push()
        #expect(run.state == .completeWithErrors, "\(run)")
        #expect(run.reason?.contains("secret") == true, "\(run)")
        let ended = try #require(log.lines.last { $0.message == "run ended" })
        #expect(ended.fields["state"] == "\(run.state)" && ended.fields["left"] == "1")
        #expect(
            ended.fields["reason"] == "1 change waits to be tried again: the backend answered 500.")
        #expect(
            !log.lines.contains { line in line.fields.values.contains { $0.contains("secret") } })
    }

    @Test func `the log says which missing table stopped a push`() async throws {
        let log = CollectedLog()
        let world = try World(log: log.logger)
        try await world.insert("a")
        world.transport.decide { _, _ in .instead(Response(status: .notFound)) }
        #expect(await world.engine.push().state == .completeWithErrors)
        let ended = try #require(log.lines.last { $0.message == "run ended" })
        #expect(ended.fields["reason"] == "There is no table todoitem (404).")
    }

    @Test func `a sync whose pulls fail is no last sync`() async throws {
        let world = try World()
        try await world.insert("a")
        #expect(await world.engine.sync().state == .complete)
        let well = try #require(try await world.engine.status().lastSync)
        for status in [403, 404, 405] {
            world.clock.advance(by: .seconds(60))
            world.transport.decide { request, _ in
                request.head.method == .get
                    ? .instead(
                        Response(status: .init(code: status), body: Array(#"{"error":"no"}"#.utf8)))
                    : nil
            }
            let run = await world.engine.sync()
            #expect(run.state == .completeWithErrors && run.pull.first?.error != nil, "\(run)")
            #expect(try await world.engine.status().lastSync == well)
        }
        world.transport.decide { _, _ in nil }
        #expect(await world.engine.sync().state == .complete)
        let again = try #require(try await world.engine.status().lastSync)
        #expect(again > well)
    }

    @Test func `the timeout of one caller does not end the wait of another`() async throws {
        let world = try World()
        let id = await world.engine.startSync()
        async let patient = world.engine.result(of: id, timeout: .seconds(3600))
        async let hasty = world.engine.result(of: id, timeout: .seconds(1))
        // Both wait, each with its own timeout.
        while world.clock.sleepers < 2 { await Task.yield() }
        world.clock.advance(by: .seconds(2))
        #expect(await hasty?.state == .running)
        #expect(await world.engine.cancel(run: id))
        #expect(await patient?.state == .cancelled)
    }

    @Test func `a stored run that has ended does not change`() async throws {
        let world = try World()
        let run = await world.engine.sync()
        var late = run
        (late.state, late.endedAt) = (.running, nil)
        try await world.store.write { [late] in try $0.runs.save(late) }
        #expect(try await world.store.lists.run(run.id)?.state == .complete)
    }

    @Test func `conflicts, refused operations and runs with their counts are logged and counted`()
        async throws
    {
        let log = CollectedLog()
        let world = try World(log: log.logger)
        for id in ["both", "bad", "good"] { try await world.insert(id) }
        #expect(await world.engine.sync().state == .complete)
        try await world.elsewhere("PATCH", "both", #"{"text":"theirs"}"#)
        for id in ["both", "bad", "good"] { try await world.update(id, #"{"text":"mine"}"#) }
        world.transport.decide { request, _ in
            request.head.method == .patch && request.head.path?.hasSuffix("/bad") == true
                ? .instead(Response(status: .badRequest, body: Array(#"{"error":"secret"}"#.utf8)))
                : nil
        }
        let run = await world.engine.sync()
        #expect(run.push?.conflicts == 1 && run.push?.quarantined == 1, "\(run)")
        let open = try await world.open()
        func id(_ state: OperationState) -> String { open.first { $0.state == state }?.id ?? "" }
        let lines = log.lines
        let conflict = lines.filter { $0.message == "conflict" }
        #expect(
            conflict == [
                CollectedLog.Line(
                    level: .notice, message: "conflict",
                    fields: [
                        "operation": id(.conflict), "table": "todoitem", "kind": "update",
                        "identity": "anonymous", "status": "412",
                    ])
            ])
        let refused = lines.filter { $0.message == "operation refused" }
        #expect(
            refused == [
                CollectedLog.Line(
                    level: .notice, message: "operation refused",
                    fields: [
                        "operation": id(.quarantined), "table": "todoitem", "kind": "update",
                        "identity": "anonymous", "status": "400",
                    ])
            ])
        let ended = lines.filter { $0.message == "run ended" }
        #expect(ended.map(\.level) == [.info, .notice])
        #expect(ended.last?.fields["conflicts"] == "1" && ended.last?.fields["quarantined"] == "1")
        #expect(
            ended.last?.fields["applied"] == "1" && ended.last?.fields["state"] == "\(run.state)")
        #expect(!lines.contains { line in line.fields.values.contains { $0.contains("secret") } })
        let ledger = try await world.store.ledger()
        #expect((ledger.conflicts, ledger.refusals, ledger.retries) == (1, 1, 1))
        _ = try await world.store.retry(id(.quarantined))
        _ = await world.engine.push()
        let again = try await world.store.ledger()
        #expect((again.conflicts, again.refusals, again.retries) == (1, 2, 2))
    }
}
