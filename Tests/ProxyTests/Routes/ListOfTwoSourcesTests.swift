import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// A list whose first page is the backend's and whose further ones are the store's.
struct ListOfTwoSourcesTests {
    @Test(arguments: [("todoitem", 130), ("todoitem?$top=120", 120)])
    func `a list in no order has every row once`(target: String, rows: Int) async throws {
        let table = try #require(TableName("todoitem"))
        let link = try #require(HTTPField.Name("Link"))
        let options = BackendOptions(flavour: .node).having(table)
        try await TestApp.run(triggers: Set(Trigger.allCases), backend: options) { test in
            // The server's order is that of the inserts, not that of the ids.
            let ids = (0..<130).map { "r\(1000 + $0 * 37 % 130)" }
            for id in ids { _ = test.elsewhere("POST", "todoitem", #"{"id":"\#(id)"}"#) }
            var page = await test.table("GET", target)
            var seen = page.body.array?.compactMap { $0["id"]?.string } ?? []
            try await test.firstPull(of: "todoitem")
            while let next = page.fields[link]?.prefix(while: { $0 != ";" }), seen.count <= 130 {
                let path = try #require(next.split(separator: "/tables/").last)
                page = await test.table("GET", String(path))
                seen += page.body.array?.compactMap { $0["id"]?.string } ?? []
            }
            #expect(seen == Array(ids.sorted().prefix(rows)))
        }
    }
}
