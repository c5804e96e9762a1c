import TablesProtocol
import Testing

@testable import Backend

/// How the flavours read the options of a list, and the names of columns.
@Suite struct ListOptionTests {
    private var name: TableName { get throws { try #require(TableName("t")) } }

    private func client(
        _ flavour: BackendFlavour, pageRows: Int? = nil, _ rows: [String]
    ) throws -> Client {
        var options = BackendOptions(flavour: flavour)
        options.pageRows = pageRows
        if flavour == .express { options.tables[try name] = TableOptions(softDelete: true) }
        let client = try Client(options, fields: Client.fields(of: flavour))
        for row in rows {
            let made = try client.send("POST", "/tables/t", row)
            #expect(made.status == 201, "\(made.text)")
        }
        return client
    }

    @Test(arguments: BackendFlavour.allCases)
    func `a read script with a parameter filters lists and look-ups by its column`(
        flavour: BackendFlavour
    ) throws {
        var options = BackendOptions(flavour: flavour)
        options.pageRows = 2
        options.tables[try name] = TableOptions(readParameter: "region")
        let client = try Client(options, fields: Client.fields(of: flavour))
        for number in 1...6 {
            let region = number % 2 == 0 ? "EU" : "US"
            try client.send(
                "POST", "/tables/t", #"{"id":"\#(number)","region":"\#(region)"}"#)
        }
        for (query, ids) in [
            ("?region=EU&$skip=0", ["2", "4"]), ("?$skip=2&region=EU", ["6"]),
            ("?region=US&$filter=id%20gt%20'1'", ["3", "5"]), ("?region=eu", []),
            ("?other=EU", ["1", "2"]),
        ] {
            #expect(try client.send("GET", "/tables/t\(query)").ids == ids, "\(query)")
        }
        let count =
            flavour == .toolkit || flavour == .datasync ? "$count=true" : "$inlinecount=allpages"
        let counted = try client.send("GET", "/tables/t?region=EU&\(count)")
        #expect(counted.json["count"]?.integer == 3)
        #expect(try client.send("GET", "/tables/t/2?region=EU").status == 200)
        #expect(try client.send("GET", "/tables/t/2?region=US").status == 404)
        #expect(try client.send("GET", "/tables/t/2").status == 200)
    }

    private static let four = (1...4).map { #"{"id":"\#($0)","n":\#($0)}"# }

    @Test(arguments: BackendFlavour.allCases)
    func `a question mark in a text is part of it, and one before an option begins a pair`(
        flavour: BackendFlavour
    ) throws {
        let client = try client(flavour, [#"{"id":"1","n":"what?"}"#, #"{"id":"2","n":"what"}"#])
        #expect(try client.send("GET", "/tables/t?$filter=n%20eq%20'what?'").ids == ["1"])
        let second = try client.send("GET", "/tables/t?$filter=n%20eq%20'what?'?$skip=1")
        #expect(second.status == 200 && second.ids.isEmpty)
        #expect(try client.send("GET", "/tables/t?$orderby=n%20desc?$top=1").ids == ["1"])
    }

    @Test(arguments: [BackendFlavour.datasync, .toolkit])
    func `the third generation takes options in any case and without the dollar sign`(
        flavour: BackendFlavour
    ) throws {
        let client = try client(flavour, Self.four)
        for (query, ids) in [
            ("$FILTER=n%20gt%202", ["3", "4"]), ("filter=n%20gt%202", ["3", "4"]),
            ("OrderBy=n%20desc&$TOP=2&Skip=1", ["3", "2"]),
        ] {
            #expect(try client.send("GET", "/tables/t?\(query)").ids == ids, "\(query)")
        }
        let counted = try client.send("GET", "/tables/t?COUNT=true&top=1")
        #expect(counted.json["count"]?.integer == 4)
        #expect(counted.ids == ["1"])
        #expect(try client.send("GET", "/tables/t?Filter=n%20eq").status == 400)
    }

    @Test(arguments: [BackendFlavour.datasync, .toolkit])
    func `a next link continues a list whose options are spelled otherwise`(
        flavour: BackendFlavour
    ) throws {
        let client = try client(flavour, pageRows: 2, Self.four)
        let first = try client.send("GET", "/tables/t?Skip=1")
        #expect(first.ids == ["2", "3"])
        let link = try #require(first.json["nextLink"]?.string)
        let query = try #require(link.split(separator: "?").last)
        let second = try client.send("GET", "/tables/t?\(query)")
        #expect(second.ids == ["4"])
        #expect(second.json["nextLink"]?.string == nil)
    }

    @Test(arguments: BackendFlavour.allCases)
    func `a backend of linked lists refuses orders, and its links lead through all rows`(
        flavour: BackendFlavour
    ) throws {
        var options = BackendOptions(flavour: flavour)
        options.lists = .linked
        options.pageRows = 3
        options.tables[try name] = TableOptions(softDelete: true)
        let client = try Client(options, fields: Client.fields(of: flavour))
        for id in ["d", "b", "g", "a", "f", "c", "e"] {
            try client.send("POST", "/tables/t", #"{"id":"\#(id)","n":\#(id == "b" ? 0 : 1)}"#)
        }
        for query in ["$orderby=id", "$skip=0", "$skip=3", "$inlinecount=allpages"]
        where flavour != .toolkit || !query.hasPrefix("$inline") {
            #expect(try client.send("GET", "/tables/t?\(query)").status == 400, "\(query)")
        }
        for (query, ids) in [
            ("", ["a", "b", "c", "d", "e", "f", "g"]), ("$top=5", ["a", "b", "c", "d", "e"]),
            ("$filter=n%20eq%201", ["a", "c", "d", "e", "f", "g"]),
        ] {
            var target: String? = "/tables/t?\(query)"
            var received: [String] = []
            while let present = target {
                let page = try client.send("GET", present)
                #expect(page.status == 200 && !page.ids.isEmpty, "\(present) \(page.text)")
                received += page.ids
                let link = page.field("Link") ?? page.json["nextLink"]?.string
                target = link.flatMap { $0.split(separator: ";").first }
                    .flatMap { $0.split(separator: "?").last }.map { "/tables/t?\($0)" }
            }
            #expect(received == ids, "\(query)")
        }
    }

    @Test func `a list of Mobile Services is as long as its top and has no link`() throws {
        let client = try client(.mobileServices, (0..<60).map { "{\"n\":\($0)}" })
        #expect(try client.send("GET", "/tables/t").ids.count == 50)
        let long = try client.send("GET", "/tables/t?$top=55&$inlinecount=allpages")
        #expect(long.ids.count == 55)
        #expect(long.json["count"]?.integer == 60)
        #expect(long.field("Link") == nil)
    }

    @Test(arguments: [BackendFlavour.mobileApps, .node, .dotnet])
    func `older servers take one spelling`(flavour: BackendFlavour) throws {
        let client = try client(flavour, Self.four)
        for query in ["$FILTER=n%20gt%202", "filter=n%20gt%202", "$TOP=1", "skip=1"] {
            let ids = try client.send("GET", "/tables/t?\(query)").ids
            #expect(ids == ["1", "2", "3", "4"], "\(query)")
        }
    }

    @Test(arguments: BackendFlavour.allCases)
    func `servers in JavaScript divide fractions, others whole numbers`(
        flavour: BackendFlavour
    ) throws {
        let client = try client(flavour, [#"{"id":"a","n":7}"#, #"{"id":"b","n":6}"#])
        let isScript = [.mobileServices, .node, .express].contains(flavour)
        for (filter, script, other) in [
            ("n%20div%202%20eq%203.5", ["a"], []),
            ("n%20div%202%20eq%203", ["b"], ["a", "b"]),
            ("not((n%20div%202)%20mul%202%20eq%20n)", [], ["a"]),
        ] as [(String, [String], [String])] {
            let ids = try client.send("GET", "/tables/t?$filter=\(filter)").ids
            #expect(ids == (isScript ? script : other), "\(filter)")
        }
    }

    /// Swift's strings take both forms of the letter for equal.
    @Test(arguments: [BackendFlavour.mobileApps, .dotnet, .datasync])
    func `names of columns that differ in bytes are two columns`(flavour: BackendFlavour) throws {
        let client = try client(flavour, ["{\"id\":\"a\",\"\u{E9}\":\"old\"}"])
        let update = try client.send("PATCH", "/tables/t/a", "{\"e\u{301}\":\"new\"}")
        #expect(update.status == 200, "\(update.text)")
        #expect(
            try client.backend.storage.rows(in: name).map(\.columns)
                == [try Columns(parsing: "{\"\u{E9}\":\"old\",\"e\u{301}\":\"new\"}")])
        let both = try client.send(
            "POST", "/tables/t", "{\"id\":\"b\",\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(both.status == 201, "\(both.text)")
        #expect(
            try client.backend.storage.rows(in: name).filter { $0.id == "b" }.map(\.columns)
                == [try Columns(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}")])
        // The first spelling of each stays.
        let other = try client.send("PATCH", "/tables/t/a", "{\"\u{C9}\":\"newer\"}")
        #expect(other.status == 200, "\(other.text)")
        #expect(
            try client.backend.storage.rows(in: name).filter { $0.id == "a" }.map(\.columns)
                == [try Columns(parsing: "{\"\u{E9}\":\"newer\",\"e\u{301}\":\"new\"}")])
    }
}
