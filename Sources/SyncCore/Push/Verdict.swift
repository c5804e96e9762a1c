import HTTPMessage
import TablesProtocol

/// What the backend's answer to an operation means. Pure.
///
/// These rules hold for every case:
///
/// 1. A 2xx without a body is a success only for a delete. One with an unreadable body never is.
/// 2. An operation that may have been applied is read back before it is sent again.
/// 3. Neither a 404 alone nor a list without the row proves that a row is gone. The row is read back.
/// 4. A 404, 409, 410 or 412 counts as a conflict only if the row, read back, differs from the row that the
///    operation started from. Otherwise it is a refusal.
enum Verdict {
    /// Judges the answer to the operation's own request.
    /// - Returns: nil if the row must be read back before the outcome is known.
    static func judge(_ subject: PushSubject, _ answer: RemoteAnswer) -> PushOutcome? {
        switch answer {
        case .row(let row): return success(subject, row)
        case .empty:
            return subject.kind == .delete
                ? .applied(row: nil)
                : inconclusive("The backend answered with success but without the row.")
        case .rows: return inconclusive("The backend answered with a list instead of one row.")
        case .conflict(let status, let row, let text):
            return collision(
                subject, row, Refused(status: status, text: text, version: row?.version))
        case .missing: return nil
        case .unauthorized: return .postponed(.signIn())
        case .rejected(let status, let text): return Refused(status: status, text: text).outcome
        case .failed, .unavailable, .unusable, .unreachable: return noVerdict(answer)
        }
    }

    /// The outcome of an answer to any kind of request that is no verdict.
    static func noVerdict(_ answer: RemoteAnswer) -> PushOutcome {
        switch answer {
        case .failed(let status, let text):
            return inconclusive("The backend failed with \(status)\(detail(text))")
        case .unavailable(let status, let wait):
            let later = Later(status: status)
            let cause: Postponement.Cause =
                switch later {
                case .table: .table(retryAfter: wait)
                case .line where wait == nil: .link
                case .line, .backend: .busy(retryAfter: wait)
                }
            return .postponed(
                Postponement(
                    cause: cause, maybeApplied: later == .table, reason: Later.reason(status)))
        case .unusable(let status, let why):
            // A request in a protocol version that the backend refuses was not carried out. A list that the read by
            // id does not confirm changes nothing.
            return .postponed(
                maybeApplied: why != .otherVersion && why != .unconfirmed,
                "The answer (\(status)) is \(why.words).")
        case .unreachable(let error):
            let cause: Postponement.Cause = error.cause == .cancelled ? .cancelled : .link
            return .postponed(
                Postponement(
                    cause: cause, maybeApplied: error.reach == .maybeSent,
                    reason: error.aboutBackend))
        case .unauthorized: return .postponed(.signIn())
        case .missing(let status, _), .conflict(let status, _, _):
            return .quarantined(reason: "The backend answered \(status) to a list.")
        case .rejected(let status, let text):
            return .quarantined(
                reason: "The row cannot be read back: \(status)\(detail(text))")
        case .row, .rows, .empty:
            return inconclusive("The answer is not the one that was asked for.")
        }
    }

    /// The outcome where the table is missing. A table that existed before may come back.
    static func noTable(_ subject: PushSubject, _ status: Int) -> PushOutcome {
        guard subject.tableExistedBefore else {
            return .quarantined(reason: "The backend has no such table (\(status)).")
        }
        return .postponed(
            maybeApplied: false,
            "The backend has no such table now (\(status)), though it had it before.")
    }

    private static func success(_ subject: PushSubject, _ row: RemoteRow) -> PushOutcome {
        if subject.kind == .insert { return .applied(row: row) }
        guard row.id.isLike(subject.itemID) else {
            return subject.kind == .delete
                ? .applied(row: nil) : inconclusive("The backend answered with another row.")
        }
        if !row.isDeleted || subject.kind == .delete { return .applied(row: row) }
        // Some servers update a deleted row and leave it deleted.
        return subject.kind == .undelete
            ? .quarantined(reason: "The backend left the row deleted.") : conflict(subject, row)
    }

    private static func collision(
        _ subject: PushSubject, _ row: RemoteRow?, _ refused: Refused
    ) -> PushOutcome? {
        // The backend assigns the id, so no other row can have it.
        if subject.isAssigned { return refused.outcome }
        guard let row, subject.isProven(row, by: refused) else { return nil }
        let outcome = found(subject, row, after: refused)
        if subject.kind == .delete { return outcome }
        // The body may show a column otherwise than reads do, where the backend has scripts for them. So nothing is
        // discarded, refused or taken for applied by it.
        switch outcome {
        case .rebased, .conflict, .postponed: return outcome
        case .applied, .sendAgain, .discarded, .quarantined: return nil
        }
    }

    static func inconclusive(_ reason: String) -> PushOutcome {
        .postponed(maybeApplied: true, reason)
    }

    /// The outcome of a conflict, which the table's policy may decide at once. A local change that it keeps is sent
    /// again only once in a pass: a row that keeps changing waits.
    static func conflict(_ subject: PushSubject, _ row: RemoteRow?) -> PushOutcome {
        let isGone = row?.isDeleted ?? true
        let reason = ConflictReason.sentence(subject.kind, isGone: isGone)
        switch subject.policy(isGone: isGone) {
        case .ask: return .conflict(server: row, reason: reason)
        case .server:
            return .discarded(server: row, reason: "The table's policy takes the backend's row.")
        case .client, .merge:
            return subject.hasMerged
                ? .postponed(Postponement(cause: .contended, reason: reason))
                : .rebased(
                    onto: row, reason: "The table's policy keeps the local change.",
                    overwrites: true)
        }
    }

    static func detail(_ text: String) -> String { text.isEmpty ? "." : ": \(text)" }
}

extension Unusable {
    /// The end of the sentence "The answer (500) is …".
    var words: String {
        switch self {
        case .html: "a page for people, not an answer of /tables"
        case .notJSON: "torn or not JSON"
        case .unexpectedShape: "JSON, but neither a row nor a list"
        case .otherVersion: "a refusal of this version of the protocol"
        case .redirect: "a redirect to somewhere else"
        case .unconfirmed: "a list without the row, which a read by its id does not confirm"
        }
    }
}

/// An answer with 404, 409, 410 or 412 to an operation's own request.
struct Refused: Sendable, Hashable {
    var status: Int
    /// The backend's sentence; empty if it gave none.
    var text: String
    /// The version of the row in its body; nil without one.
    var version: String?

    /// The outcome if no other writer has changed the row.
    var outcome: PushOutcome { .quarantined(reason: sentence) }

    var sentence: String { "The backend refused it with \(status)\(Verdict.detail(text))" }

    /// 404 or 410.
    var isMissing: Bool { status == 404 || status == 410 }
}

extension Verdict {
    /// Judges a row that was read back: a list with the row, deleted or not, or an empty list.
    /// - Parameter refused: the answer to the request; nil if an earlier request had no verdict, or the row's version
    ///   is needed before the request is sent.
    static func judge(
        _ subject: PushSubject, readBack answer: RemoteAnswer, after refused: Refused?
    ) -> PushOutcome {
        if case .missing(let status, _) = answer { return noTable(subject, status) }
        guard case .rows(let page) = answer else { return noVerdict(answer) }
        // No row has the id of an insert whose id the backend assigns.
        let row = page.rows.first { $0.id.isLike(subject.itemID) && !subject.isAssigned }
        if let row {
            return subject.isOlder(row, than: refused)
                ? behind("The backend's row is older than what it answered before.")
                : found(subject, row, after: refused)
        }
        // An insert that is sent again takes no second effect.
        if subject.mustExist, subject.kind != .insert || refused != nil {
            return behind("The backend gives no row where it must have one.")
        }
        return notFound(subject, after: refused)
    }

    /// The answer is older than what the backend has. The row is asked for again.
    private static func behind(_ reason: String) -> PushOutcome {
        .postponed(maybeApplied: false, reason)
    }

    /// Judges the row. A refusal is judged before any policy: if the row is still as the operation started from,
    /// no other writer has changed it.
    static func found(
        _ subject: PushSubject, _ row: RemoteRow, after refused: Refused?
    ) -> PushOutcome {
        let subject = subject.following(row)
        if let refused, subject.isRefused(refused, beside: row) { return refused.outcome }
        switch subject.kind {
        case .insert: return foundInsert(subject, row, after: refused)
        case .delete: return foundDelete(subject, row)
        case .undelete: return foundUndelete(subject, row, after: refused)
        case .update, .replace: return foundUpdate(subject, row)
        }
    }

    private static func foundInsert(
        _ subject: PushSubject, _ row: RemoteRow, after refused: Refused?
    ) -> PushOutcome {
        // This store generated the id, so the row proves that the insert succeeded.
        if subject.maybeApplied || subject.mayArriveLate, subject.hasGeneratedID {
            return .applied(row: row)
        }
        if !row.isDeleted, subject.isEqual(to: row) { return .applied(row: row) }
        if row.id != subject.itemID, let refused {
            let reason = "The backend holds this id equal to that of its item \(row.id). "
            return .quarantined(reason: reason + refused.sentence)
        }
        return conflict(subject, row)
    }

    private static func foundUpdate(_ subject: PushSubject, _ row: RemoteRow) -> PushOutcome {
        if row.isDeleted { return conflict(subject, row) }
        if subject.maybeApplied {
            if subject.isEqual(to: row) { return .applied(row: row) }
            // If another writer changed the row, it is unknown whether my change was applied before.
            return subject.isUnchanged(row) ? sendAgain(subject) : conflict(subject, row)
        }
        let merge = ThreeWayMerge(
            base: subject.base, changes: subject.sent, theirs: row.columns)
        if !merge.overlaps.isEmpty { return conflict(subject, row) }
        return merge.rest.isEmpty ? .applied(row: row) : send(subject, over: row)
    }

    private static func foundDelete(_ subject: PushSubject, _ row: RemoteRow) -> PushOutcome {
        if row.isDeleted { return .applied(row: row) }
        if subject.isUnknownRow { return sendAgain(subject) }
        if subject.maybeApplied {
            return subject.isUnchanged(row) ? sendAgain(subject) : conflict(subject, row)
        }
        // If the columns are the same, a new version overwrites nothing.
        guard let base = subject.base, row.columns.holds(base), base.holds(row.columns) else {
            return conflict(subject, row)
        }
        return send(subject, over: row)
    }

    /// Judges an undelete of a deleted row. If the row has another version, another writer has brought it back
    /// and deleted it again, and the undelete would undo that deletion. An undelete without a version takes the
    /// row's.
    private static func foundUndelete(
        _ subject: PushSubject, _ row: RemoteRow, after refused: Refused?
    ) -> PushOutcome {
        if !row.isDeleted { return .applied(row: row) }
        if subject.maybeApplied {
            // Without versions a deletion by another writer in between cannot be seen.
            let isSame = subject.baseVersion != nil && subject.isUnchanged(row)
            return isSame ? sendAgain(subject) : conflict(subject, row)
        }
        return refused == nil ? send(subject, over: row) : conflict(subject, row)
    }

    /// Sends what is left to do after a merge with the row that was read. An operation that started from this
    /// very row is sent unchanged. If the row changes faster than it can be written, the operation is tried again
    /// with its own backoff.
    private static func send(_ subject: PushSubject, over row: RemoteRow) -> PushOutcome {
        if subject.baseVersion == row.version, subject.isUnchanged(row) {
            return sendAgain(subject)
        }
        guard !subject.hasMerged else {
            return .postponed(
                maybeApplied: false, "The backend's row keeps changing while it is written.")
        }
        let isSame = subject.base.map { row.columns.changedNames(from: $0).isEmpty } ?? false
        return .rebased(
            onto: row,
            reason: isSame
                ? "The backend's row has the same values; its version is taken."
                : "Merged with the backend's changes to other fields.")
    }

    static func sendAgain(_ subject: PushSubject) -> PushOutcome {
        .sendAgain(
            reason: subject.maybeApplied
                ? "The backend never got it; it is sent again."
                : "The backend's row is as it was; it is sent.")
    }

    private static func notFound(_ subject: PushSubject, after refused: Refused?) -> PushOutcome {
        switch subject.kind {
        case .delete: .applied(row: nil)
        case .update, .replace: conflict(subject, nil)
        // A person's undo inserts the row again. A client's undelete is a conflict, which a person decides.
        case .undelete:
            subject.actor.isClient
                ? conflict(subject, nil)
                : .rebased(
                    onto: nil,
                    reason: "The backend has no such item any more; it is inserted again.")
        case .insert: refused?.outcome ?? sendAgain(subject)
        }
    }
}
