import TablesProtocol
import Testing

@testable import Backend

/// Users' columns with the names of the server's own, which came from a backend of another generation.
@Suite struct HiddenColumnTests {
    private static let stamp = "2027-01-15T08:00:00.000Z"
    private static let columns =
        #"{"text":"t","version":7,"deleted":true,"createdAt":"mine","updatedAt":"yesterday","ID":"x"}"#

    /// A client of a flavour, and a table with a row that has such columns and one that has none.
    private func moved(
        _ flavour: BackendFlavour, _ kind: StorageUnderTest
    ) throws -> (Client, any RowStorage) {
        let storage = try kind.open()
        let table = try #require(TableName("todos"))
        let moment = TableUnderTest.moment(0)
        let rows = try [("r1", Self.columns), ("r2", #"{"text":"u"}"#)].map { id, columns in
            MovedRow(
                id: id, columns: try Columns(parsing: columns), createdAt: moment,
                updatedAt: moment, version: "AAAB")
        }
        _ = try storage.move(
            rows, into: table, creating: TableOptions(),
            Move(at: moment, source: .export, isInUse: false))
        var client = try Client(on: storage, BackendOptions(flavour: flavour))
        client.fields = Client.fields(of: flavour)
        return (client, storage)
    }

    /// The row with such columns, as each flavour answers it.
    static let answers: [(BackendFlavour, String)] = {
        let end = #""version":"AAAB","deleted":false"#
        let second = #""createdAt":"\#(stamp)","updatedAt":"\#(stamp)",\#(end)"#
        let short = second.replacing(".000Z", with: "Z")
        let third = #""createdAt":"mine","updatedAt":"\#(stamp)",\#(end)"#
        let first = #""version":7,"deleted":true,"createdAt":"mine","updatedAt":"yesterday""#
        return [
            (.mobileServices, #"{"id":"r1","text":"t",\#(first)}"#),
            (.mobileApps, #"{"id":"r1","text":"t",\#(second)}"#),
            (.node, #"{"id":"r1",\#(second),"text":"t"}"#),
            (.dotnet, #"{"id":"r1","text":"t",\#(short)}"#),
            (.datasync, #"{"id":"r1","text":"t",\#(third)}"#),
            (.toolkit, #"{"id":"r1","text":"t",\#(third)}"#),
        ]
    }()

    @Test(arguments: answers)
    func `an answer has each name once`(flavour: BackendFlavour, row: String) throws {
        let (client, _) = try moved(flavour, StorageUnderTest.all[0])
        #expect(try client.send("GET", "/tables/todos/r1").text == row)
        let list = try client.send("GET", "/tables/todos")
        #expect(list.text.contains(row))
        #expect(list.ids == ["r1", "r2"])
    }

    @Test func `a row without such columns gets none of them as null`() throws {
        let (client, _) = try moved(.node, StorageUnderTest.all[0])
        #expect(
            try client.send("GET", "/tables/todos/r2").text
                == #"{"id":"r2","createdAt":"\#(Self.stamp)","updatedAt":"\#(Self.stamp)","#
                + #""version":"AAAB","deleted":false,"text":"u"}"#)
    }

    @Test(arguments: StorageUnderTest.all)
    func `a replacement keeps what its client cannot see`(kind: StorageUnderTest) throws {
        let (client, storage) = try moved(.toolkit, kind)
        let replaced = try client.send("PUT", "/tables/todos/r1", #"{"id":"r1","text":"new"}"#)
        #expect(replaced.status == 200, "\(replaced.text)")
        let row = try storage.get("r1", in: try #require(TableName("todos")))
        #expect(
            row?.columns.text
                == #"{"text":"new","version":7,"deleted":true,"updatedAt":"yesterday","ID":"x"}"#)
    }

    @Test func `columns that a flavour hides are named`() throws {
        let row = MovedRow(id: "r1", columns: try Columns(parsing: Self.columns))
        #expect(
            row.hiddenColumns(in: .mobileApps, .string)
                == ["version", "deleted", "createdAt", "updatedAt", "ID"])
        #expect(
            row.hiddenColumns(in: .datasync, .string) == ["version", "deleted", "updatedAt", "ID"])
        #expect(row.hiddenColumns(in: .mobileServices, .string) == ["ID"])
        let old = MovedRow(id: "1", columns: try Columns(parsing: #"{"__version":1,"n":2}"#))
        #expect(old.hiddenColumns(in: .mobileServices, .string) == ["__version"])
        #expect(old.hiddenColumns(in: .mobileServices, .integer) == [])
    }
}
