import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import Storage
@testable import SyncCore

/// A backend that holds `ABC` and `abc` equal, as SQL Server and columns of UUIDs do, and keeps `abc`.
@Suite struct SpelledIDTests {
    private let world: World
    private static let columns = #"{"text":"milk","rank":1}"#

    init() throws { world = try World() }

    /// The backend gives its row, deleted or not, for `ABC` too.
    /// - Parameter post: what becomes of an insert, given the row.
    private func holdEqual(
        post: @escaping @Sendable ([UInt8]) -> FaultyTransport.Fault
    ) async throws {
        let row = try await InProcessTransport(world.backend).send(
            .tables("GET", "/tables/todoitem/abc?__includeDeleted=true"))
        let body = row.bytes ?? []
        world.transport.decide { request, _ in
            if request.head.method == .post { return post(body) }
            guard let path = request.head.path, path.contains("ABC") else { return nil }
            let isList = path.contains("filter")
            return .instead(
                Self.answer(isList ? Array("[".utf8) + body + Array("]".utf8) : body))
        }
    }

    private static func answer(_ body: [UInt8], _ status: Int = 200) -> Response {
        Response(
            status: .init(code: status), headerFields: [.contentType: "application/json"],
            body: body)
    }

    /// The living items of the store, and the rows of the backend.
    private func ids() async throws -> (here: [String], there: [String]) {
        let here = try await world.store.read { transaction in
            try transaction.all("SELECT id FROM items WHERE deleted = 0 ORDER BY id") {
                $0[0] as String
            }
        }
        return (here, try await world.backend.items(in: world.todo).map(\.id.text))
    }

    /// Checks that there is one row, which both spellings find and change.
    private func expectOneRow() async throws {
        #expect(try await world.open().isEmpty)
        let ids = try await ids()
        #expect(ids.here == ["abc"] && ids.there == ["abc"])
        let (byOld, byNew) = (try await world.local("ABC"), try await world.local("abc"))
        #expect(byOld == byNew && byNew?.id.text == "abc")
        let there = try #require(try await world.remote("abc"))
        #expect(byNew?.columns.changedNames(from: there.columns) == [])
        world.transport.forget()
        try await world.update("ABC", #"{"text":"bread"}"#)
        #expect(await world.engine.push().state == .complete)
        #expect(world.writes == ["PATCH /abc"])
        #expect(try await world.remote("abc")?.columns["text"]?.string == "bread")
        #expect(try await world.store.ledger().balances)
    }

    @Test(arguments: [false, true])
    func `an answer in another spelling renames the item, also where a pull was first`(
        isPulled: Bool
    ) async throws {
        try await world.insert("ABC", Self.columns)
        try await world.seed("abc", Self.columns)
        if isPulled {
            world.transport.decide { request, _ in
                request.head.method == .post ? .instead(Self.answer([], 500)) : nil
            }
            _ = await world.engine.pull(world.todo)
            #expect(try await ids().here == ["ABC", "abc"])
            try await world.update("abc", #"{"rank":2}"#)
            try await world.update("ABC", #"{"note":"n"}"#)
        }
        try await holdEqual { .instead(Self.answer($0, 201)) }
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(700))
            _ = await world.engine.push()
        }
        if isPulled {
            let columns = try await world.remote("abc")?.columns
            #expect(columns?["rank"] == .integer(2) && columns?["note"] == .string("n"))
        }
        try await expectOneRow()
    }

    @Test func `a lost answer is found under the other spelling`() async throws {
        try await world.insert("ABC", Self.columns)
        try await world.seed("abc", Self.columns)
        try await holdEqual { _ in .vanished }
        _ = await world.engine.push()
        world.clock.advance(by: .seconds(700))
        _ = await world.engine.push()
        try await expectOneRow()
    }

    @Test func `an insert that meets another row is refused at once, and names it`() async throws {
        try await world.insert("ABC", Self.columns)
        try await world.seed("abc", #"{"text":"theirs"}"#)
        let sentence = "Violation of PRIMARY KEY constraint."
        try await holdEqual { _ in
            .instead(Self.answer(Array(#"{"error":"\#(sentence)"}"#.utf8), 409))
        }
        let theirs = try await world.remote("abc")
        _ = await world.engine.push()
        let refused = try #require(try await world.open().first { $0.itemID == "ABC" })
        #expect(refused.state == .quarantined && refused.attempts == 1)
        #expect(refused.reason?.contains(sentence) == true)
        #expect(refused.reason?.contains("abc") == true)
        #expect(try await world.remote("abc") == theirs)
    }

    @Test func `a deleted row is found in a list, though a read by the id denies it`()
        async throws
    {
        try await world.insert("ABC", Self.columns)
        let row =
            #"{"id":"abc","deleted":true,"version":"v","updatedAt":"2023-01-01T00:00:00.000Z"}"#
        world.transport.decide { request, _ in
            if request.head.method == .post {
                return .instead(Self.answer(Array(#"{"error":"It exists."}"#.utf8), 409))
            }
            guard let path = request.head.path, path.contains("ABC") else { return nil }
            return .instead(
                path.contains("filter")
                    ? Self.answer(Array("[\(row)]".utf8))
                    : Self.answer(Array(#"{"error":"The item does not exist."}"#.utf8), 404))
        }
        _ = await world.engine.push()
        let refused = try #require(try await world.open().first)
        #expect(refused.state == .quarantined && refused.attempts == 1)
        #expect(refused.reason?.contains("its item abc. ") == true, "\(refused.reason ?? "")")
    }

    @Test(arguments: ["PATCH", "DELETE", "pull"])
    func `a backend that echoes the first spelling is found out later`(_ way: String) async throws {
        try await world.insert("ABC", Self.columns)
        try await world.seed("abc", Self.columns)
        try await holdEqual { body in
            let text = String(decoding: body, as: UTF8.self)
            return .instead(
                Self.answer(Array(text.replacing(#""abc""#, with: #""ABC""#).utf8), 201))
        }
        _ = await world.engine.push()
        #expect(try await ids().here == ["ABC"])
        let change = #"{"text":"jam"}"#
        switch way {
        case "PATCH": try await world.update("ABC", change)
        case "DELETE": try await world.delete("ABC")
        default: break
        }
        if way != "pull" { try await world.elsewhere(way, "abc", way == "PATCH" ? change : nil) }
        try await holdEqual { .instead(Self.answer($0)) }
        _ = await world.engine.push()
        if way == "DELETE" { return #expect(try await ids().here == []) }
        _ = await world.engine.pull(world.todo)
        try await expectOneRow()
    }

    @Test func `a backend that keeps both spellings keeps two rows here`() async throws {
        for id in ["r1", "R1"] { try await world.seed(id, Self.columns) }
        _ = await world.engine.pull(world.todo)
        #expect(try await ids().here == ["R1", "r1"])
    }

    @Test(arguments: [
        ("a", "A ", true), ("Straße", "STRASSE", true), ("José", "jose", true), ("a", "b", false),
        ("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc999c0b4ef8bb6d6bb9bd380a11", true),
        ("a-b", "ab", false), ("a b", "ab", false),
    ])
    func `ids are alike if a database may hold them equal`(
        _ one: String, _ other: String, _ expected: Bool
    ) throws {
        #expect(try ItemID(one).isLike(try ItemID(other)) == expected)
    }
}
