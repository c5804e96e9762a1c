import Backend
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// Values that a client writes in another kind than the backend's column has.
struct WrittenKindsTests {
    @Test(arguments: [Generation.mobileServices, .mobileApps, .datasync])
    func
        `a boolean that is written as 1 or 0 is found before its push, and shown and sent as written`(
            client: Generation
        ) async throws
    {
        try await TestApp.run { test in
            _ = test.elsewhere("POST", "todo", #"{"id":"f","complete":false}"#)
            _ = test.elsewhere("POST", "todo", #"{"id":"t","complete":true}"#)
            _ = try await test.list("todo", as: client)
            _ = try await test.ask("POST", "/sync?wait=60")
            test.unplug()
            _ = await test.table("POST", "todo", #"{"id":"zero","complete":0}"#)
            _ = await test.table("POST", "todo", #"{"id":"one","complete":1}"#)
            for (filter, ids) in [
                ("complete eq false", ["f", "zero"]), ("complete eq true", ["one", "t"]),
                ("complete ne true", ["f", "zero"]), ("complete", ["one", "t"]),
                ("not complete", ["f", "zero"]), ("complete eq 0", ["zero"]),
            ] {
                let target = "todo?$orderby=id&$filter=\(filter.replacing(" ", with: "%20"))"
                #expect(try await test.list(target, as: client).ids == ids, "\(filter)")
            }
            let zero = await test.table("GET", "todo/zero")
            #expect(zero.body["complete"]?.text == "0")
            test.plug()
            _ = try await test.ask("POST", "/sync?wait=60")
            #expect(test.elsewhere("GET", "todo/zero")["complete"]?.text == "0")
        }
    }

    @Test func `a number that is written as a text is found before its push`() async throws {
        try await TestApp.run { test in
            for number in [3, 5, 7] {
                _ = test.elsewhere("POST", "todo", #"{"id":"n\#(number)","n":\#(number)}"#)
            }
            _ = await test.table("GET", "todo")
            _ = try await test.ask("POST", "/sync?wait=60")
            test.unplug()
            _ = await test.table("POST", "todo", #"{"id":"text","n":"5"}"#)
            _ = await test.table("POST", "todo", #"{"id":"other","n":"05"}"#)
            for (filter, ids) in [
                ("n eq 5", ["n5", "text"]), ("n ne 5", ["n3", "n7", "other"]),
                ("n gt 3", ["n5", "n7", "text"]), ("n ge 5", ["n5", "n7", "text"]),
                ("n lt 7", ["n3", "n5", "text"]), ("n le 4.5", ["n3"]),
                ("n in (5,9)", ["n5", "text"]), ("not (n gt 3)", ["n3", "other"]),
                ("n eq '5'", ["text"]),
            ] {
                let target = "todo?$orderby=id&$filter=\(filter.replacing(" ", with: "%20"))"
                #expect(try await test.list(target, as: .mobileApps).ids == ids, "\(filter)")
            }
            let text = await test.table("GET", "todo/text")
            #expect(text.body["n"]?.string == "5")
        }
    }
}
