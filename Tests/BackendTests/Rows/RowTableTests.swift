import TablesProtocol
import TestSupport
import Testing

@testable import Backend

/// What every storage keeps of tables, effects and logins.
@Suite struct RowTableTests {
    @Test(arguments: StorageUnderTest.all)
    func `a table is found in any case, as it was first spelled`(kind: StorageUnderTest) throws {
        let options = TableOptions(
            softDelete: false, needsSignIn: true, columns: [.init("text", .string)])
        let table = try TableUnderTest(kind, "Things", options)
        let lower = try #require(TableName("things"))
        let found = try #require(try table.storage.table(lower))
        #expect(found.name.text == "Things" && found.options == options)
        #expect(found.seenColumns.isEmpty)
        try table.storage.declare(lower, TableOptions())
        #expect(try table.storage.table(lower)?.options == TableOptions())
        #expect(try table.storage.table(lower)?.name.text == "Things")
        #expect(try table.storage.table(try #require(TableName("other"))) == nil)
    }

    @Test(arguments: StorageUnderTest.all)
    func `a table comes into being with its first row, and not with one that is not kept`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let other = try #require(TableName("Other"))
        let insert = { (isKept: Bool) in
            try table.storage.insert(
                NewRow(id: "a", columns: Columns()), into: other,
                creating: TableOptions(softDelete: false), table.write(isKept: isKept))
        }
        guard case .inserted = try insert(false) else { throw Unexpected() }
        #expect(try table.storage.table(other) == nil)
        guard case .inserted = try insert(true) else { throw Unexpected() }
        #expect(try table.storage.table(other)?.options.softDelete == false)
        #expect(try table.ids() == [])
        #expect(try table.storage.effectCount(of: "a", in: other) == 1)
    }

    @Test(arguments: StorageUnderTest.all)
    func `new columns are learnt in order, and another type or spelling for one is refused`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let row = try table.insert(
            "a", "{}", table.write(adding: [.init("Text", .string), .init("n", .number)]))
        let columns = { try table.storage.table(table.name)?.seenColumns.map(\.name) }
        #expect(try columns() == ["Text", "n"])
        let changed = try #require(
            try table.update(
                row, "{}", table.write(adding: [.init("Text", .string), .init("b", .boolean)])))
        #expect(try columns() == ["Text", "n", "b"])
        let others: [TableOptions.Column] = [
            .init("N", .string), .init("n", .string), .init("N", .number), .init("text", .string),
        ]
        for other in others {
            let wrong = table.write(adding: [other])
            #expect(try table.update(changed, #"{"m":1}"#, wrong) == nil, "\(other)")
            let insertion = try table.storage.insert(
                NewRow(id: "c", columns: Columns()), into: table.name, creating: table.options,
                wrong)
            #expect(insertion == .overtaken, "\(other)")
        }
        #expect(try table.storage.rows(in: table.name) == [changed])
        #expect(try columns() == ["Text", "n", "b"])
    }

    @Test(arguments: StorageUnderTest.all)
    func `a table with integer ids numbers its rows and uses no number again`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind, "Numbers", TableOptions(idKind: .integer))
        let rows = try (0..<11).map { _ in try table.insert(nil) }
        #expect(rows.map(\.id) == (1...11).map(String.init))
        #expect(try table.storage.remove([rows[10]], from: table.name, table.write()))
        #expect(try table.insert(nil).id == "12")
        #expect(try table.ids("id gt 8") == ["9", "10", "12"])
        #expect(try table.ids("id eq 10") == ["10"])
    }

    @Test(arguments: StorageUnderTest.all)
    func `each row of a write is one effect, numbered in order`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let row = try table.insert("a", "{}", table.write(key: "k"))
        let changed = try #require(try table.update(row, "{}", table.write(at: 5)))
        #expect(try table.storage.remove([changed], from: table.name, table.write(at: 7)))
        let effects = try table.storage.effects(after: 0, limit: .max)
        #expect(
            effects.first
                == Effect(
                    number: 1, table: "Things", itemID: "a", kind: .insert, method: "POST",
                    idempotencyKey: "k", at: TableUnderTest.moment(0)))
        #expect(effects.map(\.kind) == [.insert, .update, .delete])
        #expect(effects.map(\.number) == [1, 2, 3])
        #expect(effects.map(\.at) == [0, 5, 7].map(TableUnderTest.moment))
        #expect(try table.storage.effects(after: 1, limit: 1) == [effects[1]])
        let lower = try #require(TableName("things"))
        #expect(try table.storage.effectCount(of: "a", in: lower) == 3)
        #expect(try table.storage.effectCount(of: "A", in: lower) == 0)
    }

    @Test(arguments: StorageUnderTest.all)
    func `a login is known until it is taken back`(kind: StorageUnderTest) throws {
        let storage = try kind.open()
        for number in 1...3 { try storage.keepLogin(token: "t\(number)", user: "u\(number)") }
        try storage.keepLogin(token: "t3", user: "another")
        #expect(try storage.user(ofToken: "t1") == "u1")
        #expect(try storage.user(ofToken: "T1") == nil)
        #expect(try storage.user(ofToken: "t3") == "another")
        try storage.endLogin(token: "t1")
        #expect(try storage.user(ofToken: "t1") == nil)
        #expect(try storage.user(ofToken: "t2") == "u2")
        #expect(try storage.user(ofToken: "t3") == "another")
    }

    @Test(arguments: StorageUnderTest.all)
    func `a token may be longer than an index takes`(kind: StorageUnderTest) throws {
        let storage = try kind.open()
        let random = SharedRandom(SeededRandom(1))
        // Bytes at random, which no database makes shorter.
        let token = Base64.encoded(random.bytes(20_000))
        try storage.keepLogin(token: token, user: "ana")
        #expect(try storage.user(ofToken: token) == "ana")
        #expect(try storage.user(ofToken: String(token.dropLast())) == nil)
        try storage.endLogin(token: token)
        #expect(try storage.user(ofToken: token) == nil)
    }
}
