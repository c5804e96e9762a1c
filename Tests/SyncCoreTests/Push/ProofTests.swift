import Backend
import Foundation
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Which responses prove a fact about the backend or a row.
@Suite struct ProofTests {
    @Test(arguments: [BackendFlavour.mobileApps, .datasync], ["[]", #"{"items":[]}"#])
    func `a stray empty list does not change the generation that is remembered`(
        _ flavour: BackendFlavour, _ stray: String
    ) async throws {
        let world = try World(BackendOptions(flavour: flavour))
        try await world.seed("a", #"{"text":"1"}"#)
        _ = await world.engine.pull(world.todo)
        let known = await world.engine.knownGeneration
        // A new process, whose first response comes from an intermediary.
        let (store, engine) = try world.reborn()
        world.transport.once(.instead(.json(stray))) { _ in true }
        let id = try ItemID("a")
        _ = await store.submit(
            LocalWrite(table: world.todo, action: .update(id, Columns(stored: #"{"text":"2"}"#))))
        #expect(await engine.push().state == .complete)
        #expect(await engine.knownGeneration == known)
        #expect(try await world.remote("a")?.columns["text"] == .string("2"))
    }

    @Test
    func `a refused dialect leaves the operation pending, and the generation is detected again`()
        async throws
    {
        let world = try World(BackendOptions(flavour: .mobileApps))
        try await world.seed("a", #"{"text":"1"}"#)
        _ = await world.engine.pull(world.todo)
        try await world.update("a", #"{"text":"2"}"#)
        let refusal = #"{"error":"this request needs to specify a ZUMO-API-VERSION of 3.0.0."}"#
        world.transport.decide { _, _ in .instead(.json(refusal, 400)) }
        #expect(await world.engine.push().state == .completeWithErrors)
        let open = try await world.open()
        #expect(open.map(\.state) == [.waiting], "\(open)")
        #expect(open.first?.maybeApplied == false)
        world.transport.decide { _, _ in nil }
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.remote("a")?.columns["text"] == .string("2"))
    }

    private static let others = #"[{"id":"x","version":"v"},{"id":"y","version":"v"}]"#

    @Test(arguments: ["here", "gone"])
    func `a list that ignores its filter does not prove that a row is missing`(_ fate: String)
        async throws
    {
        let world = try World()
        try await world.seed("a", #"{"text":"1"}"#)
        _ = await world.engine.pull(world.todo)
        try await world.update("a", #"{"text":"2"}"#)
        // The backend takes the update, and its answer is lost; it knows no `$filter`.
        world.transport.decide { request, _ in
            let isFiltered = request.head.path?.contains("$filter") == true
            if request.head.method == .patch { return .answerLost }
            return isFiltered ? .instead(.json(Self.others)) : nil
        }
        _ = await world.engine.push()
        #expect(try await world.open().map(\.state) == [.unknown])
        if fate == "gone" { try await world.elsewhere("DELETE", "a") }
        world.transport.forget()
        let run = await world.engine.push()
        #expect(world.transport.targets.contains { $0.contains("/a?") })
        if fate == "here" {
            #expect(run.state == .complete)
            #expect(try await world.open().isEmpty)
        } else {
            #expect(try await world.open().map(\.state) == [.conflict])
        }
    }

    @Test func `an insert of an assigned id is not told by a list that ignores its filter`()
        async throws
    {
        let subject = PushSubject(
            kind: .insert, itemID: ItemID(-1), sent: Columns(stored: #"{"text":"1"}"#))
        let old = ListElement.row(
            RemoteRow(id: ItemID(3), columns: Columns(stored: #"{"text":"1"}"#)))
        let mine = ListElement.row(
            RemoteRow(id: ItemID(9), columns: Columns(stored: #"{"text":"1"}"#)))
        func judge(_ elements: [ListElement]) -> PushOutcome {
            IntegerInsert.judge(
                subject, .rows(RemotePage(elements: elements, hasNext: false)), after: 5,
                claim: { _ in .none })
        }
        #expect(judge([old]).cause == .own)
        #expect(judge([old, mine]).cause == .own)
        #expect(judge([]) == Verdict.sendAgain(subject))
        #expect(judge([mine]) == .applied(row: mine.row))
    }

    @Test func `a table that is missing for a moment does not refuse its writes`()
        async throws
    {
        let world = try World()
        try await world.elsewhere("POST", nil, #"{"id":"a","text":"1"}"#)
        _ = await world.engine.pull(world.todo)
        // Another table still answers, so the backend is reachable.
        let other = try #require(TableName("other"))
        _ = await world.engine.pull(other)
        try await world.insert("n")
        try await world.update("a", #"{"text":"2"}"#)
        let missing = Response.json(#"{"error":"no such table"}"#, 404)
        world.transport.decide { request, _ in
            request.head.path?.contains("todoitem") == true ? .instead(missing) : nil
        }
        let run = await world.engine.push()
        #expect(run.state == .completeWithErrors, "\(run)")
        let open = try await world.open()
        #expect(open.allSatisfy { $0.state == .waiting }, "\(open)")
        #expect(open.first?.reason?.contains("404") == true)
        world.transport.decide { _, _ in nil }
        #expect(await world.engine.sync().state == .complete)
        #expect(try await world.remote("n") != nil)
        #expect(try await world.remote("a")?.columns["text"] == .string("2"))
        // A table that stays missing refuses the write after the usual number of attempts.
        try await world.insert("m")
        world.transport.decide { request, _ in
            request.head.path?.contains("todoitem") == true ? .instead(missing) : nil
        }
        for _ in 0..<10 { _ = await world.engine.push() }
        #expect(try await world.open().map(\.state) == [.quarantined])
    }

    @Test func `a table that is missing for a moment when a row is read back refuses nothing`()
        async throws
    {
        let world = try World()
        try await world.seed("a", #"{"text":"1","note":"n"}"#)
        _ = await world.engine.pull(world.todo)
        let other = try #require(TableName("other"))
        _ = await world.engine.pull(other)
        try await world.elsewhere("PATCH", "a", #"{"note":"theirs"}"#)
        try await world.update("a", #"{"text":"mine"}"#)
        let missing = Response.json(#"{"error":"no such table"}"#, 404)
        // The answer to the change has no row that could be taken, so the row is read back.
        let refused = Response.json(#"{"error":"precondition failed"}"#, 412)
        world.transport.decide { request, _ in
            guard request.head.path?.contains("todoitem") == true else { return nil }
            switch request.head.method {
            case .get: return .instead(missing)
            case .patch: return .instead(refused)
            default: return nil
            }
        }
        _ = await world.engine.push()
        #expect(try await world.open().map(\.state) == [.waiting])
        world.transport.decide { _, _ in nil }
        #expect(await world.engine.sync().state == .complete)
        #expect(
            try await world.remote("a")?.columns.text == #"{"text":"mine","note":"theirs"}"#)
    }

    @Test(arguments: [
        (#"{"id":"a","updatedAt":"2013","__updatedAt":"2014-01-01T00:00:00.000Z"}"#, 1),
        (#"{"id":"a","text":"x","__updatedAt":"2014-01-01T00:00:00.000Z"}"#, 1),
        (#"{"id":"a","text":"x"}"#, 1),
        (#"{"id":"a","updatedAt":"2014-01-01T00:00:00.000Z"}"#, 2),
    ])
    func `a column named updatedAt beside the system's is a user's`(
        row: String, generation: Int
    ) throws {
        let world = try World()
        let page = try #require(
            ListBody.parse(Array("[\(row)]".utf8), generation: .mobileServices))
        let prover = Prover(remote: try world.remote(), isGenerationOpen: true)
        let outcome = prover.outcome(.rows(page), world.todo, in: .mobileServices)
        #expect(outcome == .proven(generation == 1 ? .mobileServices : .mobileApps))
    }

    /// The backend answers a change with its own body beside the present row's version.
    @Test(arguments: [409, 412], [true, false])
    func `an echo with the present version does not prove that a change arrived`(
        status: Int, inBody: Bool
    ) async throws {
        let world = try World()
        try await world.seed("a", #"{"text":"1","note":"n"}"#)
        _ = await world.engine.pull(world.todo)
        try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#)
        try await world.update("a", #"{"text":"mine"}"#)
        let version = try #require(try await world.remote("a")?.version)
        let echo =
            inBody
            ? #"{"id":"a","text":"mine","note":"n","deleted":false,"version":"\#(version)"}"#
            : #"{"id":"a","text":"mine"}"#
        let answer = Response.json(echo, status, inBody ? [:] : [.eTag: "\"\(version)\""])
        world.transport.once(.instead(answer)) { $0.head.method == .patch }
        _ = await world.engine.push()
        let conflict = try await world.store.firstConflict()
        #expect(conflict.mine?.text == #"{"text":"mine","note":"n"}"#)
        #expect(conflict.server?.text == #"{"text":"theirs","note":"n"}"#)
        #expect(try await world.remote("a")?.columns.text == #"{"text":"theirs","note":"n"}"#)
        #expect(try await world.store.ledger().balances)
    }

    /// The whole rows of one item: at the backend, here, and as a conflict shows them.
    private func expect(
        _ world: World, remote: String, local: String, requests: [String]
    ) async throws {
        let sent = world.transport.targets.map { $0.prefix { $0 != " " }.description }
        // A generation that answers with a part of the row has it read afterwards.
        #expect(sent.prefix(requests.count).elementsEqual(requests), "\(sent)")
        let theirs = try await world.remote("a")
        let todo = world.todo
        let here = try await world.store.read { transaction in
            try transaction.tables.table(todo).flatMap {
                try transaction.items.row($0, exactly: ItemID("a"))
            }
        }
        #expect(theirs?.columns.text == remote && theirs?.deleted == false)
        #expect(here?.columns.text == local && here?.deleted == false)
        #expect(here?.serverVersion == theirs?.version && here?.serverDeleted == false)
        #expect(try await world.store.ledger().balances)
    }

    @Test(arguments: [BackendFlavour.mobileServices, .mobileApps, .datasync])
    func `the backend's row in a 412 is merged without reading it`(
        _ flavour: BackendFlavour
    ) async throws {
        let world = try World(BackendOptions(flavour: flavour))
        try await world.seed("a", #"{"text":"1","note":"n"}"#)
        _ = await world.engine.pull(world.todo)
        let method = flavour == .datasync ? "PUT" : "PATCH"
        let status = try await world.send(
            method, "/tables/todoitem/a", #"{"id":"a","text":"1","note":"theirs"}"#)
        #expect(status == 200)
        try await world.update("a", #"{"text":"mine"}"#)
        world.transport.forget()
        #expect(await world.engine.push().state == .complete)
        let whole = #"{"text":"mine","note":"theirs"}"#
        try await expect(world, remote: whole, local: whole, requests: [method, method])
    }

    @Test func `the backend's row in a 412 is one side of a conflict without reading it`()
        async throws
    {
        let world = try World()
        try await world.seed("a", #"{"text":"1","note":"n"}"#)
        _ = await world.engine.pull(world.todo)
        try await world.elsewhere("PATCH", "a", #"{"text":"theirs","note":"t"}"#)
        try await world.update("a", #"{"text":"mine"}"#)
        world.transport.forget()
        _ = await world.engine.push()
        try await expect(
            world, remote: #"{"text":"theirs","note":"t"}"#, local: #"{"text":"mine","note":"n"}"#,
            requests: ["PATCH"])
        #expect(world.transport.targets.count == 1)
        let conflict = try await world.store.firstConflict()
        #expect(conflict.base?.text == #"{"text":"1","note":"n"}"#)
        #expect(conflict.mine?.text == #"{"text":"mine","note":"n"}"#)
        #expect(conflict.server?.text == #"{"text":"theirs","note":"t"}"#)
    }

    /// A body with the version that was sent, two of a part of the row, one without a time, one with a column that no
    /// read has given, and a 409.
    @Test(arguments: [
        (412, #"{"id":"a","text":"no","note":"n","n":null,"version":"SENT","updatedAt":"TIME"}"#),
        (412, #"{"id":"a","text":"no","n":null,"version":"NOW","updatedAt":"TIME"}"#),
        (412, #"{"id":"a","text":"no","note":"n","version":"NOW","updatedAt":"TIME"}"#),
        (412, #"{"id":"a","text":"no","note":"n","n":null,"version":"NOW"}"#),
        (
            412,
            #"{"id":"a","text":"no","note":"n","n":null,"s":1,"version":"NOW","updatedAt":"TIME"}"#
        ),
        (409, #"{"id":"a","text":"no","note":"n","n":null,"version":"NOW","updatedAt":"TIME"}"#),
    ])
    func `a conflict's body that is not proven is not taken for the row`(
        status: Int, body: String
    ) async throws {
        let world = try World()
        try await world.seed("a", #"{"text":"1","note":"n","n":null}"#)
        _ = await world.engine.pull(world.todo)
        let before = try #require(try await world.remote("a")?.version)
        try await world.elsewhere("PATCH", "a", #"{"note":"theirs"}"#)
        let now = try #require(try await world.remote("a")?.version)
        try await world.update("a", #"{"text":"mine"}"#)
        let named = body.replacingOccurrences(of: "SENT", with: before)
            .replacingOccurrences(of: "NOW", with: now)
            .replacingOccurrences(of: "TIME", with: "2030-01-01T00:00:00.000Z")
        world.transport.once(.instead(.json(named, status))) { $0.head.method == .patch }
        world.transport.forget()
        #expect(await world.engine.push().state == .complete)
        let row = try #require(try await world.remote("a"))
        #expect(row.columns["text"] == .string("mine") && row.columns["note"] == .string("theirs"))
        let whole = row.columns.text
        try await expect(world, remote: whole, local: whole, requests: ["PATCH", "GET", "PATCH"])
    }

    @Test func `a policy that discards the local change decides by a row that was read`()
        async throws
    {
        let world = try World()
        try await world.seed("a", #"{"text":"1","note":"n"}"#)
        _ = await world.engine.pull(world.todo)
        _ = try await world.store.updateTable(world.todo) { $0.conflictPolicy = .server }
        try await world.elsewhere("PATCH", "a", #"{"note":"theirs"}"#)
        let row = try #require(try await world.remote("a"))
        try await world.update("a", #"{"text":"mine"}"#)
        // As a backend answers whose scripts for reads write the text otherwise than it is stored.
        let stored =
            #"{"id":"a","text":"one","note":"theirs","version":"\#(row.version)","#
            + #""updatedAt":"2030-01-01T00:00:00.000Z"}"#
        world.transport.once(.instead(.json(stored, 412))) { $0.head.method == .patch }
        world.transport.forget()
        #expect(await world.engine.push().state == .complete)
        let whole = #"{"text":"mine","note":"theirs"}"#
        try await expect(world, remote: whole, local: whole, requests: ["PATCH", "GET", "PATCH"])
    }
}
