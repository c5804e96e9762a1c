import Backend
import HTTPMessage
import HTTPTypes
import Storage
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A backend that has an order of its own, whatever order is asked for.
@Suite struct UnsortedBackendTests {
    /// Rows in the backend's own order, with the seconds of their times.
    private static let rows = [("a", 3), ("b", 1), ("c", 2)]

    /// Answers the lists of a pull with rows, sorted by their times only if `sorts` is true.
    private static func lists(
        _ rows: [(String, Int)], sorts: Bool
    ) -> @Sendable (Request, Int) -> FaultyTransport.Fault? {
        { request, _ in
            guard let path = request.head.path, path.contains("$orderby") else { return nil }
            let isByTime = path.contains("$orderby=updatedAt")
            var page = sorts && isByTime ? rows.sorted { $0.1 < $1.1 } : rows
            // After the last row there are no more.
            if path.contains("updatedAt%20gt") { page = [] }
            page.removeFirst(min(page.count, Self.skip(path)))
            let texts = page.map { id, second in
                #"{"id":"\#(id)","updatedAt":"2020-01-01T00:00:0\#(second).000Z","version":"v"}"#
            }
            return .instead(.json("[\(texts.joined(separator: ","))]"))
        }
    }

    private static func skip(_ path: String) -> Int {
        let parts = path.split(separator: "$skip=", maxSplits: 1)
        guard parts.count == 2 else { return 0 }
        return Int(parts[1].prefix { $0.isNumber }) ?? 0
    }

    private func ids(_ world: World) async throws -> [String] {
        try await world.store.read { transaction in
            try transaction.all("SELECT id FROM items WHERE deleted = 0 ORDER BY id") {
                $0[0] as String
            }
        }
    }

    private func warning(_ world: World) async throws -> String? {
        try await world.store.tables().first?.warning
    }

    @Test func `a first pull takes the whole table, and the next ones too`() async throws {
        let world = try World()
        world.transport.decide(Self.lists(Self.rows, sorts: false))
        for _ in 0..<2 {
            #expect(await world.engine.pull(world.todo).state == .complete)
            #expect(try await ids(world) == ["a", "b", "c"])
            #expect(try await warning(world)?.contains("does not sort") == true)
            world.clock.advance(by: .seconds(60))
        }
        #expect(try await world.store.tables().first?.paging == .full)
    }

    @Test func `a page that was out of order once leaves the table as it is`() async throws {
        let world = try World()
        let (unsorted, sorted) = (
            Self.lists(Self.rows, sorts: false), Self.lists(Self.rows, sorts: true)
        )
        let pages = Mutex(0)
        world.transport.decide { request, number in
            guard request.head.path?.contains("$orderby=updatedAt") == true else { return nil }
            let isFirst = pages.withLock { pages in
                pages += 1
                return pages == 1
            }
            return isFirst ? unsorted(request, number) : sorted(request, number)
        }
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await ids(world) == ["a", "b", "c"])
        #expect(try await warning(world) == nil)
        #expect(try await world.store.tables().first?.paging == .keyset)
        // The page in the wrong order, the same page again, and the empty one at the end.
        #expect(pages.withLock { $0 } == 3)
    }

    @Test func `an unsorted table stays unsorted whatever its warning says`() async throws {
        let world = try World()
        let todo = world.todo
        world.transport.decide(Self.lists(Self.rows + [("d", 4)], sorts: false))
        _ = await world.engine.pull(todo)
        try await world.store.write { transaction in
            var table = try transaction.tables.make(todo)
            #expect(table.isUnsorted)
            table.warning = "Another one."
            try transaction.tables.save(table)
        }
        world.clock.advance(by: .seconds(60))
        world.transport.decide(Self.lists(Self.rows, sorts: false))
        #expect(await world.engine.pull(todo).state == .complete)
        #expect(try await ids(world) == ["a", "b", "c", "d"])
        #expect(try await warning(world)?.contains("does not sort") == true)
    }

    @Test func `nothing is removed until a reconcile finds the rows in order`() async throws {
        let world = try World()
        world.transport.decide(Self.lists(Self.rows + [("d", 4)], sorts: true))
        _ = await world.engine.pull(world.todo)
        #expect(try await ids(world) == ["a", "b", "c", "d"])
        world.transport.decide(Self.lists(Self.rows, sorts: false))
        for reconcile in [true, false, true] {
            world.clock.advance(by: .seconds(60))
            let run = await world.engine.pull(world.todo, reconcile: reconcile)
            #expect(run.state == .complete && run.pull.first?.deleted == 0, "\(run)")
            #expect(try await ids(world) == ["a", "b", "c", "d"])
            #expect(try await warning(world)?.contains("does not sort") == true)
        }
        world.transport.decide(Self.lists(Self.rows, sorts: true))
        world.clock.advance(by: .seconds(60))
        _ = await world.engine.pull(world.todo, reconcile: true)
        #expect(try await ids(world) == ["a", "b", "c"])
        #expect(try await warning(world) == nil)
    }
}
