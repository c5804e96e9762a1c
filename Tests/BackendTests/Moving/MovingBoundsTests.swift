import TablesProtocol
import Testing

@testable import Backend
@testable import Site

/// Rows of another backend that are large, odd, or go into a table that deletes for good.
@Suite struct MovingBoundsTests {
    private static func ticks(_ count: Int64) -> Instant {
        Instant(ticks: TableUnderTest.moment(-86_400_000).ticks + count)
    }

    private static func move(
        _ rows: [MovedRow], into table: TableUnderTest, at milliseconds: Int64 = 0
    ) throws -> [MoveOutcome] {
        try table.storage.move(
            rows, into: table.name, creating: table.options,
            Move(at: TableUnderTest.moment(milliseconds), source: .export, isInUse: false))
    }

    /// What a table's ids are; nil where there is no table.
    private static func idKind(of name: TableName, on storage: any RowStorage) throws -> IDKind? {
        try storage.table(name)?.options.idKind
    }

    /// Deletes a row for good, as a client does.
    private static func delete(_ id: String, from table: TableUnderTest) throws -> Bool {
        let row = try #require(try table.storage.get(id, in: table.name))
        return try table.storage.remove([row], from: table.name, table.write())
    }

    private static func backend(on storage: any RowStorage) throws -> TablesBackend {
        try TablesBackend(
            on: storage, options: BackendOptions(), clock: { TableUnderTest.moment(0) })
    }

    @Test func `a batch ends with its rows or its bytes, and takes one row of any size`() {
        let row = MovedRow(id: "a", columns: Columns())
        var counted = MoveBatch(rows: 3, bytes: 100)
        var weighed = MoveBatch(rows: 99, bytes: 100)
        var large = MoveBatch(rows: 99, bytes: 100)
        for _ in 0..<2 {
            counted.add(row, bytes: 1)
            weighed.add(row, bytes: 49)
        }
        #expect(!counted.isFull && !weighed.isFull && !large.isFull)
        counted.add(row, bytes: 1)
        weighed.add(row, bytes: 2)
        large.add(row, bytes: 1_000_000)
        #expect(counted.isFull && weighed.isFull && large.isFull)
        #expect(large.rows == [row])
    }

    @Test(arguments: StorageUnderTest.all)
    func `a row of megabytes moves in as it is`(kind: StorageUnderTest) async throws {
        let storage = try kind.open()
        let backend = try Self.backend(on: storage)
        let name = try #require(TableName("photos"))
        let text = String(repeating: "0123456789abcde\u{e9}", count: 100_000)
        let rows = (1...2).map {
            MovedRow(
                id: "r\($0)", columns: Columns([.init("data", .string(text))]),
                createdAt: Self.ticks(1), updatedAt: Self.ticks(2), version: "AAAB")
        }
        for row in rows {
            let outcomes = try await backend.move(
                [row], into: name, idKind: .string, from: .export, isInUse: false)
            #expect(outcomes == [.added])
        }
        let stored = try await backend.storedRows(in: name, after: "", limit: 9)
        #expect(stored == rows)
    }

    @Test(arguments: StorageUnderTest.all)
    func `a table without a further integer id refuses inserts`(kind: StorageUnderTest) throws {
        for last in [Int64(1) << 53, .max] {
            let table = try TableUnderTest(kind, "numbers", TableOptions(idKind: .integer))
            let row = MovedRow(id: String(last), columns: Columns())
            #expect(try Self.move([row], into: table) == [.added])
            for _ in 0..<2 {
                let refusal = #expect(throws: Refusal.self) { try table.insert(nil) }
                #expect(refusal?.status == 400)
            }
            #expect(try table.storage.rows(in: table.name).map(\.id) == [String(last)])
        }
    }

    @Test func `a client is told that there is no further integer id`() throws {
        let storage = try SQLiteRowStorage()
        let name = try #require(TableName("numbers"))
        try storage.declare(name, TableOptions(idKind: .integer))
        _ = try storage.move(
            [MovedRow(id: String(Int64.max), columns: Columns())], into: name,
            creating: TableOptions(idKind: .integer),
            Move(at: TableUnderTest.moment(0), source: .export, isInUse: false))
        let answer = try Client(on: storage).send("POST", "/tables/numbers", #"{"n":1}"#)
        #expect(answer.status == 400)
        #expect(answer.text.contains("the greatest integer id"))
    }

    @Test(arguments: StorageUnderTest.all)
    func `rows that no storage can take are named, and none of them moves`(
        kind: StorageUnderTest
    ) async throws {
        let storage = try kind.open()
        let backend = try Self.backend(on: storage)
        let name = try #require(TableName("t"))
        let good = MovedRow(id: "9007199254740992", columns: Columns())
        for (bad, words) in [
            (MovedRow(id: "9007199254740993", columns: Columns()), "has the id 9007199254740993"),
            (MovedRow(id: "7", columns: Columns(), version: "a\u{0}"), "a version with U+0000"),
        ] {
            let problem = await #expect(throws: MoveProblem.self) {
                _ = try await backend.move(
                    [good, bad], into: name, idKind: .integer, from: .backend, isInUse: false)
            }
            #expect(problem?.description.contains(words) == true)
            await #expect(throws: MoveProblem.self) {
                var rehearsal = MoveRehearsal()
                _ = try await backend.rehearse(
                    [good, bad], into: name, idKind: .integer, from: .export, &rehearsal)
            }
        }
        #expect(try Self.idKind(of: name, on: storage) == nil)
    }

    @Test(arguments: StorageUnderTest.all)
    func `no rows make no table, and are of no kind`(kind: StorageUnderTest) async throws {
        let numbers = try TableUnderTest(kind, "numbers", TableOptions(idKind: .integer))
        let backend = try Self.backend(on: numbers.storage)
        let absent = try #require(TableName("absent"))
        for name in [numbers.name, absent] {
            let outcomes = try await backend.move(
                [], into: name, idKind: .string, from: .backend, isInUse: false)
            #expect(outcomes == [])
        }
        #expect(try Self.idKind(of: absent, on: numbers.storage) == nil)
    }

    @Test(arguments: StorageUnderTest.all)
    func `a deletion leaves nothing in a table that deletes for good`(
        kind: StorageUnderTest
    ) async throws {
        let row = { (id: String, tick: Int64, deleted: Bool) in
            MovedRow(
                id: id, columns: Columns([.init("n", .integer(tick))]), createdAt: Self.ticks(0),
                updatedAt: Self.ticks(tick), version: "v\(tick)", deleted: deleted)
        }
        let files = [
            [row("gone", 1, false), row("again", 1, false), row("here", 3, false)],
            [row("gone", 2, true), row("again", 2, true), row("here", 2, true)],
            [row("again", 3, false), row("never", 2, true)],
        ]
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let table = try TableUnderTest(kind, "t", TableOptions(softDelete: false))
            let backend = try Self.backend(on: table.storage)
            var rehearsal = MoveRehearsal()
            for file in order.map({ files[$0] }) {
                let planned = try await backend.rehearse(
                    file, into: table.name, idKind: .string, from: .export, &rehearsal)
                let outcomes = try Self.move(file, into: table)
                #expect(outcomes == planned, "\(order)")
            }
            #expect(
                try await backend.storedRows(in: table.name, after: "", limit: 9)
                    == [row("again", 3, false), row("here", 3, false)], "\(order)")
            let repeated = try files.map { try Self.move($0, into: table) }
            #expect(
                repeated == [[.older, .older, .same], [.same, .older, .older], [.same, .same]],
                "\(order)")
            // The id is free.
            try table.insert("gone")
            #expect(try Self.move([row("gone", 9, true)], into: table) == [.changedHere])
            #expect(try Self.delete("gone", from: table))
            #expect(try Self.move([row("gone", 9, false)], into: table) == [.deletedHere])
        }
    }

    @Test(arguments: StorageUnderTest.all)
    func `a deletion and a later row are one batch, in either order`(
        kind: StorageUnderTest
    ) throws {
        let later = MovedRow(
            id: "a", columns: Columns(), createdAt: Self.ticks(0), updatedAt: Self.ticks(3),
            version: "3")
        var earlier = later
        (earlier.updatedAt, earlier.version, earlier.deleted) = (Self.ticks(2), "2", true)
        for (rows, wanted) in [
            ([earlier, later], [.added, .added]), ([later, earlier], [.added, .older]),
        ] as [([MovedRow], [MoveOutcome])] {
            let table = try TableUnderTest(kind, "t", TableOptions(softDelete: false))
            #expect(try Self.move(rows, into: table) == wanted)
            #expect(
                try table.storage.rows(in: table.name) == [
                    Row(
                        id: "a", columns: Columns(), createdAt: Self.ticks(0),
                        updatedAt: Self.ticks(3), version: "3", deleted: false)
                ])
        }
    }

    @Test(arguments: StorageUnderTest.all)
    func `a row of an older copy of the database that was deleted since leaves, and may come again`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind, "t", TableOptions(softDelete: false))
        let own = try table.insert("a", #"{"n":1}"#)
        var there = MovedRow(
            id: "a", columns: own.columns, updatedAt: Instant(ticks: own.updatedAt.ticks + 1),
            version: "2", deleted: true)
        #expect(try Self.move([there], into: table) == [.replaced])
        #expect(try table.storage.rows(in: table.name) == [])
        (there.updatedAt, there.deleted) = (Instant(ticks: own.updatedAt.ticks + 2), false)
        #expect(try Self.move([there], into: table) == [.added])
        #expect(try table.storage.rows(in: table.name).map(\.id) == ["a"])
    }

    @Test(arguments: StorageUnderTest.all)
    func `a stamp far ahead of the clock is not taken over, and still decides`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let day = TableUnderTest.moment(86_400_000)
        let row = { (id: String, stamp: Instant, version: String) in
            MovedRow(
                id: id, columns: Columns(), createdAt: Self.ticks(0), updatedAt: stamp,
                version: version)
        }
        let beyond = Instant(ticks: day.ticks + 1)
        #expect(
            try Self.move([row("day", day, "1"), row("far", beyond, "1")], into: table)
                == [.added, .added])
        #expect(try table.storage.get("day", in: table.name)?.updatedAt == day)
        let far = try #require(try table.storage.get("far", in: table.name))
        #expect(far.updatedAt == Instant(milliseconds: day.milliseconds + 1))
        // The stamps of writes go on increasing.
        let last = try #require(TableName("last"))
        _ = try table.storage.move(
            [row("a", .latest, "1")], into: last, creating: TableOptions(),
            Move(at: TableUnderTest.moment(0), source: .export, isInUse: false))
        var stamps = [try #require(try table.storage.get("a", in: last)).updatedAt]
        for id in ["b", "c"] {
            guard
                case .inserted(let made) = try table.storage.insert(
                    NewRow(id: id, columns: Columns()), into: last, creating: TableOptions(),
                    table.write())
            else { throw Unexpected() }
            stamps.append(made.updatedAt)
        }
        #expect(stamps == (0...2).map { TableUnderTest.moment($0) })
        #expect(
            try Self.move(
                [row("far", day, "0"), row("far", beyond, "1"), row("far", .latest, "2")],
                into: table) == [.older, .same, .replaced])
    }

    @Test(arguments: StorageUnderTest.all)
    func `an id that comes twice has the first times where the second has none`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let first = MovedRow(id: "a", columns: Columns([.init("n", .integer(1))]), version: "1")
        let second = MovedRow(
            id: "a", columns: Columns([.init("n", .integer(1))]), updatedAt: Self.ticks(5),
            version: "2")
        #expect(try Self.move([first, second], into: table, at: 7) == [.added, .replaced])
        #expect(
            try table.storage.rows(in: table.name) == [
                Row(
                    id: "a", columns: second.columns, createdAt: TableUnderTest.moment(7),
                    updatedAt: Self.ticks(5), version: "2", deleted: false)
            ])
    }

    @Test(arguments: StorageUnderTest.all)
    func `a row is stored in the table's spellings, and is the same as it was there`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let there = try [("a", #"{"Count":1,"x":0}"#), ("b", #"{"count":2,"X":0}"#)].map {
            id, json in
            MovedRow(
                id: id, columns: try Columns(parsing: json), createdAt: Self.ticks(0),
                updatedAt: Self.ticks(1), version: "1")
        }
        #expect(try Self.move(there, into: table) == [.added, .added])
        let rows = try table.storage.rows(in: table.name)
        #expect(rows.map(\.columns.text) == [#"{"Count":1,"x":0}"#, #"{"Count":2,"x":0}"#])
        #expect(try table.ids("count ge 1") == ["a", "b"])
        #expect(try Self.move(there, into: table) == [.same, .same])
        var comparison = RowComparison()
        comparison.addThere(there, isLast: true)
        let here = rows.map {
            MovedRow(
                id: $0.id, columns: $0.columns, createdAt: $0.createdAt, updatedAt: $0.updatedAt,
                version: $0.version)
        }
        comparison.addHere(here, isLast: true)
        comparison.advance()
        #expect(comparison.differences == [])
        // A row that has both spellings is another one.
        var both = there[1]
        both.columns = try Columns(parsing: #"{"Count":2,"count":2,"x":0}"#)
        #expect(try Self.move([both], into: table) == [.undecided])
    }

    @Test func `a deleted row counts as none where the table here deletes for good`() {
        let row = { (id: String, deleted: Bool) in
            MovedRow(id: id, columns: Columns(), deleted: deleted)
        }
        var comparison = RowComparison(deletesForGood: true)
        comparison.addThere([row("a", true), row("b", false), row("c", true)], isLast: true)
        comparison.addHere([row("b", false), row("c", false)], isLast: true)
        comparison.advance()
        #expect(comparison.there == 1 && comparison.here == 2)
        #expect(comparison.differences == [RowDifference(id: "c", kinds: [.onlyHere])])
    }
}
