import TablesProtocol
import Testing

@testable import SyncCore

/// Which index is made or dropped next.
@Suite struct IndexAdviceTests {
    static let now = Instant(milliseconds: 1_700_000_000_000)
    static let day: Int64 = 86_400_000

    private func wanted(_ id: Int64, table: Int64 = 1, steps: Int = 1_000_000) -> IndexAdvice.Shape
    {
        IndexAdvice.Shape(id: id, table: table, queries: 3, steps: steps, seenAt: Self.now)
    }

    private func built(_ id: Int64, daysUnused: Int64 = 0) -> IndexAdvice.Shape {
        IndexAdvice.Shape(
            id: id, table: 1,
            seenAt: Instant(milliseconds: Self.now.milliseconds - daysUnused * Self.day - 1),
            isBuilt: true)
    }

    private func next(
        _ shapes: [IndexAdvice.Shape], rows: Int = 1_000, commits: Int = 0,
        room: IndexAdvice.Room = .enough, quiet: Int64? = 10_000
    ) -> IndexAdvice {
        IndexAdvice.next(
            shapes, tables: [1: IndexAdvice.Table(rows: rows, commits: commits)], room: room,
            quiet: quiet, now: Self.now)
    }

    @Test func `what three costly lists asked for is made, the costliest first`() {
        #expect(next([wanted(1), wanted(2, steps: 2_000_000)]) == .make(2))
        var rare = wanted(1)
        rare.queries = 2
        #expect(next([rare]) == .nothing)
    }

    @Test func `nothing is made within ten seconds of a change`() {
        #expect(next([wanted(1)], quiet: 9_999) == .nothing)
        #expect(next([wanted(1)], quiet: nil) == .make(1))
    }

    @Test func `large tables are left to a person`() {
        #expect(next([wanted(1)], rows: 200_000) == .make(1))
        #expect(next([wanted(1)], rows: 200_001) == .nothing)
    }

    @Test func `a table that is written much and hardly read gets none`() {
        #expect(next([wanted(1)], commits: 199) == .make(1))
        #expect(next([wanted(1)], commits: 200) == .nothing)
    }

    @Test func `a table has four, and one that is not used makes room`() {
        let four = (1...4).map { built(Int64($0)) }
        #expect(next(four + [wanted(9)]) == .nothing)
        #expect(next(Array(four.dropLast()) + [wanted(9)]) == .make(9))
        #expect(next([built(7, daysUnused: 1)] + four.dropLast() + [wanted(9)]) == .drop(7))
        // Nobody makes room without need, and another table's do not count.
        #expect(next([built(7, daysUnused: 1)] + four.dropLast()) == .nothing)
        var other = wanted(9)
        other = IndexAdvice.Shape(
            id: 9, table: 2, queries: other.queries, steps: other.steps, seenAt: Self.now)
        #expect(next(four + [other]) == .make(9))
    }

    @Test func `an index that nobody used for fourteen days is dropped`() {
        #expect(next([built(1, daysUnused: 13)]) == .nothing)
        #expect(next([built(1, daysUnused: 14)], quiet: 0) == .drop(1))
    }

    @Test func `a store with little room gets none, and one with hardly any gives them up`() {
        let shapes = [built(1, daysUnused: 1), built(2, daysUnused: 2), wanted(3)]
        #expect(next(shapes, room: .noneForIndexes) == .nothing)
        #expect(next(shapes, room: .hardlyAny) == .drop(2))
    }

    @Test func `a list is costly when it does much more than give its rows`() {
        #expect(!IndexAdvice.isCostly(steps: 5_000, rows: 0))
        #expect(IndexAdvice.isCostly(steps: 5_001, rows: 50))
        #expect(!IndexAdvice.isCostly(steps: 90_000, rows: 1_000))
    }
}
