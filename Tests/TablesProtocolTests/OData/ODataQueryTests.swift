import TablesProtocol
import Testing

@Suite struct ODataQueryTests {
    @Test(arguments: [
        ("a=1&b=2", [["a", "1"], ["b", "2"]]),
        ("", []), ("&&", []), ("a", [["a", ""]]), ("a=", [["a", ""]]), ("=b", [["", "b"]]),
        ("a=b=c", [["a", "b=c"]]),
        ("%24top=5&%24skip=1", [["$top", "5"], ["$skip", "1"]]),
        ("a=x+y%2Bz%26%3D", [["a", "x y+z&="]]),
        ("a=%2541", [["a", "%41"]]),
        ("a=%C3%A9", [["a", "é"]]),
        (
            "$inlinecount=allpages?__includeDeleted=true",
            [["$inlinecount", "allpages"], ["__includeDeleted", "true"]]
        ),
        ("a=1?$top=2?%24skip=3", [["a", "1"], ["$top", "2"], ["$skip", "3"]]),
        ("$filter=text eq 'what?$top=1'", [["$filter", "text eq 'what?$top=1'"]]),
        ("$filter=text%20eq%20%27what?__x%27", [["$filter", "text eq 'what?__x'"]]),
        ("a=why?not", [["a", "why?not"]]),
    ])
    func `a query string splits into decoded pairs`(query: String, pairs: [[String]]) throws {
        let parameters = try QueryParameter.split(query[...])
        #expect(parameters.map { [$0.name, $0.value] } == pairs)
    }

    @Test(arguments: [
        ("", []), ("&a=1&&b", ["a=1", "b"]), ("a=%zz&%=1", ["a=%zz", "%=1"]),
        ("$filter=t%20eq%20'what?'&x=1", ["$filter=t%20eq%20'what?'", "x=1"]),
        (
            "$inlinecount=allpages?__includeDeleted=true",
            ["$inlinecount=allpages", "__includeDeleted=true"]
        ),
    ])
    func `a lenient reading splits a query into the same pairs`(query: String, pairs: [String]) {
        #expect(QueryParameter.lenient(query[...]).map(\.raw) == pairs)
    }

    @Test func `a pair keeps its wire form`() throws {
        #expect(
            try QueryParameter.split("%61=%20+&b")
                == [
                    QueryParameter(name: "a", value: "  ", raw: "%61=%20+"),
                    QueryParameter(name: "b", value: "", raw: "b"),
                ])
        #expect(try QueryParameter.split(nil).isEmpty)
    }

    @Test(arguments: [
        ("a=1&%4=b", 4), ("%zz=1", 0), ("a&%", 2), ("a=1&b=%FF", 6), ("%C3=1", 0),
    ])
    func `what is not UTF-8, or no name, is refused with its position`(
        query: String, position: Int
    ) {
        let error = #expect(throws: ODataError.self) { try QueryParameter.split(query[...]) }
        #expect(error?.position == position)
    }

    @Test(arguments: [
        ("$filter=substringof('%',text)", "substringof('%',text)"), ("a=%zz", "%zz"),
        ("a=%4", "%4"), ("a=1%+%25%41%", "1% %A%"),
    ])
    func `a percent sign without digits in a value is one`(query: String, value: String) throws {
        #expect(try QueryParameter.split(query[...]).map(\.value) == [value])
    }

    @Test func `too many pairs are refused`() {
        let query = (0...Limits.queryParameters).map { "a\($0)=1" }.joined(separator: "&")
        #expect(throws: ODataError.self) { try QueryParameter.split(query[...]) }
    }

    private func parse(_ query: String, _ generation: Generation) throws(ODataError) -> TableQuery {
        try TableQuery.parse(QueryParameter.split(query[...]), generation: generation)
    }

    @Test(arguments: [
        ("$top=0", TableQuery(top: 0)), ("$top=50&$skip=100", TableQuery(top: 50, skip: 100)),
        ("$top=5&$top=6", TableQuery(top: 5)), ("$top=128001", TableQuery(top: 128_001)),
        ("$top=99999999999999999999", TableQuery(top: .max)),
        ("$inlinecount=allpages", TableQuery(count: true)), ("$inlinecount=none", TableQuery()),
        ("__includeDeleted=true", TableQuery(includeDeleted: true)),
        ("__INCLUDEDELETED=True", TableQuery(includeDeleted: true)),
        ("__includeDeleted=false", TableQuery()), ("__includeDeleted=1", TableQuery()),
        ("__systemProperties=*&mine=1", TableQuery()),
        ("$filter=&$orderby=&$select=", TableQuery()), ("$select=*", TableQuery()),
        (
            "$select=id, text ,a/b,ID",
            TableQuery(select: [.id, .user(path: ["text"]), .user(path: ["a", "b"])])
        ),
    ])
    func `options of all generations`(query: String, expected: TableQuery) throws {
        for generation in Generation.allCases {
            var expected = expected
            expected.nulls = NullComparison(generation)
            #expect(try parse(query, generation) == expected, "\(generation)")
        }
    }

    @Test(arguments: [
        ("$Top=5", Generation.mobileApps, TableQuery()),
        ("$Top=5", .datasync, TableQuery(top: 5)),
        ("top=5", .datasync, TableQuery(top: 5)), ("top=5", .mobileApps, TableQuery()),
        ("top=5", .mobileServices, TableQuery()),
        ("$top=abc&$skip=-1", .mobileApps, TableQuery()),
        ("$inlinecount=yes", .mobileApps, TableQuery()),
        ("$count=true", .mobileApps, TableQuery()),
        ("$count=true&$top=0", .datasync, TableQuery(top: 0, count: true)),
        ("$count=false", .datasync, TableQuery()),
        ("$top=1001", .datasync, TableQuery(top: 1001)),
        ("$expand=x&__y=1", .mobileApps, TableQuery()), ("$expand=x", .datasync, TableQuery()),
        ("$search=x", .mobileApps, TableQuery()), ("search=x", .datasync, TableQuery()),
        (
            "$select=__version,version", .mobileServices,
            TableQuery(select: [.system(.version), .user(path: ["version"])])
        ),
    ])
    func `options that differ between generations`(
        query: String, generation: Generation, expected: TableQuery
    ) throws {
        var expected = expected
        expected.nulls = generation == .datasync ? .decided : .unknown
        #expect(try parse(query, generation) == expected)
    }

    @Test(arguments: [
        ("$top=abc", Generation.mobileServices, "The value specified for '$top' must be a number"),
        ("$top=NaN", .datasync, "The value specified for '$top' must be a number"),
        ("$top=-1", .mobileServices, "The value specified for '$top' must not be negative"),
        ("$top=-1", .mobileApps, "The value specified for '$top' must not be negative"),
        ("$skip=-1", .datasync, "The value specified for '$skip' must not be negative"),
        ("$skip=x", .mobileServices, "The value specified for '$skip' must be a number"),
        (
            "$inlinecount=yes", .mobileServices,
            "The value of '$inlinecount' must be 'allpages' or 'none'"
        ),
        ("$count=1", .datasync, "The value of '$count' must be 'true' or 'false'"),
        ("$search=a", .datasync, "The option '$search' is not supported"),
        ("$Apply=a", .datasync, "The option '$Apply' is not supported"),
        ("$compute=a", .datasync, "The option '$compute' is not supported"),
        ("$skiptoken=a", .datasync, "The option '$skiptoken' is not supported"),
        ("$select=a,,b", .mobileApps, "Expected the name of a column"),
    ])
    func `an invalid option is refused`(query: String, generation: Generation, reason: String) {
        let error = #expect(throws: ODataError.self) { try parse(query, generation) }
        #expect(error?.reason == reason)
    }

    @Test(arguments: [
        (
            "$filter=(__updatedAt%20ge%20datetimeoffset'2013-01-01T00:00:00.0000000%2B00:00')&$orderby=__updatedAt&$skip=0&$top=50&__includeDeleted=true&__systemproperties=__version%2C__updatedAt%2C__deleted",
            Generation.mobileServices
        ),
        (
            "$filter=(updatedAt%20ge%20datetimeoffset'2013-01-01T00:00:00.000Z')&$orderby=updatedAt%20asc&$top=50&$skip=0&__includeDeleted=true",
            .mobileApps
        ),
        (
            "$filter=(updatedAt ge datetime'2013-01-01T00:00:00.000Z')&$orderby=updatedAt&$top=50&__includeDeleted=true",
            .mobileApps
        ),
        (
            "$filter=%28updatedAt%20gt%20cast%282013-01-01T00:00:00.000Z,Edm.DateTimeOffset%29%29&$orderby=updatedAt&$count=true&__includedeleted=true",
            .datasync
        ),
    ])
    func `a pull of each SDK is parsed`(query: String, generation: Generation) throws {
        let parsed = try parse(query, generation)
        guard
            case .binary(_, .column(.system(.updatedAt)), .literal(.instant(let since))) = parsed
                .filter
        else { return #expect(Bool(false), "\(String(describing: parsed.filter))") }
        #expect(since.instant == Instant(iso: "2013-01-01T00:00:00Z"))
        #expect(parsed.orderBy == [Ordering(.column(.system(.updatedAt)))])
        #expect(parsed.includeDeleted)
        #expect(parsed.count == (generation == .datasync))
    }

    @Test func `no query string crashes the splitter`() {
        let pieces = [
            "&", "?", "=", "%", "%2", "%41", "%FF", "+", "'", "%27", "$top", "__x", "é", "\u{0}",
            "1",
        ]
        for seed in UInt64(1)...5_000 {
            var random = ODataRandom(seed: seed)
            let text = (0..<Int.random(in: 0..<12, using: &random)).map { _ in random.pick(pieces) }
                .joined()
            do {
                let parameters = try QueryParameter.split(text[...])
                _ = try TableQuery.parse(parameters, generation: random.pick(Generation.allCases))
            } catch {
                #expect((0...text.utf8.count).contains(error.position), "seed \(seed): \(text)")
            }
        }
    }
}
