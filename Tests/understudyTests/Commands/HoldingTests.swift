import Proxy
import SyncCore
import Testing

@testable import understudy

/// What keeps queued operations from being sent, and what a terminal shows of it.
@Suite struct HoldingTests {
    private static func status(
        _ state: String = "online", _ reason: String = "The backend answers.",
        mode: String = "online", isAsked: Bool = true
    ) throws -> Answers.Status {
        try some(
            Answers.Status.self,
            #"{"backend":{"state":"\#(state)","reason":"\#(reason)","isAsked":\#(isAsked)},"#
                + #""mode":{"mode":"\#(mode)"}}"#)
    }

    private static let auto = #"{"triggers":["afterWrites","manual"]}"#
    private static let manual = #"{"triggers":["manual"]}"#

    private func held(
        _ status: Answers.Status, settings: String = HoldingTests.auto, lastRun: String = "{}"
    ) throws -> String? {
        Holding.reason(
            status: status, settings: try some(Answers.Settings.self, settings),
            lastRun: try some(Run.self, lastRun))
    }

    @Test func `what holds the queue is said, and nothing where nothing does`() throws {
        #expect(try held(Self.status()) == nil)
        #expect(
            try held(Self.status("offline", "not asked", isAsked: false)) == nil)
        #expect(
            try held(Self.status(mode: "offline"))
                == "Offline mode is on; `understudy online` ends it.")
        #expect(
            try held(Self.status("offline", "No route.")) == "The backend is offline: No route.")
        #expect(
            try held(Self.status("notTables", "Accept it with --rebind."))
                == "The backend is notTables: Accept it with --rebind.")
        #expect(
            try held(Self.status(), settings: Self.manual)
                == "A write starts no push (sync = manual); `understudy sync` sends them.")
        #expect(
            try held(Self.status(), lastRun: #"{"state":"failed","reason":"The disk is full."}"#)
                == "The last run failed: The disk is full.")
        let missing = "The backend answers. There is no table notes (404)."
        #expect(try held(Self.status("online", missing)) == missing)
    }

    @Test func `operations show when they are tried again, and the last line what holds them`()
        throws
    {
        let page = try some(
            pageOf: OperationSummary.self,
            #"{"state":"waiting","title":"Milk","reason":"Busy (429).","#
                + #""nextAttemptAt":"2026-11-21T12:00:00.000Z"}"#)
        #expect(
            TerminalText.operations(page, held: "No Understudy runs.") == [
                "op  waiting  insert t/a  Milk  Busy (429).  (again at 2026-11-21T12:00:00.000Z)",
                "Held: No Understudy runs.",
            ])
        #expect(
            TerminalText.waiting(page.items.first) == [
                "  The first that waits is tried again at 2026-11-21T12:00:00.000Z; at once with: "
                    + "understudy queue retry --all --state waiting,unknown"
            ])
    }

    @Test func `a status names the mode, the times and that nothing was asked yet`() throws {
        let (since, next) = ("2026-11-21T12:00:00.000Z", "2026-11-21T12:00:01.000Z")
        let asked = try some(
            Answers.Status.self,
            #"{"backend":{"state":"degraded","reason":"It fails.","since":"\#(since)","#
                + #""nextTry":"\#(next)"},"tables":[{"items":1,"warning":"Its pulls fail: no.","#
                + #""pullsFailSince":"\#(since)"}]}"#)
        let lines = TerminalText.status(asked, isManual: true)
        #expect(
            lines.filter { !$0.hasPrefix("Ledger") } == [
                "Backend    degraded  http://b", "           It fails.",
                "           since \(since), asked again at \(next)",
                "Mode       a write starts no push (sync = manual); `understudy sync` sends",
                "Queue      empty", "Table      t  1 items, 0 unsent",
                "           Its pulls fail: no. (since \(since))",
                "Last sync  none since the start",
            ])
        let unasked = try some(
            Answers.Status.self,
            #"{"backend":{"state":"offline","reason":"r","since":"\#(since)","isAsked":false},"#
                + #""mode":{"mode":"offline"}}"#)
        #expect(
            TerminalText.status(unasked).prefix(2) == [
                "Backend    not asked yet  http://b",
                "Mode       offline by choice; `understudy online` ends it",
            ])
    }

    @Test(arguments: [
        ("/filter/q", "/filter/q must be a text.", "--text must be a text."),
        ("/forSeconds", "/forSeconds must be a number.", "--for must be a number."),
        ("state", "state must be all or some of a, b.", "--state must be all or some of a, b."),
        (
            "/intervalSeconds", "/intervalSeconds is there twice.",
            "/intervalSeconds is there twice."
        ),
    ])
    func `a wrong value is named by its option`(pointer: String, detail: String, said: String) {
        #expect(OperatorClient.naming(option: pointer, in: detail) == said)
        #expect(OperatorClient.naming(option: nil, in: detail) == detail)
    }
}
