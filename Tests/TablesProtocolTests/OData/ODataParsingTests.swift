import TablesProtocol
import Testing

/// Filters as the SDKs write them, each against its meaning in one canonical spelling.
@Suite struct ODataParsingTests {
    @Test(arguments: [
        // Precedence and grouping.
        ("a or b and c", "a or (b and c)"),
        ("(a or b) and c", "(a or b) and c"),
        ("((a and b) and c) and (d and e)", "a and b and c and d and e"),
        ("a eq 1 add 2 mul 3", "a eq (1 add (2 mul 3))"),
        ("a sub b sub c eq 0", "((a sub b) sub c) eq 0"),
        ("a mod 2 eq 0 and b", "((a mod 2) eq 0) and b"),
        ("not a eq b", "not (a) eq b"),
        ("not(done) and x eq 1", "not (done) and (x eq 1)"),
        ("not startswith(text,'a')", "not (startswith(text,'a'))"),
        ("not%20(complete)".replacing("%20", with: " "), "not (complete)"),
        ("-x lt 1", "-(x) lt 1"),
        ("a eq -5", "a eq -5"),
        // Shapes of each SDK.
        ("((a gt 1) and (b lt 2))", "(a gt 1) and (b lt 2)"),
        ("(1 eq 1)", "1 eq 1"),
        ("((a eq 1) or (a eq 2))", "(a eq 1) or (a eq 2)"),
        ("(x ge 1) and (x le 9)", "(x ge 1) and (x le 9)"),
        ("(0 sub x)", "0 sub x"),
        ("text eq 'O''Neil'", "text eq 'O''Neil'"),
        ("true eq substringof('a',b)", "true eq substringof('a',b)"),
        ("substringof('a', tolower(text))", "substringof('a',tolower(text))"),
        ("contains(text,'a')", "substringof('a',text)"),
        ("concat(concat(a,', '),b) eq 'x'", "concat(concat(a,', '),b) eq 'x'"),
        ("replace(text,'a','b') eq 'c'", "replace(text,'a','b') eq 'c'"),
        ("ındexof(text,'a') ge 0", "indexof(text,'a') ge 0"),
        ("IndexOf(text,'a') ge 0", "indexof(text,'a') ge 0"),
        ("TOLOWER(text) EQ 'a'", "tolower(text) eq 'a'"),
        ("year(due) eq 2014 and round(price) eq 2", "(year(due) eq 2014) and (round(price) eq 2)"),
        ("a/b/c eq null", "a/b/c eq null"),
        ("a-b eq a-c", "a-b eq a-c"),
        ("  ( a\teq\n1 )  ", "a eq 1"),
        ("a eq 1 or\u{20}b", "(a eq 1) or b"),
        // Numbers.
        ("a eq 42L", "a eq 42L"), ("a eq 42l", "a eq 42L"), ("a eq 42M", "a eq 42M"),
        ("a eq 1.5m", "a eq 1.5M"), ("a eq 1.5f", "a eq 1.5f"), ("a eq 1F", "a eq 1f"),
        ("a eq 1.5d", "a eq 1.5d"), ("a eq 1.0", "a eq 1.0"), ("a eq 1e10", "a eq 1e10"),
        ("a eq 1.5E-3", "a eq 1.5E-3"), ("a eq 1.5e+3", "a eq 1.5e+3"), ("a eq 2A", "a eq 42"),
        ("a gt 1e+06f", "a gt 1e+06f"), ("a eq 1e+06d", "a eq 1e+06d"), ("a eq 1e+6", "a eq 1e+6"),
        ("a eq 1E+20", "a eq 1E+20"), ("a eq 1E", "a eq 30"),
        ("a eq 99999999999999999999", "a eq 99999999999999999999"),
        // Dates, GUIDs, bytes.
        ("a eq datetime'2013-01-01T00:00:00.000Z'", "a eq datetime'2013-01-01T00:00:00.000Z'"),
        (
            "a eq datetimeoffset'2013-01-01T00:00:00.0000000+00:00'",
            "a eq datetimeoffset'2013-01-01T00:00:00.0000000+00:00'"
        ),
        (
            "a eq datetimeoffset'2013-01-01T00:00:00.0000000 00:00'",
            "a eq datetimeoffset'2013-01-01T00:00:00.0000000+00:00'"
        ),
        (
            "a gt cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset)",
            "a gt datetimeoffset'2024-08-23T20:22:54.291Z'"
        ),
        (
            "a gt cast('2024-08-23T20:22:54.291Z','Edm.DateTimeOffset')",
            "a gt datetimeoffset'2024-08-23T20:22:54.291Z'"
        ),
        ("a gt 2024-08-23T20:22:54.291Z", "a gt datetimeoffset'2024-08-23T20:22:54.291Z'"),
        ("a eq cast(2023-12-15,Edm.Date)", "a eq datetime'2023-12-15T00:00:00.000Z'"),
        ("a eq 2023-12-15", "a eq datetime'2023-12-15T00:00:00.000Z'"),
        (
            "a eq guid'0F8FAD5B-D9CB-469F-A165-70867728950E'",
            "a eq guid'0F8FAD5B-D9CB-469F-A165-70867728950E'"
        ),
        (
            "a eq cast(0f8fad5b-d9cb-469f-a165-70867728950e,Edm.Guid)",
            "a eq guid'0f8fad5b-d9cb-469f-a165-70867728950e'"
        ),
        (
            "a eq df8fad5b-d9cb-469f-a165-70867728950e",
            "a eq guid'df8fad5b-d9cb-469f-a165-70867728950e'"
        ),
        ("a eq X'00fF'", "a eq X'00FF'"), ("a eq binary'00FF'", "a eq X'00FF'"),
        ("a eq Sales.Pattern'Yellow'", "a eq 'Yellow'"),
        // Lists; the toolkit's client does not double quotes in them.
        ("a in ('x','y')", "(a eq 'x') or (a eq 'y')"),
        ("a in ('O'Neil', '', 'O''Hara' )", "(a eq 'O''Neil') or (a eq '') or (a eq 'O''Hara')"),
        ("a in (1,2) and b", "((a eq 1) or (a eq 2)) and b"),
        ("booleanValue", "booleanValue"),
    ])
    func `a filter is parsed as the expected tree`(filter: String, meaning: String) throws {
        let tree = try Expression(parsing: filter, generation: .mobileApps)
        #expect(try tree.text(dialect: .v3, names: .mobileApps) == meaning)
    }

    @Test(arguments: [
        ("__updatedAt", Generation.mobileServices, Expression.Column.system(.updatedAt)),
        ("__CREATEDAT", .mobileServices, .system(.createdAt)),
        ("updatedAt", .mobileServices, .user(path: ["updatedAt"])),
        ("updatedAt", .mobileApps, .system(.updatedAt)),
        ("UpdatedAt", .mobileApps, .system(.updatedAt)),
        ("__updatedAt", .mobileApps, .user(path: ["__updatedAt"])),
        ("createdAt", .mobileApps, .system(.createdAt)),
        ("createdAt", .datasync, .user(path: ["createdAt"])),
        ("deleted", .datasync, .system(.deleted)),
        ("ID", .mobileServices, .id),
        ("id/x", .mobileApps, .user(path: ["id", "x"])),
        ("größe", .mobileApps, .user(path: ["größe"])),
        ("or", .mobileApps, .user(path: ["or"])),
    ])
    func `a name is a column of its generation`(
        name: String, generation: Generation, column: Expression.Column
    ) throws {
        #expect(try Expression(parsing: name, generation: generation) == .column(column))
    }

    @Test(arguments: [
        ("text eq", 7, "Expression expected but found the end"),
        ("((text eq 'a'", 13, "Expected ')' but found the end"),
        ("a eq 1)", 6, "Unexpected ')'"),
        ("", 0, "Expression expected but found the end"),
        ("é eq 'a", 6, "Unterminated string"),
        ("a + 1", 2, "Unexpected character '+'"),
        ("a eq é😀 §", 12, "Unexpected '§'"),
        ("a eq 1 b", 7, "Unexpected 'b'"),
        ("a - 1", 2, "Unexpected '-'"),
        ("a eq 12x", 5, "'12x' is not a valid number"),
        ("a eq 1.", 5, "'1.' is not a valid number"),
        ("a eq 1e", 5, "'1e' is not a valid number"),
        ("a eq 1E+", 5, "'1E+' is not a valid number"),
        ("a eq 1.5L", 5, "'1.5L' is not a valid number"),
        ("a eq 1'x'", 5, "'1' is not a valid number"),
        (
            "a eq datetime'2013-13-01T00:00:00Z'", 5,
            "'2013-13-01T00:00:00Z' is not a valid datetime"
        ),
        ("a eq 2013-02-30", 5, "'2013-02-30' is not a valid date"),
        ("a eq 25:00", 5, "'25:00' is not a valid time"),
        ("a eq guid'123'", 5, "'123' is not a valid guid"),
        ("a eq X'0'", 5, "'0' is not a valid x"),
        ("length(a,b) eq 1", 0, "'length' takes 1 arguments, not 2"),
        ("substring(a)", 0, "'substring' takes 2 to 3 arguments, not 1"),
        ("length()", 0, "'length' takes 1 arguments, not 0"),
        ("cast('x',Edm.Guid)", 0, "The constant is not a valid Edm.Guid"),
        ("a in ('x',b)", 10, "A list may hold constants only"),
        ("a in ()", 6, "Expression expected but found ')'"),
        ("a/ eq 1", 6, "Unexpected a constant"),
        ("a/1", 2, "Expected a name but found a constant"),
        ("a.b eq 1", 0, "'a.b' is not the name of a column"),
    ])
    func `an invalid filter is refused with its position`(
        filter: String, position: Int, reason: String
    ) {
        #expect(throws: ODataError(option: "$filter", reason: reason, position: position)) {
            try Expression(parsing: filter, generation: .mobileApps)
        }
    }

    @Test(arguments: [
        ("nosuchfn(text) eq 1", 0, "Unknown function 'nosuchfn'"),
        ("date(due) eq 2024-01-02", 0, "Unknown function 'date'"),
        ("due lt now()", 7, "Unknown function 'now'"),
        ("isof(a,Edm.String)", 0, "Unknown function 'isof'"),
        ("geo.distance(a,geography'POINT(1 2)') lt 1", 15, "Unknown kind of constant 'geography'"),
        ("a eq duration'P1D'", 5, "Unknown kind of constant 'duration'"),
        ("a has 4", 2, "The operator 'has' is not supported"),
        ("a eq 1 and b has Ns.Color'Red'", 13, "The operator 'has' is not supported"),
        ("tags/any()", 5, "'any' over a collection is not supported"),
        ("tags/all(t: t eq 'x')", 5, "'all' over a collection is not supported"),
        ("tags/$count(a)", 5, "'$count' over a collection is not supported"),
        ("t in tags", 5, "'in' over a collection is not supported"),
        ("a eq $it/b", 5, "'$it' is not supported"),
        ("case(a:1,true:2) eq 1", 0, "Unknown function 'case'"),
        ("cast(a,Edm.String) eq '1'", 0, "'cast' of anything but a constant is not supported"),
        ("cast(1,Edm.Stream)", 7, "Unknown type 'Edm.Stream'"),
    ])
    func `what is not evaluated here is left to the backend, in its own words`(
        filter: String, position: Int, reason: String
    ) throws {
        let error = ODataError(
            option: "$filter", reason: reason, position: position, isUnsupported: true)
        #expect(throws: error) { try Expression(parsing: filter, generation: .datasync) }
        let pair = QueryParameter(name: "$filter", value: filter, raw: "")
        let order = QueryParameter(name: "$orderby", value: "text desc", raw: "")
        #expect(throws: error) { try TableQuery.parse([pair, order], generation: .datasync) }
        let query = try TableQuery.parse([pair, order], generation: .datasync, keepsBeyond: true)
        #expect(query.beyond?.reason == error && query.filter == nil)
        #expect(query.translated(for: .datasync) == query)
        #expect(
            try query.text(for: .datasync)
                == "$filter=\(QueryParameter.encoded(filter))&$orderby=text%20desc")
        for other in [Generation.mobileServices, .mobileApps] {
            #expect(query.translated(for: other) == nil)
            #expect(throws: error) { try query.text(for: other) }
        }
    }

    @Test func `an order that is not evaluated here keeps its words, and a filter its meaning`()
        throws
    {
        let pairs = [("$filter", "a eq 1"), ("$orderby", "geo.length(a) desc")].map {
            QueryParameter(name: $0, value: $1, raw: "")
        }
        var query = try TableQuery.parse(pairs, generation: .mobileApps, keepsBeyond: true)
        query.orderBy.append(Ordering(.column(.id)))
        #expect(
            try query.text(for: .mobileApps)
                == "$filter=a%20eq%201&$orderby=geo.length(a)%20desc,id")
    }

    @Test func `a filter over a limit is refused with its position`() throws {
        func failure(_ filter: String) -> ODataError? {
            #expect(throws: ODataError.self) {
                try Expression(parsing: filter, generation: .mobileApps)
            }
        }
        func tower(_ count: Int) -> String {
            String(repeating: "(", count: count) + "a" + String(repeating: ")", count: count)
        }
        func nots(_ count: Int) -> String { String(repeating: "not ", count: count) + "a" }
        func list(_ count: Int) -> String {
            "a in (\((0..<count).map(String.init).joined(separator: ",")))"
        }
        #expect(
            try Expression(parsing: tower(Limits.openParentheses), generation: .mobileApps)
                == .column(.user(path: ["a"])))
        #expect(failure(tower(Limits.openParentheses + 1))?.position == Limits.openParentheses)
        #expect(failure(tower(Limits.optionBytes / 2 - 1))?.position == Limits.openParentheses)
        func calls(_ count: Int) -> String {
            String(repeating: "tolower(", count: count) + "a" + String(repeating: ")", count: count)
        }
        #expect(failure(calls(Limits.expressionNesting + 1))?.reason.contains("nested") == true)
        #expect(failure(String(repeating: "-(", count: 8_000)) != nil)
        #expect(failure(String(repeating: "not (", count: 8_000)) != nil)
        _ = try Expression(parsing: nots(Limits.expressionDepth - 1), generation: .mobileApps)
        #expect(failure(nots(Limits.expressionDepth))?.position == 0)
        _ = try Expression(parsing: list(Limits.listItems), generation: .mobileApps)
        #expect(
            failure(list(Limits.listItems + 1))?.reason == "The list has more than 1000 elements")
        let long = "a eq '" + String(repeating: "x", count: Limits.optionBytes)
        #expect(failure(long)?.position == Limits.optionBytes)
    }

    @Test func `a long chain is not deep, however it is grouped`() throws {
        let count = 1_000
        let comparisons = (0..<count).map { "(a eq \($0))" }
        let flat = comparisons.joined(separator: " or ")
        let left = comparisons.dropFirst().reduce(comparisons[0]) { "(\($0) or \($1))" }
        let right = comparisons.dropLast().reversed().reduce(comparisons[count - 1]) {
            "(\($1) or \($0))"
        }
        let tree = try Expression(parsing: flat, generation: .mobileApps)
        #expect(try Expression(parsing: left, generation: .mobileApps) == tree)
        #expect(try Expression(parsing: right, generation: .mobileApps) == tree)
        guard case .logical(.or, let operands) = tree else { return #expect(Bool(false)) }
        #expect(operands.count == count)
    }

    @Test func `an order is parsed as its terms`() throws {
        let order = try Ordering.parse("text desc, id ,length(text) ASC", generation: .mobileApps)
        #expect(
            order == [
                Ordering(.column(.user(path: ["text"])), descending: true), Ordering(.column(.id)),
                Ordering(.call(.length, [.column(.user(path: ["text"]))])),
            ])
        #expect(try Ordering.parse(" ", generation: .mobileApps).isEmpty)
    }

    @Test(arguments: [
        ("text up", 5, "Expected 'asc', 'desc' or ',' but found 'up'"),
        ("text desc desc", 10, "Expected 'asc', 'desc' or ',' but found 'desc'"),
        ("text,", 5, "Expression expected but found the end"),
        ("text) desc", 4, "Expected 'asc', 'desc' or ',' but found ')'"),
    ])
    func `an invalid order is refused with its position`(
        order: String, position: Int, reason: String
    ) {
        #expect(throws: ODataError(option: "$orderby", reason: reason, position: position)) {
            try Ordering.parse(order, generation: .mobileApps)
        }
    }

    @Test func `no input crashes the parser`() {
        let pieces = [
            "(", ")", "'", "''", ",", "/", "-", " ", "a", "é", "\u{0}", "0", "1.5", "e", "L", "eq",
            "and",
            "or", "not", "in", "in (", "cast(", "Edm.Guid", "substringof(", "datetime'", "guid'",
            "X'",
            "2013-01-01", "T00:00:00", "Z", ":", ".", "+", "null", "true", "length(", "%", "😀",
            "\t", "$count", "x:", "x", "[", "*",
        ]
        var trees = 0
        for seed in UInt64(1)...20_000 {
            var random = ODataRandom(seed: seed)
            let count = Int.random(in: 0..<14, using: &random)
            let separator = random.pick(["", " "])
            let text = (0..<count).map { _ in random.pick(pieces) }.joined(separator: separator)
            let generation = random.pick(Generation.allCases)
            do {
                let tree = try Expression(parsing: text, generation: generation)
                _ = SQLCompiler(ItemSQLSchema()).filter(tree)
                trees += 1
            } catch {
                #expect((0...text.utf8.count).contains(error.position), "seed \(seed): \(text)")
            }
        }
        #expect(trees > 500)
    }
}
