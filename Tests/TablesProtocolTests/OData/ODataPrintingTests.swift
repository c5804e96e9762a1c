import TablesProtocol
import Testing

@Suite struct ODataPrintingTests {
    @Test(arguments: [
        ("contains(text,'a')", Generation.mobileApps, "substringof('a',text)"),
        ("x in ('a','b')", .mobileApps, "(x eq 'a') or (x eq 'b')"),
        ("x in (1)", .mobileServices, "x eq 1"),
        ("not (x in (1,2)) and y", .mobileServices, "not ((x eq 1) or (x eq 2)) and y"),
        (
            "updatedAt gt 2024-08-23T20:22:54.291Z", .mobileServices,
            "__updatedAt gt datetimeoffset'2024-08-23T20:22:54.291Z'"
        ),
        ("d eq cast(2023-12-15,Edm.Date)", .mobileApps, "d eq datetime'2023-12-15T00:00:00.000Z'"),
        (
            "g eq 0f8fad5b-d9cb-469f-a165-70867728950e", .mobileApps,
            "g eq guid'0f8fad5b-d9cb-469f-a165-70867728950e'"
        ),
        ("b eq binary'_-8='", .mobileApps, "b eq X'FFEF'"),
    ])
    func `a filter of generation 3 is written for older backends`(
        filter: String, names: Generation, expected: String
    ) throws {
        let tree = try Expression(parsing: filter, generation: .datasync)
        #expect(try tree.text(dialect: .v3, names: names) == expected)
    }

    @Test(arguments: [
        ("substringof('a',text)", "contains(text,'a')"),
        (
            "__updatedAt ge datetimeoffset'2014-03-01T08:00:00.1234567+00:00'",
            "updatedAt ge cast(2014-03-01T08:00:00.1234567+00:00,Edm.DateTimeOffset)"
        ),
        (
            "a eq datetime'2013-01-01T00:00:00'",
            "a eq cast(2013-01-01T00:00:00.0000000Z,Edm.DateTimeOffset)"
        ),
        ("a eq 42L or b gt 1.5M", "(a eq 42) or (b gt 1.5)"),
        (
            "g eq guid'0F8FAD5B-D9CB-469F-A165-70867728950E'",
            "g eq cast(0F8FAD5B-D9CB-469F-A165-70867728950E,Edm.Guid)"
        ),
        ("b eq X'ffef'", "b eq binary'_-8='"),
        ("t eq cast('09:05',Edm.TimeOfDay)", "t eq cast(09:05,Edm.TimeOfDay)"),
        ("((a and b) and c) or not(d)", "(a and b and c) or not (d)"),
        ("(0 sub x) gt -5", "(0 sub x) gt -5"),
        ("-(x) lt -(-5)", "-(x) lt -(-5)"),
    ])
    func `a filter of generation 1 is written for generation 3`(filter: String, expected: String)
        throws
    {
        let tree = try Expression(parsing: filter, generation: .mobileServices)
        #expect(try tree.text(dialect: .v4, names: .datasync) == expected)
    }

    @Test(arguments: [
        ("replace(text,'a','b') eq 'c'", "A backend of generation 3 has no function 'replace'"),
        (
            "createdAt gt datetime'2013-01-01T00:00:00Z'",
            "A backend of generation 3 has no column for createdAt"
        ),
        ("a divby 2 eq 1", "A backend of generation 3 has no operator 'divby'"),
    ])
    func `a feature that a backend lacks is refused with a reason`(filter: String, reason: String)
        throws
    {
        let tree = try Expression(parsing: filter, generation: .mobileApps)
        #expect(throws: ODataError(option: "$filter", reason: reason, position: 0)) {
            try tree.text(dialect: .v4, names: .datasync)
        }
    }

    @Test(arguments: [
        ("a lt cast(09:52:35.321,Edm.TimeOfDay)", "a lt cast(09:52:35.321,Edm.TimeOfDay)"),
        ("tags/$count gt 2", "tags/$count gt 2"),
    ])
    func `OData v4 features are sent only to generation 3`(filter: String, text: String) throws {
        let tree = try Expression(parsing: filter, generation: .datasync)
        #expect(try tree.text(dialect: .v4, names: .datasync) == text)
        for names in [Generation.mobileServices, .mobileApps] {
            let error = #expect(throws: ODataError.self) {
                try tree.text(dialect: .v3, names: names)
            }
            #expect(
                error?.reason.hasPrefix("A backend of generation \(names.rawValue) has no ") == true
            )
        }
    }

    @Test func `a pull continues after the last row with the timestamp's exact text`() throws {
        let keyset = try #require(
            Expression.keyset(after: "2014-03-01T08:00:00.1234567+00:00", id: "O'Neil"))
        let user = try Expression(parsing: "a eq 1 or b eq 2", generation: .mobileApps)
        let query = TableQuery(
            filter: keyset.and(user),
            orderBy: [Ordering(.column(.system(.updatedAt))), Ordering(.column(.id))], top: 50,
            includeDeleted: true)
        let text = try query.text(for: .mobileServices)
        #expect(
            text == """
                $filter=((__updatedAt%20gt%20datetimeoffset'2014-03-01T08:00:00.1234567%2B00:00')\
                %20or%20((__updatedAt%20eq%20datetimeoffset'2014-03-01T08:00:00.1234567%2B00:00')\
                %20and%20(id%20gt%20'O''Neil')))%20and%20((a%20eq%201)%20or%20(b%20eq%202))\
                &$orderby=__updatedAt,id&$top=50&__includeDeleted=true
                """)
        let again = try TableQuery.parse(
            QueryParameter.split(text[...]), generation: .mobileServices)
        #expect(again == query)
        #expect(Expression.keyset(after: "yesterday", id: "1") == nil)
        let numbered = Expression.keyset(after: "2014-03-01T08:00:00Z", id: "7", kind: .integer)
        #expect(
            try numbered?.text(dialect: .v3, names: .mobileApps).hasSuffix("(id gt 7))") == true)
    }

    @Test(arguments: Generation.allCases)
    func `a complete query survives the conversion for a backend`(generation: Generation) throws {
        let query = TableQuery(
            filter: .binary(
                .equal, .column(.user(path: ["text"])), .literal(.string("a+b & 50% 'é' ?$x#"))),
            orderBy: [Ordering(.column(.system(.updatedAt)), descending: true)], top: 5, skip: 7,
            select: [.id, .system(.version), .user(path: ["text"])], count: true,
            includeDeleted: true, nulls: NullComparison(generation))
        let text = try query.text(for: generation)
        #expect(
            try TableQuery.parse(QueryParameter.split(text[...]), generation: generation) == query)
        #expect(text.contains(generation == .datasync ? "$count=true" : "$inlinecount=allpages"))
    }
}
