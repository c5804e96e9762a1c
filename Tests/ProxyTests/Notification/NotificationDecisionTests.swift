import TablesProtocol
import Testing

@testable import Proxy
@testable import SyncCore

/// What is told, and what is remembered of it.
struct NotificationDecisionTests {
    private static let start = Instant(milliseconds: 1_700_000_000_000)
    private static let all = Set(NotifiedEvent.allCases)
    private static let day: Int64 = 86_400

    private static func at(_ seconds: Int64) -> Instant { start.adding(seconds: seconds) }

    private static func conflict(
        _ seq: Int64, _ table: String = "todoitem", attempt seconds: Int64? = -100
    ) -> OpenDecision {
        OpenDecision(
            seq: seq, table: table, itemID: "item\(seq)", kind: .update, isConflict: true,
            lastAttemptAt: seconds.map(at))
    }

    private static func refused(_ seq: Int64, _ table: String = "notes") -> OpenDecision {
        var operation = conflict(seq, table)
        operation.isConflict = false
        return operation
    }

    private static func situation(
        _ seconds: Int64, _ decisions: [String: [OpenDecision]] = [:],
        _ findings: [Condition: NotificationSituation.Finding] = [:],
        identities: Set<String> = ["anonymous", "ann"]
    ) -> NotificationSituation {
        NotificationSituation(
            at: at(seconds), identities: identities, decisions: decisions, findings: findings)
    }

    private static func decide(
        _ situation: NotificationSituation, _ memory: NotificationMemory = NotificationMemory(),
        events: Set<NotifiedEvent> = all, pace: NotificationPace = NotificationPace()
    ) -> NotificationDecision {
        NotificationDecision(situation, memory, events: events, pace: pace)
    }

    @Test func `one message has all that is new, by kind, identity and table`() {
        let (a, b, c) = (Self.conflict(1), Self.conflict(2), Self.conflict(3, "notes"))
        let (d, e) = (Self.refused(4), Self.conflict(1))
        let decision = Self.decide(Self.situation(0, ["anonymous": [a, b, c, d], "ann": [e]]))
        var expected = NotificationNews()
        expected.counts = [.conflict: 4, .refused: 1]
        expected.groups = [
            .init(
                event: .conflict, identity: "anonymous", table: "todoitem", count: 2, first: [a, b]),
            .init(event: .conflict, identity: "ann", table: "todoitem", count: 1, first: [e]),
            .init(event: .conflict, identity: "anonymous", table: "notes", count: 1, first: [c]),
            .init(event: .refused, identity: "anonymous", table: "notes", count: 1, first: [d]),
        ]
        #expect(decision.message == expected)
        // Until it is delivered nothing counts as told.
        #expect(decision.seen == NotificationMemory())
        #expect(
            decision.told.told == [
                "anonymous": .init(seqs: [1, 2, 3, 4], at: Self.start),
                "ann": .init(seqs: [1], at: Self.start),
            ])
    }

    @Test func `an operation is told once, and again when it was sent again meanwhile`() {
        let told = Self.decide(Self.situation(0, ["ann": [Self.conflict(1), Self.conflict(2)]]))
            .told
        func news(_ operations: [OpenDecision]) -> [NotifiedEvent: Int]? {
            Self.decide(Self.situation(60, ["ann": operations]), told).message?.counts
        }
        #expect(news([Self.conflict(1), Self.conflict(2)]) == nil)
        #expect(news([Self.conflict(2)]) == nil)
        #expect(news([]) == nil)
        #expect(news([Self.conflict(1), Self.conflict(3)]) == [.conflict: 1])
        #expect(news([Self.conflict(1, attempt: 30), Self.conflict(2)]) == [.conflict: 1])
        #expect(news([Self.conflict(1, attempt: nil)]) == nil)
        // It is a number of one store: another identity's is another operation.
        let other = Self.decide(Self.situation(60, ["anonymous": [Self.conflict(1)]]), told)
        #expect(other.message?.counts == [.conflict: 1])
        #expect(Set(other.told.told.keys) == ["ann", "anonymous"])
    }

    @Test func `what was decided before a message went out is not told`() {
        var pace = NotificationPace(lastTryAt: Self.at(-30), failures: 0)
        let early = Self.decide(Self.situation(0, ["ann": [Self.conflict(1)]]), pace: pace)
        #expect(early.message == nil && early.news.counts == [.conflict: 1])
        pace.lastTryAt = Self.at(-60)
        #expect(Self.decide(Self.situation(0, ["ann": []]), early.seen, pace: pace).message == nil)
    }

    @Test func `a store that cannot be read keeps what was told, one that is gone does not`() {
        let told = Self.decide(Self.situation(0, ["ann": [Self.conflict(1)]])).told
        let unread = Self.decide(Self.situation(60), told)
        #expect(unread.message == nil && unread.seen == told)
        let gone = Self.decide(Self.situation(60, identities: ["anonymous"]), told)
        #expect(gone.seen == NotificationMemory())
        // A store with the same numbers that comes later is told.
        let anew = Self.decide(Self.situation(120, ["ann": [Self.conflict(1)]]), gone.seen)
        #expect(anew.message?.counts == [.conflict: 1])
    }

    @Test func `after the clock was set back nothing is told twice`() {
        let ahead = Self.situation(0, ["ann": [Self.conflict(1, attempt: 5000)]])
        let told = Self.decide(ahead).told
        #expect(Self.decide(Self.situation(60, ahead.decisions), told).message == nil)
    }

    @Test func `only the chosen events are told, and one that is chosen later is told then`() {
        let open = ["ann": [Self.conflict(1), Self.refused(2)]]
        let holds: [Condition: NotificationSituation.Finding] = [.diskAlmostFull: .holds()]
        let some = Self.decide(Self.situation(0, open, holds), events: [.refused])
        #expect(some.message?.counts == [.refused: 1] && some.message?.conditions == [])
        let later = Self.decide(Self.situation(60, open, holds), some.told)
        #expect(later.message?.counts == [.conflict: 1])
        #expect(later.message?.conditions.map(\.condition) == [.diskAlmostFull])
        // What is chosen no more is forgotten: its end is not told.
        let none = Self.decide(Self.situation(120, open, holds), later.told, events: [.conflict])
        #expect(none.message == nil && none.seen.standing == [:])
    }

    @Test func `a message is bounded, and counts what it leaves out`() {
        let tables = (0..<Limits.toldGroups + 3).map { number in
            (0..<(number == 0 ? 9 : 1)).map { place in
                Self.conflict(Int64(number * 10 + place), "t\(number)")
            }
        }
        let decision = Self.decide(Self.situation(0, ["ann": tables.flatMap(\.self)]))
        #expect(decision.message?.groups.count == Limits.toldGroups)
        #expect(decision.message?.ungrouped == 3)
        #expect(decision.message?.groups.first?.count == 9)
        #expect(decision.message?.groups.first?.first == Array(tables[0].prefix(Limits.toldItems)))
        #expect(decision.message?.counts == [.conflict: 9 + Limits.toldGroups + 2])
        // All of them are told: the next message has none.
        let next = Self.decide(
            Self.situation(60, ["ann": tables.flatMap(\.self)]), decision.told)
        #expect(next.message == nil)
    }

    @Test(
        arguments: [
            (.backendAway, .stuck, Limits.backendAwaySeconds),
            (.changesWait("ann"), .stuck, Limits.backendAnswersSeconds),
            (.signInNeeded("ann"), .signedOut, Limits.signInNeededSeconds),
            (.diskAlmostFull, .disk, 0), (.budgetAlmostUsed("ann"), .disk, 0),
            (.storeNotWritable("ann"), .disk, 0),
        ] as [(Condition, NotifiedEvent, Int64)])
    func `a condition is told after its patience, once a day, and when it is over`(
        condition: Condition, event: NotifiedEvent, patience: Int64
    ) {
        #expect(condition.event == event)
        #expect(Condition(word: condition.word, identity: condition.identity) == condition)
        let waits = [LongWait(table: "todoitem", count: 3)]
        var memory = NotificationMemory()
        /// What is told at a time; a message is taken as delivered.
        func told(
            _ seconds: Int64, _ finding: NotificationSituation.Finding?
        ) -> NotificationNews.ToldCondition? {
            let findings = finding.map { [condition: $0] } ?? [:]
            let decision = Self.decide(Self.situation(seconds, [:], findings), memory)
            memory = decision.message == nil ? decision.seen : decision.told
            return decision.message?.conditions.first
        }
        func one(
            _ phase: NotificationNews.ToldCondition.Phase, _ waits: [LongWait] = waits
        ) -> NotificationNews.ToldCondition {
            .init(condition: condition, phase: phase, since: Self.start, waits: waits)
        }
        if patience > 0 {
            #expect(told(0, .holds(waits)) == nil)
            #expect(told(patience - 1, .holds(waits)) == nil)
        } else {
            #expect(told(-60, .isOver) == nil)
        }
        let first = patience > 0 ? patience : 0
        #expect(told(first, .holds(waits)) == one(.began))
        #expect(told(first + 60, .holds(waits)) == nil)
        // It is not known for a while, after a restart for example: that is neither an end nor a begin.
        #expect(told(first + 120, nil) == nil)
        #expect(told(first + Self.day - 1, .holds(waits)) == nil)
        #expect(told(first + Self.day, .holds(waits)) == one(.lasts))
        #expect(told(first + 2 * Self.day - 1, .holds(waits)) == nil)
        #expect(told(first + 2 * Self.day, .isOver) == one(.over, []))
        #expect(memory == NotificationMemory())
        #expect(told(first + 2 * Self.day + 60, .isOver) == nil)
    }

    @Test func `a condition that ends or is not known before it was told is never told`() {
        for between in [NotificationSituation.Finding.isOver, nil] {
            var memory = Self.decide(Self.situation(0, [:], [.backendAway: .holds()])).seen
            let findings = between.map { [Condition.backendAway: $0] } ?? [:]
            memory = Self.decide(Self.situation(1800, [:], findings), memory).seen
            #expect(memory == NotificationMemory())
            let again = Self.decide(Self.situation(3600, [:], [.backendAway: .holds()]), memory)
            #expect(
                again.message == nil && again.seen.standing[.backendAway]?.since == Self.at(3600))
        }
    }

    @Test func `conditions that do not fit wait for the next message`() {
        let count = Limits.toldConditions + 4
        let names = (0..<count).map { "user\($0 + 100)" }
        var findings: [Condition: NotificationSituation.Finding] = [:]
        for name in names { findings[.storeNotWritable(name)] = .holds() }
        let first = Self.decide(Self.situation(0, [:], findings, identities: Set(names)))
        #expect(
            first.message?.conditions.map(\.condition.identity)
                == Array(names.prefix(Limits.toldConditions)))
        let second = Self.decide(
            Self.situation(60, [:], findings, identities: Set(names)), first.told)
        #expect(
            second.message?.conditions.map(\.condition.identity)
                == Array(names.dropFirst(Limits.toldConditions)))
    }

    @Test func `messages are a minute apart, and further after failures`() {
        #expect(NotificationPace().next(now: Self.start) == nil)
        let rests = (0...9).map { NotificationPace(failures: $0).restSeconds }
        #expect(rests == [60, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
        #expect(NotificationPace(failures: 1_000_000).restSeconds == 3600)
        let pace = NotificationPace(lastTryAt: Self.start, failures: 2)
        #expect(pace.next(now: Self.at(119)) == Self.at(120))
        #expect(pace.next(now: Self.at(120)) == nil)
        // A try in the future is from before the clock was set back.
        #expect(pace.next(now: Self.at(-1)) == nil)
    }

    @Test func `what was told is the same after a restart`() throws {
        var memory = NotificationMemory()
        memory.told["ann"] = .init(seqs: [1, 2, 3, 7, 9, 10], at: Self.at(5))
        memory.standing[.changesWait("ann")] = .init(since: Self.at(1), toldAt: Self.at(2))
        memory.standing[.backendAway] = .init(since: Self.at(3), toldAt: Self.at(4))
        let text = memory.json.text
        #expect(text.contains("\"seqs\":[[1,3],[7,7],[9,10]]"))
        #expect(NotificationMemory(json: try JSONValue(parsing: text)) == memory)
        // One that was not told begins anew.
        memory.standing[.diskAlmostFull] = .init(since: Self.at(6), toldAt: nil)
        #expect(memory.json.text == text)
        for wrong in [
            "[]", "{}", "{\"operations\":3}", "{\"operations\":[{\"identity\":\"a\"}]}",
            "{\"conditions\":[{\"condition\":\"none\",\"since\":\"2026-11-25T18:45:00.123Z\"}]}",
            "{\"conditions\":[{\"condition\":\"changes-wait\",\"since\":\"2026-11-25T18:45:00.123Z\"}]}",
        ] {
            #expect(NotificationMemory(json: try JSONValue(parsing: wrong)) == NotificationMemory())
        }
    }

    @Test func `the backend is away if no engine that asked it gets an answer`() {
        func status(_ state: BackendState) -> BackendStatus {
            BackendStatus(url: "", state: state, reason: "", since: Self.start)
        }
        #expect(SituationReader.isAway([]) == nil)
        for state in BackendState.allCases {
            let isAway = [.offline, .portal, .notTables].contains(state)
            #expect(SituationReader.isAway([status(state)]) == isAway, "\(state)")
            #expect(SituationReader.isAway([status(state), status(.online)]) == false)
        }
    }
}
