import Testing

@testable import TablesProtocol

/// The index that a list needs.
@Suite struct IndexShapeTests {
    private func shape(_ query: String, _ generation: Generation = .mobileApps) throws -> [String]?
    {
        let parameters = query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            return QueryParameter(
                name: String(parts[0]), value: String(parts[1]), raw: String(pair))
        }
        return try TableQuery.parse(parameters, generation: generation)
            .indexShape { $0.lowercased() == "complete" ? "Complete" : $0 }?.terms
    }

    @Test(arguments: [
        ("$filter=complete eq false", ["=Complete"]),
        ("$filter=complete", ["=Complete"]),
        ("$filter='x' eq text", ["=text"]),
        ("$filter=text eq null and a/b eq 1.5", ["=a/b", "=text"]),
        ("$filter=price gt 5&$orderby=price desc", ["-price"]),
        ("$filter=user eq 'u' and contains(text,'x')&$orderby=price,id", ["=user", "+price"]),
        (
            "$filter=user eq 'u' and updatedAt ge 2024-01-01T00:00:00Z&$orderby=updatedAt",
            ["=user", "+@updatedAt"]
        ),
        ("$filter=complete eq false&$orderby=updatedAt desc", ["=Complete", "-@updatedAt"]),
        ("$orderby=price,1,complete desc", ["+price", "-Complete"]),
        ("$filter=user eq 'u' and user eq 'v'", ["=user"]),
        ("$filter=user eq 'u' and length(s) gt 1", ["=user"]),
    ])
    func `the keys are the columns compared with one value, then the order`(
        query: String, terms: [String]
    ) throws {
        #expect(try shape(query) == terms)
    }

    @Test(arguments: [
        "$top=5", "$orderby=updatedAt desc", "$orderby=createdAt", "$orderby=id",
        "$filter=price gt 5", "$filter=user ne 'u'", "$filter=user eq 'u' or user eq 'v'",
        "$filter=id eq 'a' and user eq 'u'", "$filter=id gt 'a' and user eq 'u'",
        "$filter=updatedAt gt 2024-01-01T00:00:00Z and user eq 'u'",
        "$filter=updatedAt eq 2024-01-01T00:00:00Z and user eq 'u'&$orderby=updatedAt",
        "$filter=(updatedAt gt 2024-01-01T00:00:00Z or id gt 'a') and user eq 'u'",
        "$filter=user eq 'u'&$orderby=id desc", "$filter=user eq 'u'&$orderby=user",
        "$filter=user eq 'u'&$orderby=length(text)", "$orderby=price,price desc",
        "$filter=user eq 'u'&$orderby=version",
        "$filter=a eq 1 and b eq 1 and c eq 1 and d eq 1 and e eq 1",
        "$filter=due eq 2024-01-01T00:00:00Z", "$filter=user eq 'u\u{0}'",
        "$filter=user eq 'u'&__after=2024-01-01T00:00:00Z",
        "$filter=user eq 'u'&$orderby=year(due)",
    ])
    func `there is no index if a standing index is better, or none can help`(query: String) throws {
        #expect(try shape(query) == nil)
    }

    @Test func `a written index is read back`() throws {
        let terms = ["=a/b", "=Complete", "-price", "+@updatedAt"]
        let shape = try #require(IndexShape(terms: terms))
        #expect(shape.terms == terms)
        #expect(shape.words == ["a/b", "Complete", "price desc", "updatedAt"])
        for broken in [[], ["price"], ["="], ["+@version"], ["*a"]] {
            #expect(IndexShape(terms: broken) == nil, "\(broken)")
        }
    }

    @Test func `an index serves lists with the same conditions and order`() throws {
        let held = try #require(IndexShape(terms: ["=a", "-price"]))
        for terms in [["=a", "-price"], ["=a", "=b", "-price"]] {
            #expect(held.serves(try #require(IndexShape(terms: terms))), "\(terms)")
        }
        for terms in [["=a"], ["=b", "-price"], ["=a", "+price"], ["-price"]] {
            #expect(!held.serves(try #require(IndexShape(terms: terms))), "\(terms)")
        }
    }

    @Test func `the keys are the expressions of filters and orders`() throws {
        let shape = try #require(IndexShape(terms: ["=it's", "-@updatedAt"]))
        let keys = SQLCompiler(ItemSQLSchema()).indexKeys(shape)
        #expect(keys == #"json_extract(columns,'$."it''s"'), stamp DESC, id"#)
        let numbered = SQLCompiler(ItemSQLSchema(hasIntegerIDs: true)).indexKeys(shape)
        #expect(numbered.hasSuffix(", CAST(id AS INTEGER)"))
    }
}
