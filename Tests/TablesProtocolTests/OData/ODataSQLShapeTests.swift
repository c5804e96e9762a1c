import TablesProtocol
import Testing

/// SQLite's plans and limits for compiled queries.
@Suite struct ODataSQLShapeTests {
    @Test func `indexes serve the most frequent queries`() throws {
        let database = try ODataDatabase(["a": "{}"])
        #expect(try database.plan("complete eq false").contains("USING INDEX complete (<expr>=?)"))
        #expect(try database.plan("complete eq 'x'").contains("USING INDEX complete (<expr>=?)"))
        #expect(try database.plan("complete gt 5").contains("USING INDEX ordered (<expr>>?)"))
        #expect(try database.plan("complete lt 1.5").contains("USING INDEX ordered (<expr><?)"))
        #expect(
            try database.plan("complete in ('x','y')").contains("USING INDEX complete (<expr>=?)"))
        #expect(
            try database.plan(
                "cast(2020-01-01T00:00:00Z,Edm.DateTimeOffset) lt updatedAt", generation: .datasync
            ).contains("stamps (stamp>?)"))
        for filter in ["complete eq false", "complete eq 'x'", "complete eq null"] {
            #expect(
                try database.plan(filter, generation: .datasync).contains(
                    "USING INDEX complete (<expr>=?)"), "\(filter)")
        }
        #expect(
            try database.plan("updatedAt gt datetimeoffset'2020-01-01T00:00:00.0000001Z'")
                .contains("stamps (stamp>?)"))
    }

    @Test func `long chains and lists run`() throws {
        let database = try ODataDatabase(["a": #"{"s":"x2500","n":2500}"#])
        let ids = (2_000..<3_000).map { "(n eq \($0))" }
        let left = ids.dropFirst().reduce(ids[0]) { "(\($0) or \($1))" }
        let right = ids.dropLast().reversed().reduce(ids[999]) { "(\($1) or \($0))" }
        for filter in [left, right, "\(left) and s ne null", "not (\(right)) eq false"] {
            #expect(try database.ids(filter) == ["a"])
        }
        let chain = (0...2_600).map { "n eq \($0)" }.joined(separator: " or ")
        #expect(try database.ids(chain) == ["a"])
        let list = (1_600..<2_600).map { "'x\($0)'" }.joined(separator: ",")
        #expect(try database.ids("s in (\(list))") == ["a"])
    }

    @Test func `the deepest trees run`() throws {
        let database = try ODataDatabase(["a": #"{"s":"a","n":1,"b":true}"#])
        let depth = Limits.expressionDepth
        func nested(_ count: Int, _ leaf: String, _ wrap: (String) -> String) -> String {
            (0..<count).reduce(leaf) { text, _ in wrap(text) }
        }
        for (leaf, wrap) in [
            ("b", { "not (\($0))" }), ("s", { "tolower(\($0))" }),
            ("s", { "replace('a','b',\($0))" }),
            ("s", { "substring('abc',0,length(\($0)))" }), ("n", { "(1 add \($0))" }),
            ("n", { "-(\($0))" }),
            ("n", { "(2 sub (1 mul \($0)))" }), ("b", { "(b and (b or \($0)))" }),
            ("b", { "(true eq \($0))" }), ("b", { "(b ne not \($0))" }),
            ("s", { "concat('a',\($0))" }),
            ("b", { "(n eq 1 or s eq 'x' and (\($0)))" }), ("n", { "round(1 mod \($0))" }),
            ("s", { "concat(s,concat(s,\($0)))" }), ("b", { "(n eq 1) eq (\($0) eq n)" }),
            ("n", { "(\($0) divby 2)" }), ("n", { "year(\($0))" }),
        ] as [(String, (String) -> String)] {
            // The maximum depth of the parser, as an operand and as a condition.
            for whole in ["(LEAF) eq null", "not ((LEAF) ne n)"] {
                let deepest = (1...depth).map { nested($0, leaf, wrap) }
                    .map { whole.replacing("LEAF", with: $0) }
                    .last { (try? Expression(parsing: $0, generation: .mobileApps)) != nil }
                let text = try #require(deepest)
                for generation in [Generation.mobileApps, .datasync] {
                    #expect(throws: Never.self, "\(text)") {
                        _ = try database.ids(text, generation: generation)
                    }
                }
            }
        }
    }

    @Test func `any tree runs, and not swaps true and false and keeps null`() throws {
        let database = try ODataDatabase([
            "a":
                #"{"text":"a😀","complete":true,"a-b":1.5,"_x":null,"year":"2013-01-01T00:00:00.000Z","tags":["a",1,null,{"n":2,"tags":[1]}]}"#,
            "b":
                #"{"text":"\u0000","complete":0,"a-b":{"text":7},"X":"09:52:35.321","eq":[1],"items":[],"tags":"a"}"#,
        ])
        var seen: Set<Bool?> = []
        for seed in UInt64(1)...1_500 {
            var random = ODataRandom(seed: seed)
            let generation = random.pick(Generation.allCases)
            let tree = random.tree(Dialect(generation), generation, depth: 5)
            for id in ["a", "b"] {
                let value = try database.truth(tree, id: id)
                let inverse = try database.truth(.unary(.not, tree), id: id)
                #expect(inverse == value.map { !$0 }, "seed \(seed): \(tree)")
                seen.insert(value)
            }
            let order = SQLCompiler(ItemSQLSchema()).ordering([Ordering(tree)])
            #expect(order.text.hasSuffix("id"), "seed \(seed)")
        }
        #expect(seen == [true, false, nil])
    }

    @Test func `in generation 3 either a comparison or its opposite is true`() throws {
        let database = try ODataDatabase([
            "a": #"{"text":"a","a-b":1.5,"_x":null,"year":"2013-01-01T00:00:00.000Z"}"#, "b": "{}",
        ])
        let comparisons: [Expression.BinaryOperator] = [
            .equal, .notEqual, .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual,
        ]
        for seed in UInt64(1)...1_000 {
            var random = ODataRandom(seed: seed)
            let (left, right) = (
                random.tree(.v4, .datasync, depth: 3), random.tree(.v4, .datasync, depth: 3)
            )
            let test = Expression.binary(random.pick(comparisons), left, right)
            let found = try database.ids(test, nulls: .decided)
            let others = try database.ids(.unary(.not, test), nulls: .decided)
            #expect((found + others).sorted() == ["a", "b"], "seed \(seed): \(test)")
        }
    }

    @Test func `an order by a system timestamp uses an index`() {
        let compiler = SQLCompiler(ItemSQLSchema())
        let created = Ordering(.column(.system(.createdAt)), descending: true)
        #expect(compiler.ordering([created]).text == "created_at DESC, id")
        let changed = Ordering(.column(.system(.updatedAt)))
        #expect(compiler.ordering([changed, Ordering(.column(.id))]).text == "stamp, id")
    }
}
