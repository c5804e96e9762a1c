import TablesProtocol
import Testing

@testable import Backend

/// Tables in which each user has items of their own.
@Suite struct OwnerTests {
    private let table = TableOptions(ownerColumn: "owner")
    private var name: TableName { get throws { try #require(TableName("todos")) } }

    private func fields(_ user: String) throws -> [String: String] {
        ["X-ZUMO-AUTH": try SiteUnderTest.token(.own, ["sub": .string(user)])]
    }

    /// Whether an answer has a row's version; the weak ETag of Express is a hash of the answer's own text.
    private func showsVersion(_ answer: Client.Answer) -> Bool {
        answer.field("ETag").map { !$0.hasPrefix("W/") } ?? false
    }

    /// A backend in which Ana has the item `a`.
    private func client(_ flavour: BackendFlavour = .mobileApps) throws -> Client {
        let client = try SiteUnderTest.client(table, flavour)
        let answer = try client.send(
            "POST", "/tables/todos", #"{"id":"a","text":"hers"}"#, fields("ana"))
        #expect(answer.status == 201, "\(answer.text)")
        return client
    }

    @Test(arguments: BackendFlavour.allCases)
    func `another user neither sees nor changes an item by any verb`(
        flavour: BackendFlavour
    ) throws {
        let client = try client(flavour)
        let before = try client.backend.storage.rows(in: name)
        let bob = try fields("bob")
        let list = try client.send("GET", "/tables/todos", nil, bob)
        #expect(list.status == 200 && list.ids.isEmpty, "\(list.text)")
        let filters = ["owner eq 'ana'", "owner ne 'bob'", "true or owner eq 'ana'", "id eq 'a'"]
        for filter in filters {
            let escaped = filter.replacing(" ", with: "%20").replacing("'", with: "%27")
            let answer = try client.send("GET", "/tables/todos?$filter=\(escaped)", nil, bob)
            #expect(!answer.text.contains("hers"), "\(filter) \(answer.text)")
        }
        let ana = try fields("ana")
        var counts: Set<Int64> = []
        for count in ["$inlinecount=allpages", "$count=true", "$top=0&$inlinecount=allpages"] {
            for more in ["", "&$filter=id%20eq%20%27a%27", "&__includeDeleted=true", "&$skip=0"] {
                let answer = try client.send("GET", "/tables/todos?\(count)\(more)", nil, bob)
                #expect(answer.ids.isEmpty, "\(count)\(more) \(answer.text)")
                let said = answer.json["count"]?.integer ?? 0
                #expect(said == 0, "\(count)\(more) \(answer.text)")
                let own = try client.send("GET", "/tables/todos?\(count)\(more)", nil, ana)
                counts.formUnion([own.json["count"]?.integer].compactMap { $0 })
            }
        }
        // One of the requests asks this flavour for a count.
        #expect(counts == [1])
        let head = try client.send("HEAD", "/tables/todos/a", nil, bob)
        #expect(head.status >= 400 && !showsVersion(head), "\(head.status)")
        let requests: [(String, String, String?)] = [
            ("GET", "/tables/todos/a", nil), ("PATCH", "/tables/todos/a", #"{"text":"his"}"#),
            ("PUT", "/tables/todos/a", #"{"id":"a","text":"his"}"#),
            ("DELETE", "/tables/todos/a", nil), ("POST", "/tables/todos/a", nil),
            ("PATCH", "/tables/todos", #"{"id":"a","text":"his"}"#),
            ("DELETE", "/tables/todos?$filter=text%20eq%20%27hers%27", nil),
            ("POST", "/tables/todos", #"{"id":"a","text":"his"}"#),
        ]
        for (method, target, body) in requests {
            // A wrong version must not bring the row of another user with its conflict.
            let conflict = try client.send(
                method, target, body, bob.merging(["If-Match": "\"AAAA\""]) { $1 })
            #expect(conflict.status >= 400 && !conflict.text.contains("hers"), "\(conflict.text)")
            #expect(!showsVersion(conflict))
            let answer = try client.send(method, target, body, bob)
            #expect(answer.status >= 400, "\(method) \(target) \(answer.status) \(answer.text)")
            #expect(!answer.text.contains("hers"), "\(method) \(target) \(answer.text)")
            #expect(!showsVersion(answer))
            // The first generation looks at the method before.
            let anonymous = try client.send(method, target, body).status
            #expect(anonymous == 401 || flavour == .mobileServices && anonymous >= 400)
        }
        #expect(try client.backend.storage.rows(in: name) == before)
        #expect(try client.send("GET", "/tables/todos", nil, fields("ana")).ids == ["a"])
    }

    @Test(arguments: [BackendFlavour.mobileApps, .node, .datasync])
    func `another user does not bring back a deleted item`(flavour: BackendFlavour) throws {
        let client = try client(flavour)
        #expect(try client.send("DELETE", "/tables/todos/a", nil, fields("ana")).status < 300)
        let before = try client.backend.storage.rows(in: name)
        #expect(before.map(\.deleted) == [true])
        let bob = try fields("bob")
        for (method, target, body) in [
            ("POST", "/tables/todos/a", nil), ("DELETE", "/tables/todos/a", nil),
            ("PATCH", "/tables/todos/a", #"{"deleted":false}"#),
            ("PUT", "/tables/todos/a", #"{"id":"a","deleted":false}"#),
            ("POST", "/tables/todos", #"{"id":"a","text":"his"}"#),
        ] {
            let answer = try client.send(method, target, body, bob)
            #expect(
                answer.status >= 400 && !answer.text.contains("hers"), "\(method) \(answer.text)")
        }
        let list = try client.send(
            "GET", "/tables/todos?__includeDeleted=true&$count=true", nil, bob)
        #expect(list.ids.isEmpty && !list.text.contains("hers"), "\(list.text)")
        #expect(try client.backend.storage.rows(in: name) == before)
    }

    @Test(arguments: ["owner", "OWNER", "Owner"])
    func `no client gives an item to another user`(spelling: String) throws {
        let client = try client()
        let ana = try fields("ana")
        let inserted = try client.send(
            "POST", "/tables/todos", #"{"id":"b","\#(spelling)":"bob"}"#, ana)
        #expect(inserted.status == 201, "\(inserted.text)")
        for (method, body) in [
            ("PATCH", #"{"\#(spelling)":"bob","text":"x"}"#),
            ("PUT", #"{"id":"a","\#(spelling)":"bob","text":"x"}"#),
            ("PUT", #"{"id":"a","text":"x"}"#),
        ] {
            let answer = try client.send(method, "/tables/todos/a", body, ana)
            #expect(answer.status == 200, "\(answer.text)")
        }
        let rows = try client.backend.storage.rows(in: name)
        #expect(rows.count == 2)
        for row in rows {
            let owners = row.columns.all.filter { $0.name.lowercased() == "owner" }
            #expect(owners.map(\.value.string) == ["ana"], "\(row.columns.text)")
        }
        #expect(try client.send("GET", "/tables/todos", nil, fields("bob")).ids.isEmpty)
        #expect(try client.send("GET", "/tables/todos", nil, ana).ids == ["a", "b"])
    }

    @Test func `two forms of one letter are two users`() throws {
        let client = try SiteUnderTest.client(table)
        let one = try fields("\u{E9}")
        let other = try fields("e\u{301}")
        #expect(try client.send("POST", "/tables/todos", #"{"id":"a"}"#, one).status == 201)
        let before = try client.backend.storage.rows(in: name)
        for (method, body) in [
            ("GET", nil), ("PATCH", #"{"text":"his"}"#), ("DELETE", nil), ("POST", nil),
        ] {
            #expect(try client.send(method, "/tables/todos/a", body, other).status == 404)
        }
        #expect(try client.backend.storage.rows(in: name) == before)
        #expect(try client.send("GET", "/tables/todos/a", nil, one).status == 200)
    }

    @Test func `users of two issuers with one name are two users`() throws {
        let client = try client()
        for (signer, count) in [(SiteUnderTest.Signer.own, 1), (.rsa, 0), (.curve, 0)] {
            let answer = try client.send(
                "GET", "/tables/todos", nil, ["X-ZUMO-AUTH": SiteUnderTest.token(signer)])
            #expect(answer.ids.count == count, "\(signer)")
        }
    }
}
