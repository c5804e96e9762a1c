import Testing

@testable import TablesProtocol

/// The indexes of a table's settings, and the lists that they serve.
@Suite struct IndexShapeTests {
    private func query(_ text: String) throws -> TableQuery {
        let parameters = text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            return QueryParameter(
                name: String(parts[0]), value: String(parts[1]), raw: String(pair))
        }
        return try TableQuery.parse(parameters, generation: .mobileApps)
    }

    /// How many columns of an index a list holds to one value; nil where the index does not serve it.
    private func held(_ list: String, by index: String) throws -> Int? {
        let shape = try #require(IndexShape(index))
        return try query(list).indexedList { $0.lowercased() == "complete" ? "Complete" : $0 }?
            .constants(in: shape)?.count
    }

    @Test(arguments: [
        ("$filter=complete eq false", "Complete", 1), ("$filter=complete", "Complete desc", 1),
        ("$filter='x' eq text", "text", 1), ("$filter=text eq null and a/b eq 1.5", "a/b,text", 2),
        ("$filter=price gt 5&$orderby=price desc", "price desc", 0),
        ("$filter=user eq 'u' and contains(text,'x')&$orderby=price,id", "user,price", 1),
        ("$filter=user eq 'u' and contains(text,'x')&$orderby=price,id", "price", 0),
        (
            "$filter=user eq 'u' and updatedAt ge 2024-01-01T00:00:00Z&$orderby=updatedAt",
            "user,updatedAt", 1
        ),
        ("$filter=complete eq false&$orderby=updatedAt desc", "Complete,updatedAt desc", 1),
        ("$orderby=price,1,complete desc", "price,Complete desc", 0),
        ("$filter=user eq 'u' and user eq 'v'", "user", 1),
        ("$filter=user eq 'u'&$orderby=user", "user", 1),
    ])
    func `an index serves a list whose order follows the columns that must equal one value`(
        list: String, index: String, count: Int
    ) throws {
        #expect(try held(list, by: index) == count)
    }

    @Test(arguments: [
        ("$filter=a eq 1", "b"), ("$orderby=price", "price desc"), ("$orderby=price", "a,price"),
        ("$filter=a eq 1&$orderby=b", "b,a"), ("$filter=price gt 5", "price"),
        ("$filter=user ne 'u'", "user"), ("$filter=user eq 'u' or user eq 'v'", "user"),
        ("$filter=id eq 'a' and user eq 'u'", "user"),
        ("$filter=updatedAt gt 2024-01-01T00:00:00Z and user eq 'u'", "user"),
        ("$filter=updatedAt eq 2024-01-01T00:00:00Z and a eq 1&$orderby=updatedAt", "a,updatedAt"),
        ("$filter=(updatedAt gt 2024-01-01T00:00:00Z or id gt 'a') and user eq 'u'", "user"),
        ("$filter=user eq 'u'&$orderby=id desc", "user"),
        ("$filter=user eq 'u'&$orderby=length(text)", "user"),
        ("$filter=due eq 2024-01-01T00:00:00Z", "due"), ("$filter=user eq 'u\u{0}'", "user"),
        ("$filter=user eq 'u'&__after=2024-01-01T00:00:00Z", "user"),
        ("$orderby=year(due)", "due"),
    ])
    func `an index does not serve other lists`(list: String, index: String) throws {
        #expect(try held(list, by: index) == nil)
    }

    @Test(arguments: [
        ("$filter=complete eq false", "Complete"), ("$filter='x' eq text", "text"),
        ("$orderby=price desc", "price desc"),
        ("$filter=b eq 1 and a eq 'x' and c gt 5&$orderby=updatedAt desc", "a,b,updatedAt desc"),
        ("$filter=complete&$orderby=complete,price", "Complete,price"),
        ("$orderby=updatedAt", nil), ("$top=1", nil), ("$filter=price gt 5", nil),
        ("$filter=a eq 1 and b eq 2 and c eq 3&$orderby=d,e", nil), ("$orderby=year(due)", nil),
    ])
    func `the index that a list needs has the columns of one value and then those of its order`(
        list: String, index: String?
    ) throws {
        let needed = try query(list).indexedList {
            $0.lowercased() == "complete" ? "Complete" : $0
        }?.shape
        #expect(needed?.text == index)
        if let needed { #expect(try held(list, by: needed.text) != nil) }
    }

    @Test func `the text of an index is read and written`() throws {
        for (text, written) in [
            ("text", "text"), ("price desc", "price desc"),
            ("a/b asc , Price desc", "a/b,Price desc"),
            ("complete,updatedAt desc", "complete,updatedAt desc"),
        ] {
            #expect(IndexShape(text)?.text == written)
            #expect(IndexShape(written)?.text == written)
        }
        for wrong in [
            "", "id", "a,id", "updatedAt", "createdAt desc", "version", "a,a", "length(a)", "a b c",
            "a,b,c,d,e", "5", "a,5", "a eq 1", "it's",
        ] {
            #expect(IndexShape(wrong) == nil, "\(wrong)")
        }
    }

    @Test func `the keys are the expressions of orders`() throws {
        let shape = try #require(IndexShape("Price,updatedAt desc"))
        let keys = SQLCompiler(ItemSQLSchema()).indexKeys(shape)
        let price = #"json_extract(columns,'$."Price"')"#
        #expect(
            keys == """
                CASE WHEN \(price) BETWEEN '/' AND ':' THEN odata_ordered(\(price)) ELSE \(price) END, \
                stamp DESC, id
                """)
        let numbered = SQLCompiler(ItemSQLSchema(hasIntegerIDs: true)).indexKeys(shape)
        #expect(numbered.hasSuffix(", CAST(id AS INTEGER)"))
    }
}
