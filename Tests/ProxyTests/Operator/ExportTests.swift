import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// Whole lists as CSV and as lines of JSON, and the filter of the history in a person's words.
struct ExportTests {
    private func get(
        _ path: String, _ test: TestApp, method: String = "GET"
    ) async throws -> (head: HTTPResponse, text: String) {
        let token = try test.folder.token() ?? ""
        let response = await test.send(
            .make(method, "/-/api/v1\(path)", ["Authorization": "Bearer \(token)"]))
        return (response.head, String(decoding: try await Self.bytes(response), as: UTF8.self))
    }

    private static func bytes(_ response: Response) async throws -> [UInt8] {
        guard case .stream(let stream) = response.body else { return response.bytes ?? [] }
        var bytes: [UInt8] = []
        let (readable, isReadable) = AsyncStream.makeStream(of: Void.self)
        var wakes = readable.makeAsyncIterator()
        while true {
            switch stream.read(maxBytes: 1000, wake: { isReadable.yield() }) {
            case .bytes(let some): bytes += some
            case .wait: await wakes.next()
            case .end: return bytes
            case .failed: throw Torn()
            }
        }
    }

    private struct Torn: Error {}

    @Test func `operations, conflicts, history and rows are written whole in both forms`()
        async throws
    {
        try await TestApp.run { test in
            for number in 0..<1203 {
                _ = await test.table(
                    "POST", "todoitem",
                    #"{"id":"i\#(number)","text":"=\#(number)","n":-\#(number)}"#)
            }
            for (path, name, first) in [
                ("/operations", "operations", "id"), ("/history", "history", "id"),
                ("/tables/todoitem/items", "todoitem", "id"), ("/conflicts", "conflicts", "id"),
            ] {
                let csv = try await get("\(path)?format=csv", test)
                #expect(csv.head.status == .ok)
                #expect(
                    csv.head.headerFields[.contentType] == "text/csv; charset=utf-8; header=present"
                )
                #expect(
                    csv.head.headerFields[.contentDisposition]
                        == "attachment; filename=\"\(name).csv\"")
                let lines = csv.text.split(separator: "\r\n")
                #expect(lines.count == (name == "conflicts" ? 1 : 1204), "\(path)")
                #expect(lines.first?.hasPrefix("\(first),") == true)
                let jsonl = try await get("\(path)?format=jsonl", test)
                #expect(jsonl.head.headerFields[.contentType] == "application/jsonl")
                // They are the elements of the pages.
                var paged: [JSONValue] = []
                var next: String?
                repeat {
                    let isRows = path.hasSuffix("items")
                    let after = next.map { "&\(isRows ? "skip" : "after")=\($0)" } ?? ""
                    let page = try await test.ask(
                        "GET", "\(path)?\(isRows ? "top" : "limit")=500\(after)"
                    ).body
                    paged += page["items"]?.array ?? []
                    next = page["next"]?.string
                } while next != nil
                let written = try jsonl.text.split(separator: "\n").map {
                    try JSONValue(parsing: String($0))
                }
                #expect(written == paged, "\(path)")
                let head = try await get("\(path)?format=csv", test, method: "HEAD")
                #expect(head.head.status == .ok && head.text.isEmpty)
            }
        }
    }

    @Test func `the rows of a CSV have the columns of the table, and only what the filter selects`()
        async throws
    {
        try await TestApp.run { test in
            _ = await test.table(
                "POST", "t", #"{"id":"a","text":"=HYPERLINK(\"x\")","price":-3.50,"state":"new"}"#)
            _ = await test.table("POST", "t", #"{"id":"b","note":{"x":1},"price":2}"#)
            _ = await test.table("POST", "t", #"{"id":"c","price":9}"#)
            let csv = try await get(
                "/tables/t/items?format=csv&filter=price%20lt%205&orderby=price%20desc", test)
            let lines = csv.text.split(separator: "\r\n").map {
                $0.split(separator: ",", omittingEmptySubsequences: false)
            }
            let head = lines[0].map(String.init)
            #expect(head.first == "id" && Set(head[1...4]) == ["text", "price", "state", "note"])
            #expect(
                head[5...] == [
                    "createdAt", "updatedAt", "version", "deleted", "sync.ownColumns", "sync.state",
                    "sync.operationState", "sync.operationId", "sync.reason",
                ])
            func cells(_ line: Int) -> [String: String] {
                Dictionary(uniqueKeysWithValues: zip(head, lines[line].map(String.init)))
            }
            #expect(lines.count == 3)
            #expect(cells(1)["id"] == "b" && cells(1)["note"] == #""{""x"":1}""#)
            #expect(cells(2)["id"] == "a" && cells(2)["text"] == #""'=HYPERLINK(""x"")""#)
            #expect(cells(2)["price"] == "-3.50" && cells(2)["state"] == "new")
            #expect(
                cells(2)["sync.state"] == "pending" && cells(2)["sync.operationState"] == "queued")
            let found = try await get("/tables/t/items?format=jsonl&q=HYPER", test)
            #expect(found.text.split(separator: "\n").count == 1)
            #expect(try await get("/tables/none/items?format=csv", test).head.status == .notFound)
            let wrong = try await get("/tables/t/items?format=csv&filter=price%20lt", test)
            #expect(wrong.head.status == .badRequest)
        }
    }

    @Test func `a part of a list, and another form, cannot be asked for`() async throws {
        try await TestApp.run { test in
            for (query, place) in [
                ("limit=5&format=csv", "limit"), ("format=jsonl&skip=1", "skip"),
                ("format=xml", "format"),
            ] {
                let answer = try await test.ask("GET", "/operations?\(query)")
                #expect(answer.status == 400 && answer.body["parameter"]?.string == place)
            }
        }
    }

    /// The fields of a signed-in browser: its cookie, and the value in its page's storage.
    private func signedIn(
        _ test: TestApp
    ) async throws -> (cookie: String, session: String) {
        let link = try #require(
            try await test.ask("POST", "/links").body["url"]?.string?.split(separator: "=").last)
        let signIn = await test.send(
            .make(
                "POST", "/-/api/v1/session",
                ["Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"],
                body: "{\"link\":\"\(link)\"}"))
        let cookie = try #require(signIn.head.headerFields[.setCookie]).prefix { $0 != ";" }
        let session = try JSONValue(parsing: signIn.bytes ?? [])["session"]?.string
        return (String(cookie), try #require(session))
    }

    @Test func `only the operator gets a list, and a session that ends tears it`() async throws {
        try await TestApp.run { test in
            // More than a stream holds, so that its writer waits.
            let text = String(repeating: "x", count: 8 << 10)
            for number in 0..<600 {
                _ = await test.table("POST", "t", #"{"id":"i\#(number)","text":"\#(text)"}"#)
            }
            let path = "/-/api/v1/history?format=csv"
            #expect(await test.send(.make("GET", path)).head.status == .unauthorized)
            let (cookie, session) = try await signedIn(test)
            // A link on a page sends the cookie alone.
            #expect(
                await test.send(.make("GET", path, ["Cookie": cookie])).head.status
                    == .unauthorized)
            let both: KeyValuePairs = ["Cookie": cookie, "Understudy-Session": session]
            #expect(try await Self.bytes(await test.send(.make("GET", path, both))).count > 4 << 20)

            let unread = await test.send(.make("GET", path, both))
            for _ in 1..<Limits.exportsAtOnce { _ = await test.send(.make("GET", path, both)) }
            let refused = await test.send(.make("GET", path, both))
            #expect(refused.head.status == .serviceUnavailable)
            let out = Request.make("DELETE", "/-/api/v1/session", both)
            #expect(await test.send(out).head.status.kind == .successful)
            await #expect(throws: Torn.self) { try await Self.bytes(unread) }
        }
    }

    @Test
    func `the history is filtered by a person's words, and the answer says what was understood`()
        async throws
    {
        try await TestApp.run { test in
            _ = await test.table("POST", "todoitem", #"{"id":"a","text":"one"}"#)
            _ = await test.table("POST", "Other", #"{"id":"b","text":"two"}"#)
            func ids(_ query: String) async throws -> [String?] {
                let answer = try await test.ask("GET", "/history?\(query)")
                #expect(answer.status == 200, "\(query)")
                return answer.body["items"]?.array?.map { $0["itemId"]?.string } ?? []
            }
            #expect(try await ids("when=2h") == ["b", "a"])
            #expect(try await ids("when=yesterday&zone=Europe/Paris") == [])
            #expect(try await ids("from=2020-01-01&to=2020-12-31") == [])
            #expect(try await ids("from=2020-01-01&table=other") == ["b"])
            #expect(try await ids("from=7d&to=1d") == [])
            #expect(try await ids("kind=Written,refused&by=client") == ["b", "a"])
            #expect(try await ids("by=you") == [])
            #expect(try await ids("q=one&when=") == ["a"])
            let asked = try await test.ask("GET", "/history?when=2026-07-01&zone=Europe/Paris")
            #expect(asked.body["from"]?.string == "2026-06-30T22:00:00.000Z")
            #expect(asked.body["to"]?.string == "2026-07-01T22:00:00.000Z")
            let all = try await test.ask("GET", "/history")
            #expect(all.body["from"] == .null && all.body["to"] == .null)
        }
    }

    private static let unknownWords: [(query: String, place: String, sentence: String)] = [
        (
            "when=lst%20tusday", "when",
            "when is not understood: \"lst tusday\". Understood are today"
        ),
        ("from=x", "from", "from is not understood"), ("to=x", "to", "to is not understood"),
        ("when=today&to=today", "when", "when names the whole time"),
        ("from=today&to=yesterday", "to", "to is before from."),
        ("zone=Nowhere", "zone", "zone must be the name"),
        (
            "kind=writen", "kind",
            "kind must be what happened, with commas: there is no \"writen\"; did you mean written?"
        ),
        ("by=somebody", "by", "by must be you, understudy, client"),
        ("when=today&after=c1", "after", "after must be the next"),
    ]

    @Test func `words that are not understood are an error that says which are`() async throws {
        try await TestApp.run { test in
            for (query, place, sentence) in Self.unknownWords {
                let answer = try await test.ask("GET", "/history?\(query)")
                #expect(answer.status == 400 && answer.body["parameter"]?.string == place)
                let detail = answer.body["detail"]?.string
                #expect(detail?.hasPrefix(sentence) == true, "\(answer.body.text)")
            }
        }
    }
}
