import Testing

@testable import TablesProtocol

/// Compiled queries against an oracle that does not use SQL.
@Suite struct ODataReferenceTests {
    private static let rows: KeyValuePairs<String, String> = [
        "a": #"{"a":1,"b":"x","due":"2024-01-02T10:00:00+01:00","tags":["x",1,null,true]}"#,
        "b": #"{"a":2.5,"b":"y","due":"2024-01-02","tags":[]}"#,
        "c": #"{"a":"1","b":null,"due":"2024-01-03T00:30:00-01:30","tags":"x","o":{"a":1}}"#,
        "d": #"{"a":true,"b":false,"due":5,"tags":[{"a":1,"tags":["x","y"]},{"a":"x"}]}"#,
        "e": #"{"a":null,"due":null,"tags":null,"o":{"a":"x"}}"#, "f": "{}",
        "g":
            #"{"a":"x y","b":[1],"due":"soon","tags":["x y","2024-01-02T00:00:00Z"],"o":[1]}"#,
        "h":
            #"{"a":{"a":1},"b":0,"due":"1999-12-31T23:00:00-02:00","tags":[[1,"x"],2],"o":{"a":null}}"#,
    ]

    @Test(arguments: NullComparison.allCases)
    func `any filter and its negation find the rows of the oracle`(
        nulls: NullComparison
    ) throws {
        let database = try ODataDatabase(Self.rows)
        let rows = try Self.rows.map { id, text in
            (
                id: id,
                reference: ODataReference(nulls: nulls, row: try JSONText(validating: text).value)
            )
        }
        var found = 0
        for seed in UInt64(1)...4_000 {
            var random = ODataRandom(seed: seed)
            let tree = random.condition(depth: 4)
            for filter in [tree, .unary(.not, tree)] {
                let expected = rows.filter { $0.reference.truth(filter) == true }.map(\.id)
                let ids = try database.ids(filter, nulls: nulls)
                #expect(ids == expected, "seed \(seed): \(filter)")
                if ids != expected { return }
                found += ids.count
            }
        }
        #expect(found > 5_000)
    }

    @Test(
        arguments: [
            ("b ne 'x'", "(b ne 'x') or (b eq null)"), ("'x' ne b", "('x' ne b) or (b eq null)"),
            ("a eq 1 and b ne 'x'", "(a eq 1) and ((b ne 'x') or (b eq null))"),
            ("a gt 1 or b ne 'x'", "(a gt 1) or (b ne 'x') or (b eq null)"),
            ("b ne null", "b ne null"), ("not (startswith(b,'x'))", "not (startswith(b,'x'))"),
            ("not (b eq 'x')", nil), ("a ne b", nil), ("a eq b", nil), ("(a eq 1) eq true", nil),
            ("not (b in ('x'))", nil), ("b in ('x',null)", "(b eq 'x') or (b eq null)"),
        ] as [(String, String?)])
    func `a filter converted for an older generation finds the rows of generation 3`(
        filter: String, asked: String?
    ) throws {
        let tree = try Expression(parsing: filter, generation: .datasync)
        let query = TableQuery(filter: tree, nulls: .decided).translated(for: .mobileApps)
        #expect(try query?.filter?.text(dialect: .v3, names: .mobileApps) == asked)
        #expect(query.map { $0.nulls == .unknown } ?? true)
        let own = TableQuery(filter: tree, nulls: .decided)
        #expect(own.translated(for: .datasync) == own)
    }

    @Test(arguments: [(NullComparison.decided, Generation.mobileApps), (.unknown, .datasync)])
    func `a filter in the dialect of another generation finds the same rows`(
        nulls: NullComparison, generation: Generation
    ) throws {
        let database = try ODataDatabase(Self.rows)
        var count = 0
        for seed in UInt64(1)...3_000 {
            var random = ODataRandom(seed: seed)
            let tree = random.condition(depth: 3)
            // A server's columns are typed, so a value has the type that the filter expects.
            let words = "\(tree)"
            let computed = ["InstantLiteral", "DateLiteral", "year"]
            if computed.contains(where: words.contains) { continue }
            guard
                let translated = TableQuery(filter: tree, nulls: nulls)
                    .translated(for: generation)?.filter
            else { continue }
            count += 1
            let expected = try database.ids(tree, nulls: nulls)
            let ids = try database.ids(translated, nulls: NullComparison(generation))
            #expect(ids == expected, "seed \(seed): \(tree)")
            if ids != expected { return }
        }
        #expect(count > 500)
    }
}
