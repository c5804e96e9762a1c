import TablesProtocol
import Testing

@testable import Backend

/// What no write may give a table, whatever the flavour.
@Suite struct WriteBoundTests {
    private func open(
        _ flavour: BackendFlavour, _ options: TableOptions = TableOptions()
    ) throws -> Client {
        var backend = BackendOptions(flavour: flavour)
        backend.dynamicTable = options
        return try Client(backend, fields: Client.fields(of: flavour))
    }

    @Test(arguments: [BackendFlavour.mobileApps, .dotnet, .datasync, .toolkit])
    func `the name of a new column has a bound`(flavour: BackendFlavour) throws {
        let client = try open(flavour)
        let name = String(repeating: "é", count: 128)
        let body = { (id: String, name: String, value: String) in
            #"{"id":"\#(id)","\#(name)":\#(value)}"#
        }
        #expect(try client.send("POST", "/tables/t", body("a", name, "1")).status == 201)
        for value in ["1", "null"] {
            #expect(
                try client.send("POST", "/tables/t", body("b", name + "é", value)).status == 400)
        }
        let table = try #require(TableName("t"))
        #expect(try client.backend.storage.table(table)?.knownColumns.map(\.name) == [name])
        #expect(try client.backend.storage.rows(in: table).map(\.id) == ["a"])
    }

    @Test(arguments: StorageUnderTest.all)
    func `a longer name that moves in stays in its row alone`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let columns = #"{"\#(String(repeating: "n", count: 129))":1,"text":"t"}"#
        let row = MovedRow(id: "a", columns: try Columns(parsing: columns))
        _ = try table.storage.move(
            [row], into: table.name, creating: table.options,
            Move(at: TableUnderTest.moment(0), source: .export, isInUse: false))
        #expect(try table.storage.rows(in: table.name).map(\.columns.text) == [columns])
        let known = try table.storage.table(table.name)?.knownColumns
        #expect(known == [TableOptions.Column("text", .string)])
    }

    @Test(
        arguments: [
            (.mobileApps, "PATCH"), (.dotnet, "PATCH"), (.datasync, "PATCH"), (.datasync, "PUT"),
            (.toolkit, "PUT"),
        ] as [(BackendFlavour, String)])
    func `a table that deletes for good gets no deleted item by a write`(
        flavour: BackendFlavour, method: String
    ) throws {
        let client = try open(flavour, TableOptions(softDelete: false))
        let table = try #require(TableName("t"))
        let stored = {
            try client.backend.storage.rows(in: table).map {
                [$0.id, $0.columns.text, "\($0.deleted)"]
            }
        }
        let made = try client.send("POST", "/tables/t", #"{"id":"a","text":"x","deleted":true}"#)
        #expect(made.status == 201)
        #expect(try stored() == [["a", #"{"text":"x"}"#, "false"]])
        let changed = try client.send(
            method, "/tables/t/a", #"{"id":"a","text":"y","deleted":true}"#)
        #expect(changed.status == 200, "\(changed.text)")
        #expect(try stored() == [["a", #"{"text":"y"}"#, "false"]])
        _ = try client.send("DELETE", "/tables/t/a")
        #expect(try stored() == [])
        #expect(try client.send("POST", "/tables/t", #"{"id":"a"}"#).status == 201)
    }

    @Test func `an id on the Node server has a bound`() throws {
        let client = try open(.node)
        let id = String(repeating: "x", count: 1024)
        let post = { (id: String) in
            try client.send("POST", "/tables/t", #"{"id":"\#(id)","text":"x"}"#).status
        }
        #expect(try post(id) == 201)
        #expect(try post(id + "x") == 400)
        #expect(try client.send("GET", "/tables/t").ids == [id])
    }
}
