import Dispatch
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// A client that goes on from the last stamp it saw, while transactions commit late.
@Suite struct LateCommitTests {
    /// Writers whose transactions are held open, each until its turn comes.
    private final class Gates: Sendable {
        private let waiting = Mutex<[DispatchSemaphore]>([])
        private let isOpen = Atomic(false)

        /// Called where nothing is left but to commit.
        func hold() {
            if isOpen.load(ordering: .sequentiallyConsistent) { return }
            let gate = DispatchSemaphore(value: 0)
            waiting.withLock { $0.append(gate) }
            gate.wait()
        }

        /// Lets one of those who wait commit. False when there is none.
        func release(_ random: inout SeededRandom) -> Bool {
            let gate = waiting.withLock { waiting -> DispatchSemaphore? in
                guard !waiting.isEmpty else { return nil }
                return waiting.remove(at: Int.random(in: 0..<waiting.count, using: &random))
            }
            gate?.signal()
            return gate != nil
        }

        /// How many wait.
        var count: Int { waiting.withLock { $0.count } }

        /// From now on no one is held.
        func open() {
            isOpen.store(true, ordering: .sequentiallyConsistent)
            for gate in waiting.withLock({ $0 }) { gate.signal() }
        }
    }

    /// Lets writers insert while a reader polls and commits happen in an order that the seed gives.
    /// - Returns: how many rows the reader missed.
    private func missed(seed: UInt64, ordered: Bool, _ url: String, _ schema: String) throws -> Int
    {
        var random = SeededRandom(seed)
        let gates = Gates()
        let storage = try PostgreSQLRowStorage(
            at: url, schema: schema, .init(ordersWriters: ordered, beforeCommit: gates.hold))
        let reader = try PostgreSQLRowStorage(at: url, schema: schema)
        let name = try #require(TableName("t\(ordered ? "o" : "u")\(seed)"))
        try reader.declare(name, TableOptions())
        let writers = Int.random(in: 2...4, using: &random)
        let rowsOfEach = 2
        let done = Atomic(0)
        let group = DispatchGroup()
        let clock = Atomic(0)
        for writer in 0..<writers {
            // A queue of its own has a thread of its own; those of the global queue are as many as cores.
            DispatchQueue(label: "writer \(writer)").async(group: group) {
                for row in 0..<rowsOfEach {
                    let at = clock.add(1, ordering: .sequentiallyConsistent).newValue
                    let write = Write(
                        at: TableUnderTest.moment(Int64(at)), stamps: .increasing, method: "POST")
                    _ = try? storage.insert(
                        NewRow(id: "\(writer)-\(row)", columns: Columns()), into: name,
                        creating: TableOptions(), write)
                }
                done.add(1, ordering: .sequentiallyConsistent)
            }
        }
        var seen: Set<String> = []
        var last = Instant(milliseconds: 0)
        func poll() throws {
            var query = RowQuery(table: name)
            query.filter = RowFilter(
                condition: try Expression(
                    parsing: "updatedAt gt datetimeoffset'\(last.text)'", generation: .mobileApps))
            query.orderBy = try Ordering.parse("updatedAt", generation: .mobileApps)
            let rows = try reader.list(query).rows
            seen.formUnion(rows.map(\.id))
            last = rows.last?.updatedAt ?? last
        }
        defer { gates.open() }
        while done.load(ordering: .sequentiallyConsistent) < writers {
            if Bool.random(using: &random) { try poll() }
            // Without order all writers may be held at once, with it one alone.
            if gates.count >= (ordered ? 1 : Int.random(in: 1...writers, using: &random)) {
                _ = gates.release(&random)
            }
        }
        group.wait()
        try poll()
        #expect(try reader.rows(in: name).count == writers * rowsOfEach)
        return writers * rowsOfEach - seen.count
    }

    @Test(.ends) func `a reader misses no row, in whatever order transactions commit`() throws {
        let url = try PostgreSQLServer.url()
        let schema = PostgreSQLServer.newSchema()
        for seed in UInt64(1)...200 {
            let count = try missed(seed: seed, ordered: true, url, schema)
            #expect(count == 0, "seed \(seed)")
        }
    }

    @Test(.ends) func `without the lock of the table a reader misses rows`() throws {
        let url = try PostgreSQLServer.url()
        let schema = PostgreSQLServer.newSchema()
        var count = 0
        for seed in UInt64(1)...20 {
            count += try missed(seed: seed, ordered: false, url, schema)
        }
        #expect(count > 0)
    }
}
