import Backend
import Foundation
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// An unusable row, table or response does not stop the others.
@Suite struct SetAsideTests {
    /// Whether the request is for the first page of a pull.
    private static func page(_ request: Request, _ body: String) -> FaultyTransport.Fault? {
        guard let path = request.head.path, path.contains("$orderby") else { return nil }
        return .instead(.json(path.contains("$inlinecount") ? body : "[]"))
    }

    private static func row(_ rest: String) -> String {
        #"{\#(rest),"updatedAt":"2020-01-01T00:00:00.000Z","version":"v"}"#
    }

    private static let deep = String(repeating: "[", count: 70) + String(repeating: "]", count: 70)

    /// Rows that cannot be stored, each with a part of the stated reason.
    private static let unusable = [
        (row(#""id":"a/b""#), "'/'"), (row(#""id":"a+b""#), "'+'"), (row(#""id":"a?""#), "'?'"),
        (row(#""id":"\"""#), "'\"'"), (row(#""id":"\\""#), #"'\'"#), (row(#""id":"`""#), "'`'"),
        (row(#""id":".""#), "is ."), (row(#""id":"""#), "empty"),
        (row(#""id":"\#(String(repeating: "x", count: 256))""#), "255"),
        (row(#""x":1"#), "no id"), (row(#""id":null"#), "no id"), (row(#""id":1.5"#), "neither"),
        (row(#""id":"\u0007""#), "U+7"), (row(#""id":"s\ud800""#), "surrogate"),
        (row(#""id":"d","x":\#(deep)"#), "nested"), (row(#""id":"r","x":1,"x":2"#), "twice"),
        ("7", "object"), ("nonsense", "object"),
    ]

    @Test(arguments: [false, true])
    func `rows that cannot be stored are set aside, and the others are applied`(
        inEnvelope: Bool
    ) async throws {
        let world = try World()
        let good = #"{"id":"good","x":1,"updatedAt":"2020-01-01T00:00:01.000Z","version":"v"}"#
        let list = "[" + (Self.unusable.map(\.0) + [good]).joined(separator: ",") + "]"
        let body = inEnvelope ? #"{"results":\#(list),"count":19}"# : list
        world.transport.decide { request, _ in
            Self.page(request, body)
        }
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await world.local("good")?.columns["x"] == .integer(1))
        let table = try #require(try await world.store.tables().first)
        #expect(table.isComplete && table.setAside == Self.unusable.count && table.pullError == nil)
        #expect(
            table.warning?.contains("\(Self.unusable.count) rows") == true, "\(table.warning ?? "")"
        )
        let rows = try await world.store.lists.setAsideRows(of: world.todo, after: nil, limit: 100)
        for (text, reason) in Self.unusable {
            let row = try #require(rows?.items.first { $0.text == text }, "\(text)")
            #expect(row.reason.contains(reason), "\(text): \(row.reason)")
        }
        // The next request uses a later token.
        world.transport.forget()
        world.clock.advance(by: .seconds(60))
        _ = await world.engine.pull(world.todo)
        #expect(world.transport.targets.contains { $0.contains("updatedAt%20ge") })
    }

    @Test func `a repaired row is stored, and a deleted row is no longer set aside`()
        async throws
    {
        let world = try World()
        let unusable = ["a", "b", "c"].map { Self.row(#""id":"\#($0)","x":1,"x":2"#) }
        world.transport.decide { request, _ in
            Self.page(request, "[\(unusable.joined(separator: ","))]")
        }
        _ = await world.engine.pull(world.todo)
        let table = try await world.store.tables().first
        #expect(table?.setAside == 3)
        let reason = "It cannot be read. "
        #expect(
            table?.warning?.hasPrefix(
                "3 rows of the backend are not here, since they cannot be taken. “a”: \(reason)")
                == true, "\(table?.warning ?? "")")
        let contents = try world.contents()
        #expect(contents.setAside == [table?.warning.map { "todoitem: \($0)" }])
        let mended = Self.row(#""id":"a","x":3"#)
        world.transport.decide { request, _ in
            let path = request.head.path?.replacingOccurrences(of: "%27", with: "'") ?? ""
            if path.contains("'a'") { return .instead(.json("[\(mended)]")) }
            if path.contains("'b'") { return .instead(.json("[]")) }
            // A response that ignores the filter proves nothing.
            return path.contains("'c'") && !path.contains("$orderby")
                ? .instead(.json("[\(mended)]")) : .instead(.json("[]"))
        }
        world.clock.advance(by: .seconds(60))
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await world.local("a")?.columns["x"] == .integer(3))
        let left = try await world.store.lists.setAsideRows(of: world.todo, after: nil, limit: 9)
        #expect(left?.items.map(\.id) == ["c"])
    }

    @Test(arguments: [#""x":1,"x":2"#, #""x":\#(deep)"#])
    func `an item whose row becomes unusable is kept`(columns: String) async throws {
        let world = try World()
        try await world.fill(3)
        _ = await world.engine.pull(world.todo)
        let unusable = Self.row(#"\#(columns),"id":"r1001""#)
        let good = Self.row(#""id":"r1000""#)
        world.transport.decide { request, _ in
            Self.page(request, "[\(unusable),\(good)]")
        }
        world.clock.advance(by: .seconds(60))
        _ = await world.engine.pull(world.todo, reconcile: true)
        #expect(try await world.local("r1000") != nil)
        #expect(try await world.local("r1001")?.columns["text"] == .string("1"))
        #expect(try await world.local("r1002") == nil)
    }

    @Test func `where an element has no id that can be read, no item is removed`() async throws {
        let world = try World()
        try await world.fill(3)
        _ = await world.engine.pull(world.todo)
        let good = Self.row(#""id":"r1000""#)
        world.transport.decide { request, _ in Self.page(request, "[\(good),7]") }
        world.clock.advance(by: .seconds(60))
        let run = await world.engine.pull(world.todo, reconcile: true)
        #expect(run.state == .complete && run.pull.first?.deleted == 0, "\(run)")
        #expect(try await world.itemCount() == 3)
    }

    @Test func `the token follows the backend's clock, whatever the time is here`() async throws {
        let world = try World()
        // Here it is 22:13.
        let row = #"{"id":"y","updatedAt":"2023-11-14T23:30:00.000Z","version":"v"}"#
        var page = Response.json("[\(row)]")
        page.head.headerFields[.date] = "Tue, 14 Nov 2023 23:40:00 GMT"
        world.transport.once(.instead(page)) { $0.head.path?.contains("$orderby") == true }
        _ = await world.engine.pull(world.todo)
        world.transport.forget()
        _ = await world.engine.pull(world.todo)
        #expect(world.transport.targets.contains { $0.contains("2023-11-14T23") })
    }

    @Test(arguments: ["9999-12-31T00:00:00.000Z", "2023-11-14T22:43:20.000Z"])
    func `a row with a time in the future does not move the token`(time: String) async throws {
        // Here it is 2023-11-14T22:13.
        let world = try World()
        try await world.fill(1)
        let unusable = #"{"id":"z","updatedAt":"\#(time)","version":"v"}"#
        let good = Self.row(#""id":"y""#)
        world.transport.once(.instead(.json("[\(good),\(unusable)]"))) {
            $0.head.path?.contains("$orderby") == true
        }
        _ = await world.engine.pull(world.todo)
        #expect(try await world.local("z") != nil)
        _ = await world.engine.pull(world.todo)
        #expect(try await world.local("r1000") != nil)
    }

    @Test func `a failed pull is reported until one succeeds`() async throws {
        let world = try World()
        try await world.fill(3)
        _ = await world.engine.pull(world.todo)
        world.transport.decide { _, _ in .instead(.json(#"{"error":"no"}"#, 403)) }
        let run = await world.engine.pull(world.todo)
        #expect(run.state == .completeWithErrors)
        let failing = try #require(try await world.store.tables().first)
        #expect(failing.pullError?.contains("403") == true)
        #expect(failing.pullsFailSince != nil)
        #expect(failing.warning?.contains("pulls fail") == true)
        world.transport.decide { _, _ in nil }
        _ = await world.engine.pull(world.todo)
        let mended = try #require(try await world.store.tables().first)
        #expect(mended.pullError == nil && mended.pullsFailSince == nil && mended.warning == nil)
    }

    @Test func `without a token, a table that asks for a sign-in is reported too`() async throws {
        let world = try World()
        try await world.fill(3)
        _ = await world.engine.pull(world.todo)
        world.transport.decide { _, _ in .instead(.json(#"{"error":"no"}"#, 401)) }
        _ = await world.engine.sync()
        let failing = try #require(try await world.store.tables().first)
        #expect(failing.pullError == "The backend asks to sign in.")
        #expect(failing.pullsFailSince != nil)
    }

    @Test func `an unpaged list removes only the items that the backend confirms missing`()
        async throws
    {
        let world = try World()
        @Sendable func list(_ ids: Range<Int>) -> Response {
            Response.json(
                "[" + ids.map { Self.row(#""id":"\#($0)""#) }.joined(separator: ",") + "]")
        }
        world.transport.decide { _, _ in .instead(list(100..<160)) }
        _ = await world.engine.pull(world.todo)
        #expect(try await world.itemCount() == 60)
        world.transport.decide { request, _ in
            let path = request.head.path ?? ""
            if path.contains("/150?") { return .instead(.json("{}", 404)) }
            if path.contains("/todoitem/") { return .instead(.json(Self.row(#""id":"x""#))) }
            return .instead(list(100..<150))
        }
        world.clock.advance(by: .seconds(60))
        _ = await world.engine.pull(world.todo)
        #expect(try await world.local("150") == nil)
        #expect(try await world.local("151") != nil)
    }
}
