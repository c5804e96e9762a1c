import TablesProtocol
import Testing

@testable import Backend

/// What a unique index, a foreign key and a table without versions answer.
@Suite struct ConstraintTests {
    private func client(_ flavour: BackendFlavour, soft: Bool) throws -> Client {
        var options = BackendOptions(flavour: flavour)
        let (clients, orders) = (
            try #require(TableName("clients")), try #require(TableName("orders"))
        )
        options.tables[clients] = TableOptions(softDelete: soft)
        options.tables[orders] = TableOptions(
            softDelete: soft, uniqueColumns: ["number"], references: ["client": clients])
        let client = try Client(options, fields: Client.fields(of: flavour))
        for (table, row) in [
            ("clients", #"{"id":"c"}"#), ("clients", #"{"id":"d"}"#),
            ("orders", #"{"id":"a","number":1,"client":"c"}"#),
            ("orders", #"{"id":"b","number":2}"#),
        ] {
            #expect(try client.send("POST", "/tables/\(table)", row).status == 201)
        }
        return client
    }

    @Test(arguments: BackendFlavour.allCases, [true, false])
    func
        `a value that another row has, an unknown parent and a parent's deletion are refused with 409`(
            flavour: BackendFlavour, soft: Bool
        ) throws
    {
        let client = try client(flavour, soft: soft)
        let change = flavour == .toolkit ? "PUT" : "PATCH"
        let taken = #"{"id":"b","number":1.0}"#
        for (method, path, body) in [
            (change, "/tables/orders/b", taken),
            (change, "/tables/orders/b", #"{"id":"b","client":"x"}"#),
            ("POST", "/tables/orders", #"{"id":"n","number":1}"#),
            ("POST", "/tables/orders", #"{"id":"n","client":"x"}"#),
            ("DELETE", "/tables/clients/c", nil),
        ] as [(String, String, String?)] {
            let answer = try client.send(method, path, body)
            #expect(answer.status == 409, "\(method) \(path) \(body ?? ""): \(answer.status)")
            #expect(answer.json["id"] == nil)
        }
        #expect(try client.send("GET", "/tables/orders/n").status == 404)
        #expect(try client.send("DELETE", "/tables/clients/d").status < 300)
        #expect(
            try client.send(change, "/tables/orders/a", #"{"id":"a","number":1}"#).status == 200)
        // An id that is there is the older refusal.
        #expect(try client.send("POST", "/tables/orders", #"{"id":"a","number":2}"#).status == 409)
        #expect(try client.send("DELETE", "/tables/orders/a").status < 300)
        #expect(try client.send("DELETE", "/tables/clients/c").status < 300)
        #expect(try client.send(change, "/tables/orders/b", taken).status == 200)
    }

    @Test(arguments: BackendFlavour.allCases)
    func `a table without versions shows none and looks at no condition`(
        flavour: BackendFlavour
    ) throws {
        var options = BackendOptions(flavour: flavour)
        options.tables[try #require(TableName("t"))] = TableOptions(hasVersions: false)
        let client = try Client(options, fields: Client.fields(of: flavour))
        let made = try client.send("POST", "/tables/t?__systemproperties=*", #"{"id":"a","n":1}"#)
        // Express gives each body a weak tag of its own, which is no version.
        let isVersion = { (tag: String?) in tag?.hasPrefix("W/") == false }
        #expect(made.status == 201 && !isVersion(made.field("ETag")))
        #expect(made.json["version"] == nil && made.json["__version"] == nil)
        let method = flavour == .toolkit ? "PUT" : "PATCH"
        let changed = try client.send(
            method, "/tables/t/a", #"{"id":"a","n":2}"#, ["If-Match": #""other""#])
        #expect(changed.status == 200 && !isVersion(changed.field("ETag")))
        let read = try client.send("GET", "/tables/t/a?__systemproperties=*")
        #expect(!isVersion(read.field("ETag")) && read.json["n"]?.integer == 2)
        #expect(read.json["version"] == nil && read.json["__version"] == nil)
    }
}
