import TablesProtocol
import Testing

@testable import Backend

/// The names and the number of the columns that writes store.
@Suite struct ColumnTests {
    private static let servesJavaScript: Set<BackendFlavour> = [.mobileServices, .node, .express]

    private var name: TableName { get throws { try #require(TableName("t")) } }

    private func client(_ flavour: BackendFlavour) throws -> Client {
        var options = BackendOptions(flavour: flavour)
        options.allowsPut = true
        if flavour == .express { options.tables[try name] = TableOptions(softDelete: true) }
        return try Client(options, fields: Client.fields(of: flavour))
    }

    /// The columns of each row, by id.
    private func stored(_ client: Client) throws -> [String] {
        try client.backend.storage.rows(in: name).map { "\($0.id) \($0.columns.text)" }
    }

    private func update(_ client: Client, _ flavour: BackendFlavour, _ body: String) throws -> Int {
        let method = flavour == .toolkit ? "PUT" : "PATCH"
        return try client.send(method, "/tables/t/b", body).status
    }

    @Test(arguments: BackendFlavour.allCases)
    func `a filter finds what was written in another spelling than the table's`(
        flavour: BackendFlavour
    ) throws {
        let client = try client(flavour)
        func insert(_ body: String) throws -> Int {
            try client.send("POST", "/tables/t", body).status
        }
        func ids(_ text: String) throws -> [String] {
            try client.send("GET", "/tables/t?$filter=title%20eq%20'\(text)'").ids
        }
        #expect(try insert(#"{"id":"a","TITLE":"x","DONE":false}"#) == 201)
        #expect(try insert(#"{"id":"b","title":"milk","done":true}"#) == 201)
        #expect(try ids("milk") == ["b"])
        #expect(
            try stored(client)
                == [#"a {"TITLE":"x","DONE":false}"#, #"b {"TITLE":"milk","DONE":true}"#])
        #expect(try update(client, flavour, #"{"id":"b","title":"tea","Done":false}"#) == 200)
        #expect(try ids("tea") == ["b"])
        #expect(
            try stored(client)
                == [#"a {"TITLE":"x","DONE":false}"#, #"b {"TITLE":"tea","DONE":false}"#])
    }

    @Test func `a JSON Patch and a put store the table's spelling`() throws {
        let client = try client(.datasync)
        #expect(try client.send("POST", "/tables/t", #"{"id":"b","TITLE":"x"}"#).status == 201)
        let patch = try client.send(
            "PATCH", "/tables/t/b", #"[{"op":"replace","path":"/title","value":"tea"}]"#,
            client.fields + [("Content-Type", "application/json-patch+json")])
        #expect(patch.status == 200, "\(patch.text)")
        #expect(try stored(client) == [#"b {"TITLE":"tea"}"#])
        let put = try client.send("PUT", "/tables/t/b", #"{"id":"b","tiTle":"milk"}"#)
        #expect(put.status == 200, "\(put.text)")
        #expect(try stored(client) == [#"b {"TITLE":"milk"}"#])
    }

    @Test(arguments: BackendFlavour.allCases)
    func `two spellings of one column in a body are refused`(flavour: BackendFlavour) throws {
        let client = try client(flavour)
        let body = #"{"id":"b","title":"x","TITLE":"y"}"#
        let refused = try client.send("POST", "/tables/t", body)
        #expect(refused.status == 400)
        let sentence = "'title' and 'TITLE' are one property. Send it once."
        #expect(refused.text.contains(sentence) || flavour == .toolkit, "\(refused.text)")
        #expect(try stored(client) == [])
        #expect(try client.send("POST", "/tables/t", #"{"id":"b","title":"z"}"#).status == 201)
        #expect(try update(client, flavour, body) == 400)
        #expect(try stored(client) == [#"b {"title":"z"}"#])
    }

    @Test func `a declared column keeps its name, and gets no default beside a value`() throws {
        var options = BackendOptions(flavour: .dotnet)
        options.tables[try name] = TableOptions(columns: [
            .init("text", .string), .init("done", .boolean),
        ])
        let client = try Client(options, fields: [("ZUMO-API-VERSION", "2.0.0")])
        #expect(try client.send("POST", "/tables/t", #"{"id":"a","TEXT":"x"}"#).status == 201)
        #expect(try stored(client) == [#"a {"text":"x","done":false}"#])
    }

    /// Rows of earlier programs have other spellings than the table's.
    @Test(arguments: [
        (#"{"TITLE":"x","n":1}"#, #"{"n":2}"#, #"{"title":"x","n":2}"#),
        (#"{"TITLE":"x","n":1}"#, #"{"title":"y"}"#, #"{"title":"y","n":1}"#),
        (#"{"TITLE":"x","title":"y"}"#, #"{"n":2}"#, #"{"TITLE":"x","title":"y","n":2}"#),
        (#"{"TITLE":"x","title":"y"}"#, #"{"title":"z"}"#, #"{"title":"z"}"#),
        (#"{"other":1}"#, #"{"new":2}"#, #"{"other":1,"new":2}"#),
    ])
    func `an update brings a row to the table's spellings, and no value is lost`(
        row: String, changes: String, merged: String
    ) throws {
        let table = StoredTable(
            name: try name, options: TableOptions(columns: [.init("title", .string)]),
            seenColumns: [.init("n", .number)])
        let columns = table.merged(
            try Columns(parsing: row), with: try Columns(parsing: changes))
        #expect(columns.text == merged)
    }

    /// An object of columns `c0`, `c1` and so on.
    private func object(_ range: Range<Int>, id: String, value: String = "1") -> String {
        let members = range.map { ",\"c\($0)\":\(value)" }.joined()
        return "{\"id\":\"\(id)\"\(members)}"
    }

    @Test(arguments: [BackendFlavour.mobileApps, .datasync, .node, .mobileServices])
    func `writes give a table no more columns than the limit`(flavour: BackendFlavour) throws {
        let client = try client(flavour)
        func insert(_ body: String) throws -> Client.Answer {
            try client.send("POST", "/tables/t", body)
        }
        // 20,000 names would take minutes, if each were compared with all.
        for count in [Limits.columnsOfTable + 1, flavour == .node ? 5_000 : 20_000] {
            let refused = try insert(object(0..<count, id: "b"))
            #expect(refused.status == 400)
            #expect(refused.text.contains("A table has at most 1024 columns."), "\(refused.text)")
        }
        #expect(try stored(client) == [])
        #expect(try insert(object(0..<Limits.columnsOfTable, id: "b")).status == 201)
        #expect(try insert(object(0..<3, id: "d")).status == 201)
        #expect(try insert(#"{"id":"e","more":1}"#).status == 400)
        #expect(try update(client, flavour, #"{"id":"b","more":1}"#) == 400)
        #expect(try update(client, flavour, #"{"id":"b","C5":2}"#) == 200)
        let rows = try client.backend.storage.rows(in: name)
        #expect(rows.map(\.id) == ["b", "d"])
        #expect(rows.map { $0.columns.all.count } == [Limits.columnsOfTable, 3])
        #expect(rows[0].columns["c5"]?.text == "2")
    }

    /// A null does not make a column, but is stored in its row.
    @Test func `nulls of unknown columns count in their row`() throws {
        let client = try client(.mobileApps)
        let most = Limits.columnsOfTable
        func insert(_ body: String) throws -> Int {
            try client.send("POST", "/tables/t", body).status
        }
        #expect(try insert(object(0..<most + 1, id: "b", value: "null")) == 400)
        #expect(try insert(object(0..<most, id: "b", value: "null")) == 201)
        let before = try stored(client)
        #expect(try update(client, .mobileApps, #"{"more":null}"#) == 400)
        #expect(try stored(client) == before)
        #expect(try update(client, .mobileApps, #"{"c0":null}"#) == 200)
        #expect(try stored(client) == before)
    }

    @Test func `rows of another backend are learnt whatever their number of columns is`() throws {
        let count = Limits.columnsOfTable + 500
        let row = try Columns(
            parsing: "{" + (0..<count).map { "\"c\($0)\":1" }.joined(separator: ",") + "}")
        var table = StoredTable(name: try name, options: TableOptions())
        #expect(table.learn(row) == row)
        #expect(table.seenColumns.map(\.name) == row.names)
        #expect(
            table.learn(try Columns(parsing: #"{"C7":2,"new":null,"A":1,"a":2}"#)).text
                == #"{"c7":2,"new":null,"A":1,"a":2}"#)
        #expect(table.seenColumns.map(\.name) == row.names + ["A"])
    }

    @Test(arguments: BackendFlavour.allCases)
    func `another spelling of the id is the id, or refused by servers in JavaScript`(
        flavour: BackendFlavour
    ) throws {
        let client = try client(flavour)
        let both = try client.send("POST", "/tables/t", #"{"id":"a","ID":"b"}"#)
        #expect(both.status == 400, "\(both.text)")
        #expect(try stored(client) == [])
        let isRefused = Self.servesJavaScript.contains(flavour)
        for (id, spelling) in [("a", "ID"), ("b", "Id"), ("c", "iD")] {
            let answer = try client.send(
                "POST", "/tables/t", "{\"\(spelling)\":\"\(id)\",\"text\":\"x\"}")
            #expect(answer.status == (isRefused ? 400 : 201), "\(answer.text)")
        }
        #expect(
            try stored(client)
                == (isRefused ? [] : ["a", "b", "c"].map { "\($0) {\"text\":\"x\"}" }))
        guard !isRefused else { return }
        #expect(try update(client, flavour, #"{"ID":"a","text":"y"}"#) == 400)
        #expect(try update(client, flavour, #"{"ID":"b","text":"y"}"#) == 200)
        #expect(
            try stored(client)
                == [#"a {"text":"x"}"#, #"b {"text":"y"}"#, #"c {"text":"x"}"#])
    }

    @Test(arguments: [
        (BackendFlavour.mobileApps, "{}"), (.dotnet, "{}"), (.datasync, #"{"CreatedAt":"z"}"#),
        (.toolkit, #"{"CreatedAt":"z"}"#),
    ])
    func `a system property is one in every spelling`(
        flavour: BackendFlavour, columns: String
    ) throws {
        let client = try client(flavour)
        let body = #"{"id":"a","Version":"x","UPDATEDAT":"y","CreatedAt":"z","Deleted":false}"#
        let answer = try client.send("POST", "/tables/t", body)
        #expect(answer.status == 201, "\(answer.text)")
        #expect(try stored(client) == ["a \(columns)"])
    }

    @Test(arguments: BackendFlavour.allCases)
    func `a body that is compressed or not in UTF-8 is refused`(flavour: BackendFlavour) throws {
        let client = try client(flavour)
        func insert(_ id: String, _ type: String, _ coding: String?) throws -> Client.Answer {
            var fields = client.fields
            fields.append(("Content-Type", type))
            if let coding { fields.append(("Content-Encoding", coding)) }
            return try client.send("POST", "/tables/t", "{\"id\":\"\(id)\"}", fields)
        }
        let json = "application/json"
        for (type, coding) in [
            (json, "gzip"), (json, "identity, br"), (json, "DEFLATE"),
            ("\(json); charset=utf-16", nil), ("\(json);charset=\"ISO-8859-1\"", nil),
        ] as [(String, String?)] {
            let refused = try insert("a", type, coding)
            #expect(refused.status == 415, "\(type) \(coding ?? "")")
            #expect(
                refused.text.contains("Send the body as JSON in UTF-8") || flavour == .toolkit,
                "\(refused.text)")
        }
        #expect(try insert("b", "\(json); charset=UTF-8", "Identity").status == 201)
        #expect(try insert("c", json, "").status == 201)
        #expect(try stored(client) == ["b {}", "c {}"])
    }
}
