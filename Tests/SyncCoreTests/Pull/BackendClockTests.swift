import Foundation
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A backend whose clock gives rows times that are yet to come.
@Suite struct BackendClockTests {
    private struct Row: Sendable {
        var id: String
        var at: Instant
        var text: String
    }

    /// Answers the lists of pulls with rows, which stand in the order of their times.
    /// - Parameters:
    ///   - now: the backend's time at the first page of a pull.
    ///   - end: its time at the later pages.
    private static func lists(
        _ rows: [Row], now: Instant, end: Instant
    ) -> @Sendable (Request, Int) -> FaultyTransport.Fault? {
        { request, _ in
            guard let path = request.head.path?.removingPercentEncoding,
                path.contains("$orderby=updatedAt")
            else { return nil }
            let isLater = path.contains("updatedAt gt")
            let parts = path.split(separator: "updatedAt ge datetimeoffset'", maxSplits: 1)
            let text = parts.count == 2 ? String(parts[1].prefix { $0 != "'" }) : ""
            let begin = Instant(iso: text) ?? .earliest
            let page = rows.filter { row in !isLater && row.at >= begin }
            let texts = page.map { row in
                """
                {"id":"\(row.id)","updatedAt":"\(row.at.text)","version":"\(row.text)","text":"\(row.text)"}
                """
            }
            return .instead(
                Response(
                    status: .ok,
                    headerFields: [
                        .contentType: "application/json", .date: (isLater ? end : now).httpDate,
                    ],
                    body: Array("[\(texts.joined(separator: ","))]".utf8)))
        }
    }

    private func texts(_ world: World) async throws -> [String: String] {
        var texts: [String: String] = [:]
        for id in ["a", "b", "c"] {
            texts[id] = try await world.local(id)?.columns["text"]?.string
        }
        return texts
    }

    private func warning(_ world: World) async throws -> String? {
        try await world.store.tables().first?.warning
    }

    @Test func `once the clock was set back, no change is missed`() async throws {
        let world = try World()
        let right = world.clock.now()
        func at(_ second: Int64) -> Instant { right.advanced(by: .seconds(second)) }
        let ahead = [
            Row(id: "a", at: at(3600), text: "old"), Row(id: "b", at: at(3601), text: "old"),
        ]
        world.transport.decide(Self.lists(ahead, now: at(3602), end: at(3602)))
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await texts(world) == ["a": "old", "b": "old"])
        world.clock.advance(by: .seconds(20))
        let changed = [
            Row(id: "a", at: at(4), text: "new"), Row(id: "c", at: at(5), text: "new"), ahead[1],
        ]
        world.transport.decide(Self.lists(changed, now: at(20), end: at(20)))
        world.transport.forget()
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await texts(world) == ["a": "new", "b": "old", "c": "new"])
        // The page at the token, the first page of the whole table, and the empty one at the end.
        #expect(world.transport.targets.count { $0.contains("$orderby=updatedAt") } == 3)
        // From here on pulls begin at a token again.
        world.clock.advance(by: .seconds(20))
        world.transport.decide(Self.lists(changed, now: at(40), end: at(40)))
        world.transport.forget()
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(world.transport.targets.count { $0.contains("$orderby=updatedAt") } == 2)
    }

    @Test func `a latest row that is yet to come is a warning until its time`() async throws {
        let world = try World()
        let begun = world.clock.now()
        func at(_ second: Int64) -> Instant { begun.advanced(by: .seconds(second)) }
        let rows = [
            Row(id: "a", at: at(0), text: "now"), Row(id: "b", at: at(3600), text: "later"),
        ]
        world.transport.decide(Self.lists(rows, now: at(0), end: at(0)))
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await texts(world) == ["a": "now", "b": "later"])
        #expect(try await warning(world)?.contains("yet to come") == true)
        world.clock.advance(by: .seconds(3600))
        world.transport.decide(Self.lists(rows, now: at(3600), end: at(3600)))
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await warning(world) == nil)
    }

    @Test func `a row that changes during a long pull is no warning`() async throws {
        let world = try World()
        let begun = world.clock.now()
        func at(_ second: Int64) -> Instant { begun.advanced(by: .seconds(second)) }
        let rows = [Row(id: "a", at: at(0), text: "now"), Row(id: "b", at: at(60), text: "during")]
        world.transport.decide(Self.lists(rows, now: at(0), end: at(90)))
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await texts(world) == ["a": "now", "b": "during"])
        #expect(try await warning(world) == nil)
    }
}
