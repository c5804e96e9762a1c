import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct FilteredPullTests {
    @Test func `a filtered pull has a token for each query id and filter`() async throws {
        let world = try World()
        try await world.fill(20)
        let filter = try PullQuery(parsing: "text eq '3' or text eq '19'")
        let first = await world.engine.pull(world.todo, query: filter, queryID: "q")
        #expect(first.pull.first?.applied == 2)
        #expect(try await world.store.tables().first?.isComplete == false)
        world.clock.advance(by: .seconds(60))
        let same = await world.engine.pull(world.todo, query: filter, queryID: "q")
        #expect(same.pull.first?.received == 1)
        let other = await world.engine.pull(
            world.todo, query: try PullQuery(parsing: "text eq '4'"), queryID: "q")
        #expect(other.pull.first?.applied == 1)
    }

    @Test(arguments: [BackendFlavour.mobileServices, .mobileApps, .dotnet, .datasync, .toolkit])
    func `a filter is sent in the backend's dialect, whichever dialect it was written in`(
        flavour: BackendFlavour
    ) async throws {
        let world = try World(BackendOptions(flavour: flavour))
        for number in 0..<60 { try await world.seed("r\(number)", #"{"text":"\#(number)"}"#) }
        for text in ["substringof('7',text)", "$filter=contains(text,'7')&list=a%20b"] {
            world.transport.forget()
            let run = await world.engine.pull(world.todo, query: try PullQuery(parsing: text))
            #expect(run.state == .complete, "\(run)")
            #expect(run.pull.first?.received == 6, "\(run)")
            let isThird = await world.engine.knownGeneration == .datasync
            #expect(isThird == (flavour == .datasync || flavour == .toolkit))
            let wanted = isThird ? "contains(text,'7')" : "substringof('7',text)"
            #expect(world.transport.targets.contains { $0.contains(wanted) })
            #expect(
                world.transport.targets.contains { $0.hasSuffix("&list=a%20b") }
                    == text.contains("list"))
        }
    }

    @Test func `a filter that the backend's dialect cannot express fails without a request`()
        async throws
    {
        let world = try World(BackendOptions(flavour: .toolkit))
        try await world.seed("a", #"{"text":"x"}"#)
        _ = await world.engine.sync()
        _ = await world.engine.pull(world.todo)
        world.transport.forget()
        let query = try PullQuery(parsing: "replace(text,'a','b') eq 'b'")
        let run = await world.engine.pull(world.todo, query: query)
        #expect(run.state == .completeWithErrors)
        #expect(run.reason?.contains("no function 'replace'") == true, "\(run)")
        #expect(world.transport.sent.isEmpty)
    }

    @Test(arguments: [
        "$select=text", "$filter=a eq 1&$orderby=a", "$filter=a eq 1&$filter=a eq 1",
        "list=1&%24filter=a eq 1&$filter=a eq 2", "$top=5", "$skip=1", "$inlinecount=allpages",
        "$count=true", "__includeDeleted=true", "__systemProperties=*", "text eq",
    ])
    func `a pull refuses an option other than a valid filter`(text: String) {
        let error = #expect(throws: ODataError.self) { try PullQuery(parsing: text) }
        let name = text.split(separator: "&").last?.split(separator: "=").first.map(String.init)
        #expect(error?.option == (text.contains("=") ? name : "$filter"))
        #expect(error?.reason.isEmpty == false)
    }

    @Test func `the same filter in another dialect is the same query`() throws {
        let one = try PullQuery(parsing: "$filter=substringof('x',text)")
        #expect(try PullQuery(parsing: "contains(text,'x')") == one)
        #expect(try PullQuery(parsing: "text eq 'a=b'").filter != nil)
        #expect(try PullQuery(parsing: "") == PullQuery())
    }

    @Test func `a reconcile removes items that left the query, except those from another query`()
        async throws
    {
        let world = try World()
        for id in ["stays", "leaves", "shared", "gone", "edited"] {
            try await world.elsewhere("POST", nil, #"{"id":"\#(id)","open":true,"tag":1}"#)
        }
        try await world.elsewhere("POST", nil, #"{"id":"other","open":false,"tag":1}"#)
        let open = try PullQuery(parsing: "open eq true")
        let tagged = try PullQuery(parsing: "id eq 'shared'")
        _ = await world.engine.pull(world.todo, query: open, queryID: "open")
        _ = await world.engine.pull(world.todo, query: tagged, queryID: "tagged")
        #expect(try await world.itemCount() == 5)
        world.clock.advance(by: .seconds(60))
        for id in ["leaves", "shared", "edited"] {
            try await world.elsewhere("PATCH", id, #"{"open":false}"#)
        }
        try await world.elsewhere("DELETE", "gone")
        world.transport.decide { request, _ in
            request.head.method == .patch
                ? .instead(Response(status: .init(code: 400), body: Array(#"{"error":"no"}"#.utf8)))
                : nil
        }
        try await world.update("edited", #"{"tag":2}"#)
        let plain = await world.engine.pull(world.todo, query: open, queryID: "open")
        #expect(plain.pull.first?.deleted == 1)
        #expect(try await world.local("leaves") != nil)
        let run = await world.engine.pull(
            world.todo, query: open, queryID: "open", reconcile: true)
        #expect(run.pull.first?.deleted == 1, "\(run)")
        #expect(try await world.local("stays") != nil)
        #expect(try await world.local("leaves") == nil)
        #expect(try await world.row("leaves")?.deleted == true)
        #expect(try await world.local("gone") == nil)
        #expect(try await world.local("shared") != nil)
        #expect(try await world.local("edited") != nil)
        // A full pull brings the item back, and the next reconcile of the query keeps it.
        _ = await world.engine.pull(world.todo)
        #expect(try await world.local("leaves") != nil)
        #expect(try await world.local("other") != nil)
        let again = await world.engine.pull(
            world.todo, query: open, queryID: "open", reconcile: true)
        #expect(again.pull.first?.deleted == 0, "\(again)")
    }

    @Test(arguments: [
        (BackendFlavour.mobileServices, "divby", "div"), (.mobileApps, "div", "divby"),
        (.datasync, "div", "divby"),
    ])
    func `a filter may divide as the backend does`(
        flavour: BackendFlavour, word: String, other: String
    ) async throws {
        let world = try World(BackendOptions(flavour: flavour))
        for number in [6, 7, 8] { try await world.seed("r\(number)", "{\"n\":\(number)}") }
        _ = await world.engine.sync()
        let wanted = flavour == .mobileServices ? "3.5" : "3"
        let run = await world.engine.pull(
            world.todo, query: try PullQuery(parsing: "n \(word) 2 eq \(wanted)"))
        #expect(run.state == .complete, "\(run)")
        #expect(run.pull.first?.received == (flavour == .mobileServices ? 1 : 2), "\(run)")
        let refused = await world.engine.pull(
            world.todo, query: try PullQuery(parsing: "n \(other) 2 eq 3"))
        #expect(refused.state == .completeWithErrors)
        #expect(refused.reason?.contains("'divby'") == true, "\(refused)")
    }

    @Test func `filters that the common dialect cannot say are different queries`() throws {
        let one = try PullQuery(parsing: "n divby 2 eq 3")
        #expect(try PullQuery(parsing: "$filter=n divby 2 eq 3") == one)
        #expect(try PullQuery(parsing: "n divby 2 eq 4").key != one.key)
        #expect(!one.key.isEmpty)
    }
}
