import HTTPMessage
import TablesProtocol
import Testing

@testable import SyncCore

/// One case of the table: operation, response, row, and the expected verdict.
struct VerdictCase: Sendable, CustomTestStringConvertible {
    var name: String
    var subject: PushSubject
    var answer: RemoteAnswer
    var expected: Expected

    var testDescription: String { name }

    enum Expected: Sendable {
        case applied(RemoteRow?), readBack, sendAgain, insertAgain, merge(RemoteRow)
        case conflict(RemoteRow?), decided(ConflictPolicy), contended
        case quarantine, refused, own(Bool), link(Bool), busy(Bool)
        case table(Bool), signIn
    }

    init(_ name: String, _ subject: PushSubject, _ answer: RemoteAnswer, _ expected: Expected) {
        (self.name, self.subject, self.answer, self.expected) = (name, subject, answer, expected)
    }

    func check(_ outcome: PushOutcome?) -> Bool {
        switch (expected, outcome) {
        case (.readBack, nil): true
        case (.applied(let row), .applied(let found, _)?): row == found
        case (.sendAgain, .sendAgain?), (.quarantine, .quarantined?),
            (.insertAgain, .rebased(onto: nil, _, overwrites: false)?):
            true
        case (.signIn, let found?): found == .postponed(.signIn())
        case (.refused, .quarantined(let reason, maybeApplied: false)?):
            [taken, denied].map(\.sentence).contains(reason)
        case (.merge(let row), .rebased(let found?, _, overwrites: false)?): row == found
        case (.conflict(let row), .conflict(let found, _)?): row == found
        case (.decided(let policy), let found?): isDecided(found, by: policy)
        case (.own(let maybe), .postponed(let later)?):
            later.cause == .own && later.maybeApplied == maybe
        case (.contended, .postponed(let later)?):
            later.cause == .contended && !later.maybeApplied
        case (.link(let maybe), .postponed(let later)?):
            later.cause == .link && later.maybeApplied == maybe
        case (.table(let maybe), .postponed(let later)?):
            later.cause == .table(retryAfter: nil) && later.maybeApplied == maybe
        case (.busy(let maybe), .postponed(let later)?):
            later.cause == .busy(retryAfter: nil) && later.maybeApplied == maybe
        default: false
        }
    }
}

/// Whether a conflict has the outcome that the policy gives it.
/// - Parameter row: the backend's row; nil for any.
private func isDecided(
    _ outcome: PushOutcome, by policy: ConflictPolicy, over row: RemoteRow? = nil
) -> Bool {
    guard row == nil || outcome.row == row else { return false }
    return switch (policy, outcome) {
    case (.ask, .conflict), (.server, .discarded), (.client, .rebased(_, _, overwrites: true)),
        (.merge, .rebased(_, _, overwrites: true)):
        true
    default: false
    }
}

private let base = Columns(stored: #"{"text":"a","complete":false,"rank":1}"#)

private func id(_ text: String) -> ItemID { (try? ItemID(text)) ?? ItemID(0) }

private func row(
    _ columns: String = #"{"text":"a","complete":false,"rank":1}"#, version: String? = "v2",
    deleted: Bool? = false, id text: String = "x"
) -> RemoteRow {
    RemoteRow(
        id: id(text), columns: Columns(stored: columns), updatedAt: "2020-01-01T00:00:00.000Z",
        version: version, deleted: deleted)
}

private func row(_ row: RemoteRow, _ text: String) -> RemoteRow {
    var row = row
    row.id = id(text)
    return row
}

/// A row after it came from a backend that knew its owner as `old`, and the user's change of it.
private let moved = row(#"{"text":"a","complete":false,"rank":1,"userId":"new"}"#, version: "v1")

private func movedSubject(
    _ kind: OperationKind, owner: String?, sent: String = #"{"text":"b"}"#
) -> PushSubject {
    var subject = subject(kind, maybe: true, sent: sent)
    subject.base?["userId"] = .string("old")
    subject.owner = owner
    return subject
}

private func subject(
    _ kind: OperationKind, maybe: Bool = false, made: Bool = false, merged: Bool = false,
    policy: ConflictPolicy = .ask, sent: String = #"{"text":"b"}"#
) -> PushSubject {
    let hasColumns = kind != .delete && kind != .undelete
    var subject = PushSubject(
        kind: kind, itemID: id("x"), sent: hasColumns ? Columns(stored: sent) : Columns(),
        base: kind == .insert ? nil : base, baseVersion: kind == .insert ? nil : "v1")
    subject.operation.maybeApplied = maybe
    subject.operation.hasGeneratedID = made
    subject.operation.conditional = true
    subject.hasMerged = merged
    subject.conflictPolicy = policy
    return subject
}

private let taken = Refused(status: 409, text: "Violation of UNIQUE KEY constraint 'UQ'.")
private let denied = Refused(status: 404, text: "")
private let gone = row(version: "v2", deleted: true)
private let mine = row(#"{"text":"b","complete":false,"rank":1.0}"#)
private let elsewhere = row(#"{"text":"a","complete":true,"rank":1}"#)
private let overlap = row(#"{"text":"c","complete":false,"rank":1}"#)
private let unchanged = row(version: "v1")
private let repeated = row(#"{"text":"a","complete":true,"rank":1}"#, version: "v1")

@Suite struct VerdictTests {
    static let answers: [VerdictCase] = [
        .init("insert 201", subject(.insert), .row(mine), .applied(mine)),
        .init("insert 2xx without a body is no success", subject(.insert), .empty, .own(true)),
        .init("insert 409 is read back", subject(.insert), .conflict(status: 409, mine), .readBack),
        .init("insert 404 is read back", subject(.insert), .missing(status: 404), .readBack),
        .init("update 200", subject(.update), .row(mine), .applied(mine)),
        .init("update 200 of a deleted row", subject(.update), .row(gone), .conflict(gone)),
        .init(
            "update 200 in another spelling", subject(.update), .row(row(mine, "X")),
            .applied(row(mine, "X"))),
        .init("update 200 with another row", subject(.update), .row(row(id: "y")), .own(true)),
        .init("update 2xx without a body", subject(.update), .empty, .own(true)),
        .init("412", subject(.update), .conflict(status: 412, overlap), .conflict(overlap)),
        .init(
            "412, disjoint", subject(.update), .conflict(status: 412, elsewhere),
            .merge(elsewhere)),
        .init(
            "412, the same in another version", subject(.update), .conflict(status: 412, row()),
            .merge(row())),
        .init(
            "412 with the version that was sent", subject(.update),
            .conflict(status: 412, repeated), .readBack),
        .init(
            "412 with a part of the row", subject(.update),
            .conflict(status: 412, row(#"{"text":"c","rank":null}"#)), .readBack),
        .init(
            "412 with another item", subject(.update),
            .conflict(status: 412, row(overlap, "y")), .readBack),
        .init(
            "412 of a deleted row without columns", subject(.update),
            .conflict(status: 412, row("{}", deleted: true)), .readBack),
        .init(
            "412 without a version", subject(.update), .conflict(status: 412, row(version: nil)),
            .readBack),
        .init(
            "409 with another row", subject(.replace), .conflict(status: 409, overlap), .readBack),
        .init(
            "412 that shows mine may be an echo", subject(.update), .conflict(status: 412, mine),
            .readBack),
        .init(
            "412 that lacks a sent column may be an echo",
            subject(.update, sent: #"{"text":"b","more":1}"#), .conflict(status: 412, mine),
            .readBack),
        .init(
            "412 to a merged change", subject(.update, merged: true),
            .conflict(status: 412, elsewhere), .own(false)),
        .init("412 without a row", subject(.update), .conflict(status: 412, nil), .readBack),
        .init(
            "409 without a version", subject(.update), .conflict(status: 409, row(version: nil)),
            .readBack),
        .init(
            "412 of a deleted row", subject(.update), .conflict(status: 412, gone),
            .conflict(gone)),
        .init(
            "undelete 412 of a deleted row", subject(.undelete), .conflict(status: 412, gone),
            .conflict(gone)),
        .init(
            "undelete 412 of a live row may be an echo", subject(.undelete),
            .conflict(status: 412, mine), .readBack),
        .init(
            "policy merge asks about deletes", subject(.delete, policy: .merge),
            .conflict(status: 412, overlap), .decided(.ask)),
        .init("update 404 is read back", subject(.update), .missing(status: 404), .readBack),
        .init("delete 404 is read back", subject(.delete), .missing(status: 404), .readBack),
        .init("delete 204", subject(.delete), .empty, .applied(nil)),
        .init("delete 200 with the row", subject(.delete), .row(gone), .applied(gone)),
        .init(
            "delete 409 of a deleted row", subject(.delete), .conflict(status: 409, gone),
            .applied(gone)),
        .init("delete 412", subject(.delete), .conflict(status: 412, overlap), .conflict(overlap)),
        .init(
            "delete 412 with no column", subject(.delete), .conflict(status: 412, row("{}")),
            .readBack),
        .init(
            "delete 412 with a part of the row", subject(.delete),
            .conflict(status: 412, row(#"{"text":"c","rank":null}"#)), .readBack),
        .init(
            "delete 412 of a deleted row without columns", subject(.delete),
            .conflict(status: 412, row("{}", deleted: true)), .applied(row("{}", deleted: true))),
        .init("undelete 201", subject(.undelete), .row(mine), .applied(mine)),
        .init(
            "undelete 409 of a live row", subject(.undelete), .conflict(status: 409, mine),
            .readBack),
        .init("401", subject(.update), .unauthorized, .signIn),
        .init("400", subject(.update), .rejected(status: 400, text: "no"), .quarantine),
        .init("403", subject(.delete), .rejected(status: 403, text: ""), .quarantine),
        .init("500", subject(.update), .failed(status: 500, text: ""), .own(true)),
        .init("408", subject(.insert), .failed(status: 408, text: ""), .own(true)),
        .init("503", subject(.update), .unavailable(status: 503, retryAfter: nil), .table(true)),
        .init("429", subject(.update), .unavailable(status: 429, retryAfter: nil), .busy(false)),
        .init(
            "a quota", subject(.update), .unavailable(status: 403, retryAfter: nil), .busy(false)),
        .init("425", subject(.delete), .unavailable(status: 425, retryAfter: nil), .busy(false)),
        .init("407", subject(.update), .unavailable(status: 407, retryAfter: nil), .link(false)),
        .init("421", subject(.insert), .unavailable(status: 421, retryAfter: nil), .link(false)),
        .init("a page", subject(.update), .unusable(status: 200, .html), .own(true)),
        .init("a torn body", subject(.insert), .unusable(status: 201, .notJSON), .own(true)),
        .init(
            "never sent", subject(.update),
            .unreachable(.init(reach: .notSent, cause: .connect, message: "")), .link(false)),
        .init(
            "perhaps sent", subject(.update),
            .unreachable(.init(reach: .maybeSent, cause: .timeout, message: "")), .link(true)),
    ]

    @Test(arguments: answers)
    func `each response has one verdict`(_ row: VerdictCase) {
        let outcome = Verdict.judge(row.subject, row.answer)
        #expect(row.check(outcome), "\(String(describing: outcome))")
    }

    private static func list(_ rows: RemoteRow...) -> RemoteAnswer {
        .rows(RemotePage(elements: rows.map { .row($0) }, hasNext: false))
    }

    static let unknown: [VerdictCase] = [
        .init("insert that never arrived", subject(.insert, maybe: true), list(), .sendAgain),
        .init(
            "own id exists", subject(.insert, maybe: true, made: true), list(overlap),
            .applied(overlap)),
        .init(
            "client's id with what was sent", subject(.insert, maybe: true), list(mine),
            .applied(mine)),
        .init(
            "client's id with something else", subject(.insert, maybe: true), list(overlap),
            .conflict(overlap)),
        .init(
            "own id deleted since", subject(.insert, maybe: true, made: true), list(gone),
            .applied(gone)),
        .init("update that arrived", subject(.update, maybe: true), list(mine), .applied(mine)),
        .init(
            "update that never arrived", subject(.update, maybe: true), list(unchanged), .sendAgain),
        .init(
            "update of a row that lacks a column it never kept", subject(.update, maybe: true),
            list(row(#"{"text":"a","complete":false,"more":1}"#, version: "v1")), .sendAgain),
        .init(
            "update of a row whose version came twice", subject(.update, maybe: true),
            list(repeated), .conflict(repeated)),
        .init(
            "update and another change", subject(.update, maybe: true), list(elsewhere),
            .conflict(elsewhere)),
        .init(
            "update, policy client", subject(.update, maybe: true, policy: .client),
            list(elsewhere), .decided(.client)),
        .init(
            "update of a row that is gone", subject(.update, maybe: true), list(), .conflict(nil)),
        .init(
            "update of a deleted row", subject(.update, maybe: true), list(gone), .conflict(gone)),
        .init(
            "delete that arrived, soft", subject(.delete, maybe: true), list(gone), .applied(gone)),
        .init("delete that arrived, hard", subject(.delete, maybe: true), list(), .applied(nil)),
        .init(
            "delete that never arrived", subject(.delete, maybe: true), list(unchanged), .sendAgain),
        .init(
            "delete of a changed row", subject(.delete, maybe: true), list(overlap),
            .conflict(overlap)),
        .init("undelete that arrived", subject(.undelete, maybe: true), list(mine), .applied(mine)),
        .init(
            "another row in the list", subject(.delete, maybe: true), list(row(id: "y")),
            .applied(nil)),
        .init(
            "update of a row whose owner has another id here",
            movedSubject(.update, owner: "new"), list(moved), .sendAgain),
        .init(
            "delete of a row whose owner has another id here",
            movedSubject(.delete, owner: "new"), list(moved), .sendAgain),
        .init(
            "update of a column in which another writer names the user",
            movedSubject(.update, owner: "new", sent: #"{"userId":"mine"}"#), list(moved),
            .conflict(moved)),
        .init(
            "delete of a row that got another owner", movedSubject(.delete, owner: nil),
            list(moved), .conflict(moved)),
        .init(
            "delete of a row of another user", movedSubject(.delete, owner: "other"),
            list(moved), .conflict(moved)),
        .init("no list", subject(.update, maybe: true), .failed(status: 500, text: ""), .own(true)),
        .init("no list, signed out", subject(.update, maybe: true), .unauthorized, .signIn),
        .init(
            "a list that is refused", subject(.update, maybe: true),
            .rejected(status: 400, text: ""), .quarantine),
    ]

    @Test(arguments: unknown)
    func `what may have been applied is judged by the row`(_ row: VerdictCase) {
        let outcome = Verdict.judge(row.subject, readBack: row.answer, after: nil)
        #expect(row.check(outcome), "\(String(describing: outcome))")
    }

    static let conflicts: [VerdictCase] = [
        .init("insert of an equal row", subject(.insert), list(mine), .applied(mine)),
        .init("insert of another row", subject(.insert), list(overlap), .conflict(overlap)),
        .init("insert over a deleted row", subject(.insert), list(gone), .conflict(gone)),
        .init(
            "insert of an equal row, spelled otherwise", subject(.insert), list(row(mine, "X ")),
            .applied(row(mine, "X "))),
        .init(
            "insert of another row, spelled otherwise", subject(.insert, policy: .client),
            list(row(overlap, "X")), .quarantine),
        .init(
            "update over a row that is spelled otherwise", subject(.update),
            list(row(overlap, "X")), .conflict(row(overlap, "X"))),
        .init("insert of a hidden id", subject(.insert), list(), .refused),
        .init("update, disjoint", subject(.update), list(elsewhere), .merge(elsewhere)),
        .init(
            "update, disjoint again", subject(.update, merged: true), list(elsewhere), .own(false)),
        .init("update, overlapping", subject(.update), list(overlap), .conflict(overlap)),
        .init("update, deleted", subject(.update), list(gone), .conflict(gone)),
        .init(
            "policy server", subject(.update, policy: .server), list(overlap), .decided(.server)),
        .init(
            "policy client", subject(.update, policy: .client), list(overlap), .decided(.client)),
        .init(
            "policy client again", subject(.update, merged: true, policy: .client), list(overlap),
            .contended),
        .init("policy merge", subject(.update, policy: .merge), list(overlap), .decided(.merge)),
        .init(
            "policy merge asks about deletions", subject(.update, policy: .merge), list(gone),
            .decided(.ask)),
        .init("update, gone", subject(.update), list(), .conflict(nil)),
        .init("update, already so", subject(.update), list(mine), .applied(mine)),
        .init("undelete, already so", subject(.undelete), list(mine), .applied(mine)),
        .init("delete, gone", subject(.delete), list(), .applied(nil)),
        .init("delete, changed", subject(.delete), list(overlap), .conflict(overlap)),
        .init("delete, the same in another version", subject(.delete), list(row()), .merge(row())),
        .init(
            "delete, the same in another version again", subject(.delete, merged: true),
            list(row()), .own(false)),
        .init(
            "update, the same in another version", subject(.update), list(row()),
            .merge(row())),
        .init("undelete, deleted again", subject(.undelete), list(gone), .conflict(gone)),
        .init("undelete, gone", subject(.undelete), list(), .conflict(nil)),
    ]

    @Test(arguments: conflicts)
    func `a conflict is judged by the row read back`(_ row: VerdictCase) {
        let outcome = Verdict.judge(row.subject, readBack: row.answer, after: taken)
        #expect(row.check(outcome), "\(String(describing: outcome))")
    }

    static let missing: [VerdictCase] = [
        .init("insert", subject(.insert), list(), .refused),
        .init("update, gone", subject(.update), list(), .conflict(nil)),
        .init("update, deleted", subject(.update), list(gone), .conflict(gone)),
        .init("update, there after all", subject(.update), list(unchanged), .refused),
        .init("update, made anew", subject(.update), list(overlap), .conflict(overlap)),
        .init("delete, gone", subject(.delete), list(), .applied(nil)),
        .init("delete, deleted", subject(.delete), list(gone), .applied(gone)),
        .init("delete, there after all", subject(.delete), list(unchanged), .refused),
        .init("undelete, gone", subject(.undelete), list(), .conflict(nil)),
        .init("undelete, still deleted", subject(.undelete), list(gone), .refused),
    ]

    @Test(arguments: missing)
    func `a 404 is judged by the list`(_ row: VerdictCase) {
        let outcome = Verdict.judge(row.subject, readBack: row.answer, after: denied)
        #expect(row.check(outcome), "\(String(describing: outcome))")
    }

    @Test func `writes without If-Match follow the policy for unconditional writes`() {
        var write = subject(.update)
        (write.operation.conditional, write.unconditionalPolicy) = (false, .client)
        #expect(write.policy(isGone: false) == .client)
        write.operation.conditional = true
        #expect(write.policy(isGone: false) == .ask)
    }

    @Test func `an undelete without a version that may have arrived is not repeated`() throws {
        var undelete = subject(.undelete, maybe: true)
        let same = row(version: "v1", deleted: true)
        #expect(
            Verdict.judge(undelete, readBack: Self.list(same), after: nil)
                == Verdict.sendAgain(undelete))
        undelete.operation.baseVersion = nil
        let outcome = Verdict.judge(
            undelete, readBack: Self.list(row(version: nil, deleted: true)), after: nil)
        guard case .conflict = outcome else { throw World.Failure("\(outcome)") }
    }

    @Test func `a person's undelete inserts what the backend does not have`() {
        var undo = subject(.undelete)
        undo.operation.actor = .person
        let outcome = Verdict.judge(undo, readBack: Self.list(), after: nil)
        #expect(
            outcome
                == .rebased(
                    onto: nil,
                    reason: "The backend has no such item any more; it is inserted again."))
    }
}

/// Refusals over all kinds, statuses, policies, versions and rows.
@Suite struct RefusalVerdictTests {
    /// What the row read back is, compared with the one that the change started from.
    enum Found: CaseIterable {
        case same, sameInOtherVersion, disjoint, overlapping
    }

    static let kinds: [OperationKind] = [.update, .replace, .delete]
    static let versions: [(String?, String?)] = [
        ("v1", "v1"), (nil, nil), ("v1", nil), (nil, "v1"),
    ]
    static let statuses = [404, 409, 410, 412]

    private func remote(_ found: Found, _ version: String?) -> RemoteRow {
        let other = version.map { _ in "v2" }
        return switch found {
        case .same: row(version: version)
        case .sameInOtherVersion: row(version: other)
        case .disjoint: row(#"{"text":"a","complete":true,"rank":1}"#, version: other)
        case .overlapping: row(#"{"text":"c","complete":false,"rank":1}"#, version: other)
        }
    }

    @Test(arguments: kinds, statuses)
    func `an answer is about a version only if the row is another one`(
        _ kind: OperationKind, _ status: Int
    ) {
        for (had, has) in Self.versions {
            for found in Found.allCases {
                for policy in ConflictPolicy.allCases {
                    var change = subject(kind, policy: policy)
                    change.operation.baseVersion = had
                    let row = remote(found, has)
                    let refused = Refused(status: status, text: "No.")
                    let list = RemoteAnswer.rows(RemotePage(elements: [.row(row)], hasNext: false))
                    let outcome = Verdict.judge(change, readBack: list, after: refused)
                    let hasOrder = had != nil && has != nil
                    let isSame = found == .same || found == .sameInOtherVersion && !hasOrder
                    let comment: Comment =
                        "\(had ?? "-") \(has ?? "-") \(found) \(policy): \(outcome)"
                    if isSame {
                        #expect(
                            outcome
                                == .quarantined(
                                    reason: "The backend refused it with \(status): No."),
                            comment)
                    } else {
                        switch (outcome, found) {
                        case (.rebased(row, _, overwrites: false), .sameInOtherVersion): break
                        case (.rebased(row, _, overwrites: false), .disjoint):
                            #expect(kind != .delete, comment)
                        case (_, .disjoint), (_, .overlapping):
                            #expect(found == .overlapping || kind == .delete, comment)
                            let decided = change.policy(isGone: false)
                            #expect(isDecided(outcome, by: decided, over: row), comment)
                        default: Issue.record(comment)
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: statuses)
    func `an insert whose id no row has is refused, one of another row is a conflict`(_ status: Int)
    {
        let refused = Refused(status: status, text: "")
        let none = RemoteAnswer.rows(RemotePage(elements: [], hasNext: false))
        #expect(
            Verdict.judge(subject(.insert), readBack: none, after: refused)
                == .quarantined(reason: "The backend refused it with \(status)."))
        var number = subject(.insert)
        number.operation.itemID = ItemID(7)
        let other = RemoteAnswer.rows(
            RemotePage(
                elements: [.row(RemoteRow(id: ItemID(7), columns: base, version: "v1"))],
                hasNext: false))
        #expect(
            Verdict.judge(number, readBack: other, after: refused) == refused.outcome)
        #expect(
            Verdict.judge(number, .conflict(status: 409, nil, text: "Taken."))
                == .quarantined(reason: "The backend refused it with 409: Taken."))
    }
}
