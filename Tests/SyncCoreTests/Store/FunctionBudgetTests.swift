import TablesProtocol
import Testing

@testable import SyncCore

/// The text functions of a query count in its budget, because SQLite's steps alone
/// would not exhaust it.
struct FunctionBudgetTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    struct Unexpected: Error {}

    /// Fills a complete table with this many rows of one text.
    private func fill(rows: Int, text: String) async throws {
        try await fixture.fill(1)
        for row in 2...max(2, rows) {
            try await fixture.pull(
                try fixture.remote("r\(row)", #"{"Text":"\#(text)"}"#, version: "v\(row)"))
        }
    }

    private static let long = String(repeating: "ab", count: 20_000)
    private static let heavy = [
        "indexof(Text,'zz') eq 1",
        "tolower(Text) eq 'x'",
        "replace(replace(Text,'a','aa'),'b','bb') eq 'x'",
        "length(concat(Text,Text)) eq 1",
        "substringof('\(String(repeating: "y", count: 100))',Text)",
        "startswith(Text,'\(String(repeating: "y", count: 100))')",
        "endswith(Text,'yy')",
    ]

    @Test(arguments: heavy)
    func `the texts that functions read and write count in the budget`(filter: String) async throws
    {
        try await fill(rows: 40, text: Self.long)
        let query = try TableQuery(odata: "$filter=" + filter)
        guard case .overBudget = fixture.list(query) else { throw Unexpected() }
        // The connection still works afterwards.
        guard case .page(let first) = fixture.list(try TableQuery(odata: "$top=1")) else {
            throw Unexpected()
        }
        #expect(first.items.count == 1)
        // SQLite's own step check does not run for so few rows.
        fixture.clock.moves(by: .milliseconds(StoreLimits.readMilliseconds / 5))
        guard case .overBudget = fixture.listUnhurried(query) else { throw Unexpected() }
        fixture.clock.moves(by: .zero)
        guard case .page(let page) = fixture.listUnhurried(query) else { throw Unexpected() }
        #expect(page.items.isEmpty)
    }

    @Test(arguments: heavy)
    func `the same query over short texts is within the budget`(filter: String) async throws {
        try await fill(rows: 40, text: "ab")
        let query = try TableQuery(odata: "$filter=" + filter)
        guard case .page(let page) = fixture.list(query) else { throw Unexpected() }
        #expect(page.items.isEmpty)
    }

    @Test func `one call over the budget ends the query`() async throws {
        try await fill(rows: 2, text: String(repeating: "a", count: 900_000))
        let query = try TableQuery(odata: "$filter=indexof(Text,'zz') eq 1")
        guard case .overBudget = fixture.list(query) else { throw Unexpected() }
    }
}
