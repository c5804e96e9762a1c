import HTTPMessage
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// Rows of another backend, on every storage.
@Suite struct MovingTests {
    private static func move(
        _ milliseconds: Int64 = 0, _ source: MoveSource = .export, isInUse: Bool = false
    ) -> Move {
        Move(at: TableUnderTest.moment(milliseconds), source: source, isInUse: isInUse)
    }

    private static func ticks(_ count: Int64) -> Instant {
        Instant(ticks: TableUnderTest.moment(-86_400_000).ticks + count)
    }

    @Test(arguments: StorageUnderTest.all)
    func `a row is here as it was there, to the last digit`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let json =
            #"{"z":1.10,"a":9007199254740993,"text":"Amélie \u0000 \ud83d\ude00","n":null}"#
        let there = MovedRow(
            id: "Ä b", columns: try Columns(parsing: json), createdAt: Self.ticks(1),
            updatedAt: Self.ticks(12_345_677), version: "AAAAAAAAB9E=", deleted: true)
        let move = {
            try table.storage.move([there], into: table.name, creating: table.options, $0)
        }
        #expect(try move(Self.move()) == [.added])
        let row = Row(
            id: "Ä b", columns: there.columns, createdAt: Self.ticks(1),
            updatedAt: Self.ticks(12_345_677), version: "AAAAAAAAB9E=", deleted: true)
        #expect(try table.storage.rows(in: table.name) == [row])
        #expect(try table.storage.effects(after: 0, limit: 9) == [])
        #expect(try move(Self.move(5)) == [.same])
        #expect(try table.storage.rows(in: table.name) == [row])
    }

    @Test(arguments: StorageUnderTest.all)
    func `clients go on where the rows came from`(kind: StorageUnderTest) throws {
        let storage = try kind.open()
        let client = try Client(on: storage, BackendOptions())
        let name = try #require(TableName("things"))
        let there = MovedRow(
            id: "a", columns: try Columns(parsing: #"{"n":1,"m":1}"#), createdAt: Self.ticks(0),
            updatedAt: Self.ticks(70_000), version: "Mw==")
        _ = try storage.move([there], into: name, creating: TableOptions(), Self.move())
        // An update that waited for the old backend names its version.
        let update = try client.send(
            "PATCH", "/tables/things/a", #"{"n":2}"#, ["If-Match": "\"Mw==\""])
        #expect(update.status == 200)
        #expect(update.json["m"]?.integer == 1)
        #expect(update.json["createdAt"]?.string == Self.ticks(0).text)
        let stamp = update.json["updatedAt"]?.string.flatMap { Instant(iso: $0) }
        #expect(try #require(stamp) > Self.ticks(70_000))
        let late = try client.send(
            "PATCH", "/tables/things/a", #"{"n":3}"#, ["If-Match": "\"Mw==\""])
        #expect(late.status == 412)
    }

    @Test(arguments: StorageUnderTest.all)
    func `no version that the old backend gave comes again`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let old = Set((1...40).map { Base64.encoded(String($0).utf8) })
        let there = MovedRow(
            id: "a", columns: Columns(), updatedAt: Self.ticks(0), version: "NQ==")
        _ = try table.storage.move(
            [there], into: table.name, creating: table.options, Self.move())
        var row = try #require(try table.storage.get("a", in: table.name))
        for n in 1...20 {
            row = try #require(try table.update(row, #"{"n":\#(n)}"#, table.write(at: Int64(n))))
            #expect(!old.contains(row.version))
        }
        #expect(try table.storage.remove([row], from: table.name, table.write()))
        let again = try table.insert("a", #"{"n":0}"#, table.write(at: 20))
        #expect(!old.contains(again.version) && again.version != row.version)
    }

    @Test(arguments: StorageUnderTest.all)
    func `rows stand in the order in which they came`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let ids = ["7", "3", "9", "1", "8", "2", "6", "0", "5", "4"]
        // The first one comes a second time, newer: it keeps its place.
        let rows = (ids + ["7"]).enumerated().map { number, id in
            MovedRow(id: id, columns: Columns(), updatedAt: Self.ticks(Int64(number)), version: "A")
        }
        _ = try table.storage.move(rows, into: table.name, creating: table.options, Self.move())
        var query = try table.query()
        query.lastOrder = .insertion
        #expect(try table.storage.list(query).rows.map(\.id) == ids)
    }

    @Test(arguments: StorageUnderTest.all)
    func `numbers go on above the highest that came`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind, "numbers", TableOptions(idKind: .integer))
        let rows = [7, 30, 12].map {
            MovedRow(id: String($0), columns: Columns(), updatedAt: nil, version: nil)
        }
        _ = try table.storage.move(rows, into: table.name, creating: table.options, Self.move())
        #expect(try table.insert(nil).id == "31")
    }

    @Test(arguments: StorageUnderTest.all)
    func `a table that clients have written to gives rows new stamps`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let own = try table.insert("own", #"{"n":1}"#, table.write(at: 100))
        let there = MovedRow(
            id: "a", columns: Columns(), createdAt: Self.ticks(0), updatedAt: Self.ticks(9),
            version: "AAAB")
        _ = try table.storage.move([there], into: table.name, creating: table.options, Self.move())
        let row = try #require(try table.storage.get("a", in: table.name))
        #expect(row.updatedAt > own.updatedAt && row.version == "AAAB")
        // The stamp that it had there is the one that counts.
        var newer = there
        (newer.updatedAt, newer.version) = (Self.ticks(10), "AAAC")
        let outcomes = try table.storage.move(
            [there, newer, there], into: table.name, creating: table.options, Self.move(1))
        #expect(outcomes == [.same, .replaced, .older])
    }

    @Test(arguments: StorageUnderTest.all)
    func `what clients did here is kept`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let there = ["changed", "deleted", "untouched"].map {
            MovedRow(id: $0, columns: Columns(), updatedAt: Self.ticks(1), version: "1")
        }
        let move = { (rows: [MovedRow]) in
            try table.storage.move(rows, into: table.name, creating: table.options, Self.move())
        }
        #expect(try move(there) == [.added, .added, .added])
        let changed = try #require(try table.storage.get("changed", in: table.name))
        let kept = try #require(try table.update(changed, #"{"n":5}"#))
        let deleted = try #require(try table.storage.get("deleted", in: table.name))
        #expect(try table.storage.remove([deleted], from: table.name, table.write()))
        let newer = there.map { row in
            var row = row
            row.columns = Columns([.init("n", .integer(8))])
            (row.updatedAt, row.version) = (.latest, "2")
            return row
        }
        #expect(try move(newer) == [.changedHere, .deletedHere, .replaced])
        #expect(try table.storage.get("changed", in: table.name) == kept)
        #expect(try table.storage.get("deleted", in: table.name) == nil)
    }

    @Test(arguments: StorageUnderTest.all)
    func `a row that never came, and that a client has deleted for good, stays away`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let own = try table.insert("own")
        #expect(try table.storage.remove([own], from: table.name, table.write()))
        let there = ["own", "new"].map {
            MovedRow(id: $0, columns: Columns(), updatedAt: .latest, version: "1")
        }
        let knownRows = try table.storage.knownRows(of: there.map(\.itemID), in: table.name)
        let areDeleted = there.map { knownRows[$0.itemID]?.isDeletedForGood ?? false }
        #expect(areDeleted == [true, false])
        let outcomes = try table.storage.move(
            there, into: table.name, creating: table.options, Self.move())
        #expect(outcomes == [.deletedHere, .added])
        #expect(try table.storage.rows(in: table.name).map(\.id) == ["new"])
    }

    @Test(arguments: StorageUnderTest.all)
    func `filters and lists find what came, by any spelling of a column`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let there = try [("a", 1), ("b", 2)].map { id, n in
            MovedRow(
                id: id,
                columns: try Columns(parsing: #"{"Count":\#(n),"at":"2026-01-01T00:00:00Z"}"#),
                updatedAt: Self.ticks(1), version: "1")
        }
        _ = try table.storage.move(there, into: table.name, creating: table.options, Self.move())
        #expect(try table.ids("count gt 1") == ["b"])
        #expect(try table.ids("year(at) eq 2026") == ["a", "b"])
    }

    /// Exports of several stores, each with some version of some rows, in batches that begin anew now and then.
    @Test(arguments: StorageUnderTest.all, 0..<4)
    func `of each row the newest version is here, whatever the order of the files`(
        kind: StorageUnderTest, round: Int
    ) async throws {
        let seed = UInt64.random(in: 0...(.max))
        print("seed \(seed) of round \(round)")
        var random = SeededRandom(seed)
        let storage = try kind.open()
        let backend = try TablesBackend(
            on: storage, options: BackendOptions(), clock: { TableUnderTest.moment(0) })
        let names = try ["one", "two"].map { try #require(TableName($0)) }
        var newest: [String: [String: MovedRow]] = [:]
        var batches: [(TableName, [MovedRow])] = []
        for _ in 0..<6 {
            for name in names {
                let rows = try (0..<12).filter { _ in Bool.random(using: &random) }.map { number in
                    let step = Int64.random(in: 0..<5, using: &random)
                    // The same version everywhere has the same content.
                    let row = MovedRow(
                        id: "r\(number)",
                        columns: try Columns(
                            parsing: #"{"n":\#(number).\#(step)0,"name":"é\#(step)"}"#),
                        createdAt: Self.ticks(Int64(number)), updatedAt: Self.ticks(100 + step),
                        version: "v\(step)", deleted: step == 4)
                    if let known = newest[name.key]?[row.id]?.updatedAt,
                        known >= Self.ticks(100 + step)
                    {
                        return row
                    }
                    newest[name.key, default: [:]][row.id] = row
                    return row
                }
                batches.append((name, rows))
            }
        }
        // An import that was killed runs again.
        for (name, rows) in batches.prefix(Int.random(in: 0...12, using: &random)) + batches {
            _ = try await backend.move(
                rows, into: name, idKind: .string, from: .export, isInUse: false)
        }
        for name in names {
            let wanted = (newest[name.key] ?? [:]).values.sorted { $0.id < $1.id }
            #expect(
                try await backend.storedRows(in: name, after: "", limit: 99)
                    == wanted.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) },
                "seed \(seed)")
            let again = try await backend.move(
                wanted, into: name, idKind: .string, from: .export, isInUse: false)
            #expect(again.allSatisfy { $0 == .same }, "seed \(seed)")
        }
    }

    @Test func `a rehearsal says what a move would do, and writes nothing`() async throws {
        let storage = try SQLiteRowStorage()
        let backend = try TablesBackend(
            on: storage, options: BackendOptions(), clock: { TableUnderTest.moment(0) })
        let name = try #require(TableName("t"))
        let old = MovedRow(id: "1", columns: Columns(), updatedAt: Self.ticks(1), version: "1")
        let new = MovedRow(id: "1", columns: Columns(), updatedAt: Self.ticks(2), version: "2")
        var rehearsal = MoveRehearsal()
        let outcomes = try await backend.rehearse(
            [old, new, old, new], into: name, idKind: .string, from: .export, &rehearsal)
        #expect(outcomes == [.added, .replaced, .older, .same])
        #expect(try storage.rows(in: name) == [])
        // The kind of ids is that of the first rows, as in a move.
        let before = rehearsal
        await #expect(throws: MoveProblem.self) {
            var next = before
            _ = try await backend.rehearse(
                [old], into: name, idKind: .integer, from: .export, &next)
        }
        #expect(
            try await backend.move(
                [old, new, old, new], into: name, idKind: .string, from: .export, isInUse: false)
                == outcomes)
        await #expect(throws: MoveProblem.self) {
            _ = try await backend.move(
                [old], into: name, idKind: .integer, from: .export, isInUse: false)
        }
    }

    @Test func `a comparison names each row that differs, and how`() {
        let row = { (id: String, version: String) in
            MovedRow(id: id, columns: Columns(), updatedAt: Self.ticks(1), version: version)
        }
        var comparison = RowComparison()
        comparison.addThere([row("a", "1"), row("c", "1")], isLast: false)
        comparison.addHere([row("a", "1"), row("b", "1"), row("c", "2")], isLast: false)
        comparison.advance()
        #expect(comparison.needsThere && comparison.needsHere)
        comparison.addThere([row("e", "1"), row("é", "1")], isLast: true)
        comparison.addHere([row("d", "1"), row("e", "1")], isLast: true)
        comparison.advance()
        #expect(!comparison.needsThere && !comparison.needsHere)
        #expect(comparison.there == 4 && comparison.here == 5)
        #expect(
            comparison.differences == [
                RowDifference(id: "b", kinds: [.onlyHere]),
                RowDifference(id: "c", kinds: [.version]),
                RowDifference(id: "d", kinds: [.onlyHere]),
                RowDifference(id: "é", kinds: [.missing]),
            ])
    }
}
