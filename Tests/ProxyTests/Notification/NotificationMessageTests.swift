import TablesProtocol
import Testing

@testable import Proxy
@testable import SyncCore

/// What a message has in it, and what it has not.
struct NotificationMessageTests {
    private static let start = Instant(milliseconds: 1_700_000_000_000)

    private func message(withValues: Bool) -> NotificationMessage {
        let operation = OpenDecision(
            seq: 1, table: "todoitem", itemID: "a1", kind: .update, isConflict: true,
            lastAttemptAt: nil,
            values: withValues
                ? .init(title: "Milk", reason: String(repeating: "x", count: 300)) : nil)
        var news = NotificationNews()
        news.counts = [.conflict: 3]
        news.groups = [
            .init(
                event: .conflict, identity: "anonymous", table: "todoitem", count: 3,
                first: [operation])
        ]
        news.conditions = [
            .init(
                condition: .changesWait("ann"), phase: .began, since: Self.start,
                waits: [LongWait(table: "notes", count: 2)]),
            .init(condition: .backendAway, phase: .over, since: Self.start),
        ]
        return NotificationMessage(
            news: news, conflicts: 5, refused: 1, at: Self.start, host: "till-7",
            backend: "https://backend.example", dashboard: "http://127.0.0.1:8080/-/")
    }

    @Test func `a message is JSON with a text, and without values of rows`() throws {
        let sentence =
            "Changes of ann wait although the backend answers (notes 2), since 2023-11-14T22:13:20.000Z."
        let text =
            "Understudy on till-7: 3 new conflicts (todoitem 3). \(sentence) The backend answers again. "
            + "http://127.0.0.1:8080/-/#/conflicts"
        let expected = """
            {"text":"\(text)","kinds":["conflict","stuck"],"test":false,\
            "at":"2023-11-14T22:13:20.000Z","host":"till-7","backend":"https://backend.example",\
            "dashboard":"http://127.0.0.1:8080/-/#/conflicts","version":"\(Version.text)",\
            "new":[{"kind":"conflict","identity":"anonymous","table":"todoitem","count":3,\
            "items":[{"id":"a1","change":"update"}]}],"newLeftOut":0,\
            "conditions":[{"kind":"stuck","condition":"changes-wait","state":"began","identity":"ann",\
            "since":"2023-11-14T22:13:20.000Z","sentence":"\(sentence)",\
            "tables":[{"table":"notes","count":2}]},\
            {"kind":"stuck","condition":"backend-away","state":"over","identity":null,\
            "since":"2023-11-14T22:13:20.000Z","sentence":"The backend answers again.","tables":[]}],\
            "open":{"conflict":5,"refused":1}}
            """
        #expect(message(withValues: false).json == (try JSONValue(parsing: expected)))
    }

    @Test func `with values each item has its title and a short reason`() {
        let item = message(withValues: true).json["new"]?.array?.first?["items"]?.array?.first
        #expect(item?["title"]?.string == "Milk")
        #expect(
            item?["reason"]?.string
                == String(repeating: "x", count: Limits.toldValueCharacters))
        #expect(!message(withValues: true).text.contains("Milk"))
    }

    @Test(arguments: [
        (
            "https://hooks.example/services/T0/SECRET?a=b", "https://hooks.example",
            "/services/T0/SECRET?a=b"
        ),
        ("https://hooks.example", "https://hooks.example", "/"),
        ("https://hooks.example?key=SECRET", "https://hooks.example", "/?key=SECRET"),
        ("http://127.0.0.1:9/x", "http://127.0.0.1:9", "/x"),
    ])
    func `a webhook shows scheme and host`(text: String, shown: String, target: String) throws {
        let webhook = try #require(Webhook(text) { $0.authority.hasPrefix("127.") })
        #expect("\(webhook)" == shown && webhook.target == target)
    }

    @Test(arguments: [
        "", "hooks.example/x", "http://hooks.example/x", "https://user:pass@hooks.example/x",
        "https://hooks.example/x#part", "https://hooks.example/a b", "ftp://hooks.example/",
        "https:///x", "https://hooks.example/ä",
    ])
    func `other addresses are no webhook`(text: String) {
        #expect(Webhook(text) { $0.authority.hasPrefix("127.") } == nil)
    }
}
