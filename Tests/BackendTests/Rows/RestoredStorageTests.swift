import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// A storage that outlives its process.
struct KeptStorage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The name of a place where none is yet.
    let newPlace: @Sendable () -> String
    /// Opens the storage at a place, as a program that starts at a moment does.
    let open: @Sendable (_ place: String, _ start: Instant) throws -> any RowStorage

    static let all = [
        KeptStorage(testDescription: "SQLite", newPlace: { StorageUnderTest.newFile() }) {
            try SQLiteRowStorage(at: $0, startedAt: $1)
        },
        KeptStorage(testDescription: "PostgreSQL", newPlace: { PostgreSQLServer.newSchema() }) {
            try PostgreSQLRowStorage(at: PostgreSQLServer.url(), schema: $0, startedAt: $1)
        },
    ]
}

/// Versions after a restore (docs/decisions/site.md), and tables whose ids are said to be of another kind.
@Suite struct RestoredStorageTests {
    /// The versions that writes get after a backup: of a changed row, of a row that was removed and comes
    /// again, and of a new one. What was before the backup is always the same.
    /// - Parameter restart: when the program starts again from the backup, in milliseconds after its first
    ///   start; nil where it just goes on.
    private func versions(_ kind: KeptStorage, restart: Int64?) throws -> [String] {
        let place = kind.newPlace()
        let opened = { (milliseconds: Int64) in
            try TableUnderTest(
                StorageUnderTest(testDescription: kind.testDescription) {
                    try kind.open(place, TableUnderTest.moment(milliseconds))
                })
        }
        var table = try opened(0)
        let (changed, removed) = (try table.insert("changed"), try table.insert("removed"))
        if let restart { table = try opened(restart) }
        let after = try #require(try table.update(changed, #"{"n":1}"#))
        #expect(try table.storage.remove([removed], from: table.name, table.write()))
        let again = try table.insert("removed")
        #expect(after.version != changed.version && again.version != removed.version)
        return [after.version, again.version, try table.insert("new").version]
    }

    @Test(arguments: KeptStorage.all)
    func `no version that was given before a restore comes again`(kind: KeptStorage) throws {
        // Both databases were the same at the backup. These writes are lost with one of them.
        let lost = try versions(kind, restart: nil)
        let restored = try versions(kind, restart: 1000)
        #expect(Set(lost).isDisjoint(with: restored), "\(lost) \(restored)")
    }

    @Test func `a clock that goes back takes no number back`() throws {
        let path = StorageUnderTest.newFile()
        let start = TableUnderTest.moment(1000)
        for milliseconds: Int64 in [1000, 0] {
            let storage = try SQLiteRowStorage(
                at: path, startedAt: TableUnderTest.moment(milliseconds))
            #expect(storage.firstVersion == start.milliseconds)
        }
        #expect(try SQLiteRowStorage().firstVersion == 0)
    }

    @Test func `a backend with a file counts from its clock`() throws {
        let client = try Client(at: StorageUnderTest.newFile())
        let made = try client.send("POST", "/tables/todos", #"{"id":"a"}"#)
        #expect(made.json["version"]?.string == Base64.encoded("1800000000001".utf8))
    }

    @Test(arguments: StorageUnderTest.all)
    func `a number that is a text id already is not given`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        for id in ["1", "2", "4"] { try table.insert(id) }
        try table.storage.declare(table.name, TableOptions(idKind: .integer))
        #expect(try table.insert(nil).id == "3")
        #expect(try table.insert(nil).id == "5")
    }

    @Test(arguments: StorageUnderTest.all)
    func `a table may give the id of a removed row again, but no version`(
        kind: StorageUnderTest
    ) throws {
        var options = BackendOptions()
        options.tables[try #require(TableName("numbers"))] = TableOptions(
            softDelete: false, idKind: .integer, reusesIDs: true)
        let client = try Client(on: kind.open(), options)
        let insert = { try client.send("POST", "/tables/numbers", #"{"text":"x"}"#).json }
        let rows = try (1...10).map { _ in try insert() }
        #expect(rows.map { $0["id"]?.integer } == Array(1...10))
        #expect(try client.send("DELETE", "/tables/numbers/3").status == 204)
        #expect(try insert()["id"]?.integer == 11)
        for id in [10, 11] {
            #expect(try client.send("DELETE", "/tables/numbers/\(id)").status == 204)
        }
        let again = try insert()
        #expect(again["id"]?.integer == 10)
        #expect(again["version"]?.string != rows[9]["version"]?.string)
    }

    @Test(arguments: StorageUnderTest.all)
    func `a backend whose settings say other ids than its items have does not start`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind, "numbers", TableOptions(idKind: .integer))
        let start = { (idKind: IDKind) in
            var options = BackendOptions()
            options.tables[table.name] = TableOptions(idKind: idKind)
            _ = try Client(on: table.storage, options)
        }
        // Without items there is nothing to lose.
        try start(.string)
        try start(.integer)
        try table.insert(nil)
        #expect(throws: OtherIDKind(table: table.name, stored: .integer)) { try start(.string) }
        #expect(try table.storage.table(table.name)?.options.idKind == .integer)
        try start(.integer)
    }

    @Test(arguments: StorageUnderTest.all)
    func `integer ids that were turned into texts become integers again`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind, "numbers", TableOptions(idKind: .integer))
        let rows = try (0..<Limits.checkedRows + 1).map { _ in try table.insert(nil) }
        let start = {
            var options = BackendOptions()
            options.tables[table.name] = TableOptions(idKind: .integer)
            _ = try Client(on: table.storage, options)
        }
        // Earlier programs changed the kind of the ids without an error.
        try table.storage.declare(table.name, TableOptions())
        try start()
        #expect(try table.storage.table(table.name)?.options.idKind == .integer)
        let byBytes = rows.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
        #expect(try table.storage.rows(in: table.name) == byBytes)
        // One id that is no number is enough.
        for id in ["a", "07", "+7", "1.0", "9007199254740993", "9223372036854775808"] {
            let texts = try TableUnderTest(kind, "numbers")
            for id in ["1", "-2", id] { try texts.insert(id) }
            var options = BackendOptions()
            options.tables[texts.name] = TableOptions(idKind: .integer)
            #expect(throws: OtherIDKind(table: texts.name, stored: .string), "\(id)") {
                _ = try Client(on: texts.storage, options)
            }
            #expect(try texts.storage.table(texts.name)?.options.idKind == .string)
        }
    }

    @Test func `what is said of other ids names both settings`() throws {
        let numbers = try #require(TableName("numbers"))
        #expect(
            OtherIDKind(table: numbers, stored: .string).description
                == "The table numbers has items whose ids are no whole numbers up to 9007199254740992. "
                + "Take the word integer away from the table in the settings, or its name from integer-ids."
        )
    }
}
