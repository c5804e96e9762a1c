import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Lists with query pairs of the client's own, by which a table's script leaves rows out.
struct OwnPairsTests {
    private static let flavours: [(BackendFlavour, Generation)] = [
        (.mobileApps, .mobileApps), (.mobileServices, .mobileServices), (.datasync, .datasync),
        (.node, .mobileApps), (.dotnet, .datasync),
    ]

    /// A backend whose table `ship` is filtered by `region`, with `count` rows, every other one of them EU's.
    private func run(
        _ flavour: BackendFlavour = .mobileApps, rows count: Int = 130,
        triggers: Set<Trigger> = [.manual], _ body: (TestApp) async throws -> Void
    ) async throws {
        var options = BackendOptions(flavour: flavour)
        let table = try #require(TableName("ship"))
        options.tables[table] = TableOptions(readParameter: "region")
        try await TestApp.run(triggers: triggers, backend: options) { test in
            for number in 0..<count {
                let region = number.isMultiple(of: 2) ? "US" : "EU"
                _ = test.native(
                    "POST", "ship", #"{"id":"s\#(1000 + number)","region":"\#(region)"}"#, flavour)
            }
            try await body(test)
        }
    }

    /// The first query of a client that syncs by `updatedAt`.
    private func sync(
        _ client: Generation, since: String = "1970-01-01T00:00:00.000Z", _ pairs: String
    ) -> String {
        let column = client == .mobileServices ? "__updatedAt" : "updatedAt"
        let time = client == .datasync ? since : "datetimeoffset'\(since)'"
        let names = client == .mobileServices ? "&__systemproperties=*" : ""
        return "ship?$filter=(\(column)%20ge%20\(time))&$orderby=\(column)&$skip=0&$top=50"
            + "&\(pairs)&__includeDeleted=true\(names)"
    }

    /// Lists to the end: by `$skip` as the SDKs that sync, else by the links of the answers.
    private func all(
        _ test: TestApp, _ first: String, _ client: Generation, isComplete: Bool = true
    ) async throws -> [JSONValue] {
        var rows: [JSONValue] = []
        var target = first
        for page in 0..<20 {
            var answer = try await test.list(target, as: client)
            // A client comes again while the list is being pulled.
            for _ in 0..<100 where answer.status == 503 {
                answer = try await test.list(target, as: client)
            }
            #expect(answer.status == 200, "\(target) page \(page): \(answer.body.text)")
            #expect((answer.fields[own: .complete] == "no") == !isComplete, "\(target)")
            rows += answer.rows
            if first.contains("$skip=0") {
                if answer.rows.isEmpty { return rows }
                target = first.replacing("$skip=0", with: "$skip=\(rows.count)")
            } else {
                guard let next = answer.next else { return rows }
                target = next
            }
        }
        Issue.record("no end of \(first)")
        return rows
    }

    private func ids(_ rows: [JSONValue]) -> [String] {
        rows.compactMap { $0["id"]?.string }.sorted()
    }

    private func european(_ count: Int) -> [String] {
        (0..<count).filter { !$0.isMultiple(of: 2) }.map { "s\(1000 + $0)" }
    }

    @Test(arguments: flavours, [true, false])
    func `a pull with a parameter has the backend's rows, page by page, before and after the copy`(
        pair: (BackendFlavour, Generation), isAutomatic: Bool
    ) async throws {
        let (flavour, client) = pair
        let triggers: Set<Trigger> = isAutomatic ? Set(Trigger.allCases) : [.manual]
        try await run(flavour, triggers: triggers) { test in
            let query = sync(client, "region=EU")
            #expect(ids(try await all(test, query, client)) == european(130))
            _ = try await test.ask("POST", "/sync?wait=60")
            let rows = try await all(test, query, client)
            #expect(ids(rows) == european(130))
            // An incremental pull goes on from the last time that was seen.
            let column = client == .mobileServices ? "__updatedAt" : "updatedAt"
            let last = try #require(rows.last?[column]?.string)
            _ = test.native("POST", "ship", #"{"id":"new1","region":"EU"}"#, flavour)
            _ = test.native("POST", "ship", #"{"id":"new2","region":"US"}"#, flavour)
            let later = try await all(test, sync(client, since: last, "region=EU"), client)
            #expect(ids(later).filter { $0.hasPrefix("new") } == ["new1"])
            #expect(later.allSatisfy { $0["region"]?.string == "EU" })
            #expect(ids(try await all(test, "ship?region=US&$top=1000", client)).count == 66)
            // Another order and another encoding of the pairs are the same set.
            let same = "ship?$top=1000&%72egion=%45%55"
            test.unplug()
            #expect(
                ids(try await all(test, same, client, isComplete: false))
                    == ["new1"] + european(130))
        }
    }

    @Test(arguments: [Generation.mobileServices, .mobileApps, .datasync])
    func `without the backend a list has only rows that the same pairs once gave`(
        client: Generation
    ) async throws {
        try await run(rows: 20) { test in
            _ = try await test.list("ship", as: client)
            _ = try await test.ask("POST", "/sync?wait=60")
            let first = try await test.list("ship?region=EU&$top=4&$orderby=id", as: client)
            #expect(first.ids == Array(european(20).prefix(4)))
            test.unplug()
            _ = try await test.ask("POST", "/sync?wait=60")
            let part = try await test.list("ship?region=EU", as: client)
            #expect(part.ids == first.ids)
            #expect(part.fields[own: .complete] == "no")
            #expect(part.fields[own: .backend] == "offline")
            for other in ["region=US", "region=eu", "region=EU&x=1"] {
                #expect(try await test.list("ship?\(other)", as: client).status == 503, "\(other)")
            }
            #expect(try await test.list("ship", as: client).ids.count == 20)
            let count = client == .datasync ? "$count=true" : "$inlinecount=allpages"
            let counted = try await test.list("ship?region=EU&\(count)&$top=1", as: client)
            #expect(counted.body["count"]?.integer == 4)
        }
    }

    @Test
    func `a row that leaves the list is left out, and one that is deleted is shown as deleted`()
        async throws
    {
        try await run(rows: 12) { test in
            _ = await test.table("GET", "ship")
            _ = try await test.ask("POST", "/sync?wait=60")
            let query = sync(.mobileApps, "region=EU")
            let before = try await all(test, query, .mobileApps)
            #expect(ids(before) == european(12))
            let last = try #require(before.last?["updatedAt"]?.string)
            _ = test.elsewhere("PATCH", "ship/s1001", #"{"region":"US"}"#)
            _ = test.elsewhere("PATCH", "ship/s1002", #"{"region":"EU"}"#)
            _ = test.elsewhere("PATCH", "ship/s1003", #"{"text":"changed"}"#)
            _ = test.elsewhere("DELETE", "ship/s1005")
            let later = try await all(
                test, sync(.mobileApps, since: last, "region=EU"), .mobileApps)
            #expect(
                ids(later).filter { $0 != before.last?["id"]?.string } == [
                    "s1002", "s1003", "s1005",
                ])
            #expect(later.first { $0["id"]?.string == "s1003" }?["text"]?.string == "changed")
            #expect(later.first { $0["id"]?.string == "s1005" }?["deleted"]?.bool == true)
            test.unplug()
            _ = try await test.ask("POST", "/sync?wait=60")
            let offline = await test.table("GET", "ship?region=EU&$top=100")
            #expect(ids(offline.body.array ?? []) == ["s1002", "s1003", "s1007", "s1009", "s1011"])
        }
    }

    @Test func `unsent changes are shown, and the rows of the backend beside them`() async throws {
        try await run(rows: 12) { test in
            _ = await test.table("GET", "ship")
            _ = try await test.ask("POST", "/sync?wait=60")
            let query = sync(.mobileApps, "region=EU")
            _ = try await all(test, query, .mobileApps)
            test.unplug()
            _ = await test.table("PATCH", "ship/s1001", #"{"text":"mine"}"#)
            _ = await test.table("POST", "ship", #"{"id":"own","region":"EU"}"#)
            for isOnline in [false, true] {
                if isOnline {
                    test.plug()
                    _ = test.elsewhere("POST", "ship", #"{"id":"theirs","region":"EU"}"#)
                }
                let list = await test.table("GET", "ship?region=EU&$top=100")
                #expect(
                    ids(list.body.array ?? [])
                        == ["own"] + european(12) + (isOnline ? ["theirs"] : []))
                let mine = list.body.array?.first { $0["id"]?.string == "s1001" }
                #expect(mine?["text"]?.string == "mine")
            }
            _ = try await test.ask("POST", "/sync?wait=60")
            #expect(test.elsewhere("GET", "ship/s1001")["text"]?.string == "mine")
            let after = try await all(test, query, .mobileApps)
            #expect(ids(after) == ["own"] + european(12) + ["theirs"])
        }
    }

    /// The backend gives no row without the pair, neither in lists nor by id.
    @Test func `rows that only the pairs show come page by page, and can be changed`() async throws
    {
        try await run { test in
            test.transport.decide { request, _ in
                let path = request.head.path ?? ""
                guard request.head.method == .get, path.contains("/ship"), !path.contains("region=")
                else { return nil }
                return .instead(
                    Response(
                        status: path.contains("/ship/") ? .notFound : .ok,
                        headerFields: [.contentType: "application/json"], body: Array("[]".utf8)))
            }
            _ = await test.table("GET", "ship")
            _ = try await test.ask("POST", "/sync?wait=60")
            let query = sync(.mobileApps, "region=EU")
            #expect(ids(try await all(test, query, .mobileApps)) == european(130))
            _ = test.elsewhere("PATCH", "ship/s1001", #"{"text":"theirs"}"#)
            let changed = try await all(test, query, .mobileApps)
            #expect(changed.last?["text"]?.string == "theirs")
            #expect(changed.last?["id"]?.string == "s1001")
            test.transport.decide { _, _ in .notSent }
            _ = try await test.ask("POST", "/sync?wait=60")
            #expect(
                ids(try await all(test, query, .mobileApps, isComplete: false)) == european(130))
        }
    }

    @Test func `what the backend refuses by the pairs is passed on`() async throws {
        try await run(rows: 4) { test in
            _ = await test.table("GET", "ship")
            _ = try await test.ask("POST", "/sync?wait=60")
            let body = #"{"error":"No such region."}"#
            test.transport.decide { request, _ in
                guard request.head.path?.contains("region=XX") == true else { return nil }
                return .instead(
                    Response(
                        status: .badRequest, headerFields: [.contentType: "application/json"],
                        body: Array(body.utf8)))
            }
            let answer = try await test.list(sync(.mobileApps, "region=XX"), as: .mobileApps)
            #expect(answer.status == 400)
            #expect(answer.body.text == body)
            #expect(
                ids(try await all(test, sync(.mobileApps, "region=EU"), .mobileApps)) == european(4)
            )
        }
    }

    /// A client that syncs by its own times sees every row of its region, however the backend comes and goes.
    @Test(arguments: UInt64(1)...6)
    func `a client that changes between online and offline misses no row`(seed: UInt64) async throws
    {
        var random = SeededRandom(seed)
        try await run(rows: 10) { test in
            _ = await test.table("GET", "ship")
            _ = try await test.ask("POST", "/sync?wait=60")
            var known: [String: JSONValue] = [:]
            var time = "1970-01-01T00:00:00.000Z"
            for step in 0..<60 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0: test.unplug()
                case 1: test.plug()
                case 2: _ = try await test.ask("POST", "/sync?wait=60")
                case 3:
                    let region = Bool.random(using: &random) ? "EU" : "US"
                    _ = test.elsewhere("POST", "ship", #"{"id":"n\#(step)","region":"\#(region)"}"#)
                case 4:
                    let id = "s\(1000 + Int.random(in: 0..<10, using: &random))"
                    _ = test.elsewhere("PATCH", "ship/\(id)", #"{"n":\#(step)}"#)
                case 5:
                    let id = "s\(1001 + 2 * Int.random(in: 0..<5, using: &random))"
                    _ = await test.table("PATCH", "ship/\(id)", #"{"m":\#(step)}"#)
                default:
                    let rows = await test.table("GET", sync(.mobileApps, since: time, "region=EU"))
                    for row in rows.body.array ?? [] {
                        known[row["id"]?.string ?? ""] = row
                        time = row["updatedAt"]?.string ?? time
                    }
                }
            }
            test.plug()
            _ = try await test.ask("POST", "/sync?wait=60")
            _ = try await test.ask("POST", "/sync?wait=60")
            for row in try await all(test, sync(.mobileApps, since: time, "region=EU"), .mobileApps)
            {
                known[row["id"]?.string ?? ""] = row
            }
            let theirs = test.elsewhere("GET", "ship?region=EU&$top=1000").array ?? []
            #expect(known.keys.sorted() == ids(theirs), "seed \(seed)")
            for row in theirs {
                let mine = known[row["id"]?.string ?? ""]
                for name in ["region", "n", "m"] {
                    #expect(mine?[name] ?? .null == row[name] ?? .null, "seed \(seed): \(row.text)")
                }
            }
        }
    }
}
