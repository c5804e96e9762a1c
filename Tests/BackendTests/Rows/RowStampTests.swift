import Dispatch
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Backend

/// Stamps and writers side by side, on every storage.
@Suite struct RowStampTests {
    @Test(arguments: StorageUnderTest.all)
    func `stamps of a table never run backward, whatever the clock does`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let moments: [Int64] = [0, 0, 10, 3, -5000, 10, 30]
        let stamps = try moments.indices.map { place in
            try table.insert("\(place)", "{}", table.write(at: moments[place])).updatedAt
        }
        #expect(stamps == [0, 1, 10, 11, 12, 13, 30].map(TableUnderTest.moment))
        let other = try #require(TableName("Other"))
        let insertion = try table.storage.insert(
            NewRow(id: "a", columns: Columns()), into: other, creating: TableOptions(),
            table.write(at: 2))
        guard case .inserted(let row) = insertion else { throw Unexpected() }
        #expect(row.updatedAt == TableUnderTest.moment(2))
    }

    @Test(arguments: StorageUnderTest.all)
    func `stamps may tie, or differ within a millisecond`(kind: StorageUnderTest) throws {
        let ties = try TableUnderTest(kind)
        let tied = try ([11, 19, 21] as [Int64]).map { at in
            let write = ties.write(at: at, .ties(everyMilliseconds: 10))
            return try ties.insert("\(at)", "{}", write).updatedAt
        }
        #expect(tied == [10, 10, 20].map(TableUnderTest.moment))
        let fine = try TableUnderTest(kind)
        let ticks = try (0..<3).map {
            try fine.insert("\($0)", "{}", fine.write(.subMillisecond)).updatedAt.ticks
        }
        let first = TableUnderTest.moment(0).ticks
        #expect(ticks == [first, first + 1, first + 2])
    }

    @Test(.ends, arguments: StorageUnderTest.all)
    func `writers side by side lose no change`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        try table.insert("a", #"{"n":0}"#)
        let failures = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<25 where !increments(table) { failures.withLock { $0 += 1 } }
        }
        #expect(failures.withLock { $0 } == 0)
        let row = try #require(try table.storage.get("a", in: table.name))
        #expect(row.columns["n"]?.text == "100")
        #expect(try table.storage.effectCount(of: "a", in: table.name) == 101)
    }

    /// Adds one to the number, as often as other writers are faster.
    private func increments(_ table: TableUnderTest) -> Bool {
        for _ in 0..<Limits.attemptsOfWrite {
            guard let row = try? table.storage.get("a", in: table.name),
                let number = row.columns["n"].flatMap({ Int($0.text) })
            else { return false }
            if (try? table.update(row, "{\"n\":\(number + 1)}")) != nil { return true }
        }
        return false
    }

    @Test(.ends, arguments: StorageUnderTest.all)
    func `of inserts of one id one succeeds, and numbers are given once`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let numbers = try #require(TableName("Numbers"))
        let inserted = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { writer in
            for number in 0..<25 {
                let rows: [(NewRow, TableName, TableOptions)] = [
                    (NewRow(id: "i\(number)", columns: Columns()), table.name, table.options),
                    (NewRow(columns: Columns()), numbers, TableOptions(idKind: .integer)),
                ]
                for (row, name, options) in rows {
                    let insertion = try? table.storage.insert(
                        row, into: name, creating: options, table.write())
                    if case .inserted(let row) = insertion {
                        inserted.withLock { $0.append(row.id) }
                    }
                }
            }
        }
        let ids = inserted.withLock { $0 }
        #expect(ids.count == 125 && Set(ids).count == 125)
        #expect(ids.compactMap { Int($0) }.sorted() == Array(1...100))
    }

    @Test(.ends, arguments: StorageUnderTest.all)
    func `a reader that goes on from the last stamp misses no row of writers side by side`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let writers = 3
        let done = Atomic(0)
        let seen = Mutex<Set<String>>([])
        DispatchQueue.concurrentPerform(iterations: writers + 1) { place in
            guard place < writers else { return read(table, until: writers, done, into: seen) }
            for number in 0..<40 { _ = try? table.insert("\(place)-\(number)") }
            done.add(1, ordering: .sequentiallyConsistent)
        }
        #expect(seen.withLock { $0.count } == 120)
        let stamps = try table.storage.rows(in: table.name).map(\.updatedAt)
        #expect(Set(stamps).count == 120)
    }

    /// Reads what is newer than the last row until the writers are done, and once more.
    private func read(
        _ table: TableUnderTest, until writers: Int, _ done: borrowing Atomic<Int>,
        into seen: borrowing Mutex<Set<String>>
    ) {
        var last = Instant(milliseconds: 0)
        var isOver = false
        while !isOver {
            isOver = done.load(ordering: .sequentiallyConsistent) == writers
            let newer = try? table.query(
                "updatedAt gt datetimeoffset'\(last.text)'", by: "updatedAt")
            guard let newer, let rows = try? table.storage.list(newer).rows else { return }
            seen.withLock { $0.formUnion(rows.map(\.id)) }
            last = rows.last?.updatedAt ?? last
        }
    }
}
