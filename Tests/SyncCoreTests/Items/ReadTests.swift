import GRDB
import GRDBSQLite
import TablesProtocol
import Testing

@testable import Storage
@testable import SyncCore

@Suite struct ReadTests {
    let fixture: StoreFixture

    init() async throws {
        fixture = try StoreFixture()
        try await fixture.fill(120)
    }

    func page(_ query: String, worker: Int = 0) throws -> ItemPage {
        let query = try TableQuery(odata: query)
        guard case .page(let page) = fixture.list(query, worker: worker) else {
            throw Unexpected()
        }
        return page
    }

    struct Unexpected: Error {}

    @Test func `a plain list is a page in the order of ids and says that more rows follow`() throws
    {
        let page = try page("")
        #expect(page.items.count == 50 && page.hasMore && page.count == nil)
        #expect(page.items.map(\.id.text) == (1...50).map { "r" + String($0 + 1000).dropFirst() })
    }

    @Test func `filter, order, skip, top and count are applied to rows`() throws {
        let page = try page(
            "$filter=done eq true and n gt 20&$orderby=n desc&$skip=1&$top=3&$inlinecount=allpages")
        #expect(page.items.compactMap { $0.columns["n"]?.text } == ["118", "116", "114"])
        #expect(page.count == 50 && page.hasMore)
        #expect(try self.page("$top=0&$inlinecount=allpages").count == 120)
        #expect(try !self.page("$skip=100").hasMore)
    }

    @Test(arguments: ["", " desc"])
    func `a list in the order of change reads the index and sorts nothing`(direction: String)
        async throws
    {
        let query = try TableQuery(
            odata: "$filter=done eq false&$orderby=updatedAt\(direction)&$top=50")
        let todo = fixture.todo
        let steps = try await fixture.store.read { transaction in
            let table = try #require(try transaction.tables.table(todo))
            let page = ItemQuery(query, table: table, pageRows: 50).page
            return try transaction.all(
                "EXPLAIN QUERY PLAN \(page.text)", page.arguments
            ) { $0[3] as String }
        }
        #expect(steps.contains { $0.contains("items_by_stamp") }, "\(steps)")
        #expect(!steps.contains { $0 == "USE TEMP B-TREE FOR ORDER BY" }, "\(steps)")
    }

    private func isPublic() -> Bool { fixture.store.isPublic(fixture.todo, worker: 0) }

    @Test func `a table is public from the commit that makes it so, until it is so no more`()
        async throws
    {
        #expect(!isPublic())
        _ = try await fixture.store.updateTable(fixture.todo) { $0.isPublic = true }
        #expect(isPublic())
        _ = try await fixture.store.updateTable(fixture.todo) { $0.isPublic = false }
        #expect(!isPublic())
    }

    @Test func `a column is found in any case`() throws {
        #expect(try page("$filter=title eq 't3'").items.count == 12)
    }

    @Test func `a first generation client gets the requested number of rows`() throws {
        let outcome = fixture.store.list(
            fixture.store.find(fixture.todo, worker: 0), try TableQuery(odata: "$top=100"),
            generation: .mobileServices)
        guard case .page(let page) = outcome else { throw Unexpected() }
        #expect(page.items.count == 100 && page.hasMore)
    }

    @Test func `deleted items are shown only on request`() async throws {
        try await fixture.delete("r001")
        #expect(try page("$filter=n eq 1").items.isEmpty)
        let shown = try page("$filter=n eq 1&__includeDeleted=true").items
        #expect(shown.count == 1 && shown[0].deleted)
    }

    @Test func `every worker sees a committed write at once`() async throws {
        for worker in 0..<2 {
            #expect(try page("$filter=fresh eq 1", worker: worker).items.isEmpty)
        }
        try await fixture.update("r005", #"{"Fresh":1}"#)
        for worker in 0..<2 {
            #expect(try page("$filter=fresh eq 1", worker: worker).items.count == 1)
        }
    }

    @Test func `reading an unknown table does not create it`() async throws {
        let other = try #require(TableName("other"))
        guard case .unknownTable = fixture.list(TableQuery(), table: other) else {
            throw Unexpected()
        }
        #expect(try await fixture.store.tables().map(\.name) == ["todoitem"])
    }

    @Test func `a query over its budget is cut and succeeds without one`() async throws {
        let terms = (0..<30).map { "indexof(Title,'zz\($0)') eq 1" }
        let slow = try TableQuery(odata: "$filter=" + terms.joined(separator: " or "))
        guard case .page = fixture.list(slow) else { throw Unexpected() }
        try await fixture.fill(2000)
        guard case .overBudget = fixture.list(slow) else { throw Unexpected() }
        // The connection still works.
        #expect(try page("$top=1").items.count == 1)
        let unhurried = fixture.listUnhurried(slow)
        guard case .page(let page) = unhurried else { throw Unexpected() }
        #expect(page.items.isEmpty)
    }

    @Test(arguments: ["", "&$inlinecount=allpages"])
    func `a long list is cut by its time, and when its client has left`(counting: String)
        async throws
    {
        try await fixture.fill(2000)
        let terms = (0..<30).map { "indexof(Title,'zz\($0)') eq 1" }
        let slow = try TableQuery(
            odata: "$filter=" + terms.joined(separator: " or ") + counting)
        fixture.clock.moves(by: .milliseconds(StoreLimits.readMilliseconds / 5))
        guard case .overBudget = fixture.listUnhurried(slow) else { throw Unexpected() }
        // The clock does not advance during a short list.
        #expect(try page("$top=1").items.count == 1)
        fixture.clock.moves(by: .zero)
        guard case .overBudget = fixture.listUnhurried(slow, isAbandoned: { true }) else {
            throw Unexpected()
        }
        guard case .page = fixture.listUnhurried(slow) else { throw Unexpected() }
    }

    @Test(arguments: ["", "&$inlinecount=allpages"])
    func `a reader keeps a bounded number of prepared queries`(counting: String) throws {
        for number in 0..<StorageLimits.keptQueries + 50 {
            _ = try page("$filter=c\(number) eq 1\(counting)")
        }
        let prepared = try fixture.store.readers.access(0) { connection in
            var count = 0
            var statement = unsafe sqlite3_next_stmt(connection.database.sqliteConnection, nil)
            while let next = unsafe statement {
                count += 1
                unsafe statement = sqlite3_next_stmt(
                    connection.database.sqliteConnection, next)
            }
            return count
        }
        // A few statements are the reader's own.
        #expect(prepared <= StorageLimits.keptQueries + 10)
    }

    @Test func `the SDKs' system tables list the open operations`() async throws {
        try await fixture.update("r001", #"{"n":0}"#)
        try await fixture.delete("r002")
        let table = try #require(TableName("MS_TableOperations"))
        guard case .page(let page) = fixture.list(TableQuery(), table: table) else {
            throw Unexpected()
        }
        #expect(page.items.map { $0.columns["itemId"]?.string } == ["r001", "r002"])
        #expect(page.items[0].columns["properties"]?.string == #"{"type":1}"#)
        #expect(page.items[1].columns["properties"]?.string?.contains(#""id":"r002""#) == true)
        try await fixture.push { _ in .quarantined(reason: "No.", maybeApplied: false) }
        let errors = try #require(TableName("MS_TableOperationErrors"))
        guard case .page(let failed) = fixture.list(TableQuery(), table: errors) else {
            throw Unexpected()
        }
        #expect(failed.items.count == 1)
        #expect(
            failed.items[0].columns["properties"]?.string?.contains(#""table":"todoitem""#) == true)
    }
}

extension TableQuery {
    /// Parses a query string of the second generation with unencoded values.
    init(odata: String) throws {
        let parameters = odata.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return QueryParameter(
                name: String(parts[0]), value: String(parts[1]), raw: String(pair))
        }
        self = try TableQuery.parse(parameters, generation: .mobileApps)
    }
}

extension StoreFixture {
    /// Adds rows of the backend, and marks the table as complete.
    func fill(_ count: Int) async throws {
        let rows = try (1...count).map { index in
            try remote(
                "r\(String(index + 1000).dropFirst())",
                #"{"Title":"t\#(index % 10)","n":\#(index),"done":\#(index % 2 == 0)}"#,
                version: "v\(index)")
        }
        let todo = todo
        try await store.write { transaction in
            var table = try transaction.tables.make(todo)
            for row in rows {
                _ = try PulledRows(transaction: transaction).apply(row, to: table, asOf: .max)
            }
            table = try transaction.tables.make(todo)
            table.isComplete = true
            try transaction.tables.save(table)
        }
    }
}
