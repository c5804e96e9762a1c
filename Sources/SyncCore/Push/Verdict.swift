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
    static func judge(_ subject: PushSubject, _ answer: RemoteAnswer) -> PushDecision {
        switch answer {
        case .row(let row): return success(subject, row)
        case .empty:
            return subject.kind == .delete
                ? .applied(nil)
                : inconclusive("The backend answered with success but without the row.")
        case .rows: return inconclusive("The backend answered with a list instead of one row.")
        case .conflict(let status, let row, let text):
            return collision(
                subject, row, Refused(status: status, text: text, version: row?.version))
        case .missing: return .readBack
        case .unauthorized: return .signIn(maybeApplied: false)
        case .rejected(let status, let text): return Refused(status: status, text: text).decision
        case .failed, .unavailable, .unusable, .unreachable: return noVerdict(answer)
        }
    }

    /// The decision for an answer to any kind of request that is no verdict.
    static func noVerdict(_ answer: RemoteAnswer) -> PushDecision {
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
                Postponement(
                    cause: .own, maybeApplied: why != .otherVersion && why != .unconfirmed,
                    reason: "The answer (\(status)) is \(why.words)."))
        case .unreachable(let error):
            let cause: Postponement.Cause = error.cause == .cancelled ? .cancelled : .link
            return .postponed(
                Postponement(
                    cause: cause, maybeApplied: error.reach == .maybeSent,
                    reason: error.aboutBackend))
        case .unauthorized: return .signIn(maybeApplied: false)
        case .missing(let status, _), .conflict(let status, _, _):
            return .quarantine(reason: "The backend answered \(status) to a list.")
        case .rejected(let status, let text):
            return .quarantine(
                reason: "The row cannot be read back: \(status)\(detail(text))")
        case .row, .rows, .empty:
            return inconclusive("The answer is not the one that was asked for.")
        }
    }

    /// The decision for a missing table. A table that existed before may come back.
    static func noTable(_ subject: PushSubject, _ status: Int) -> PushDecision {
        guard subject.tableExistedBefore else {
            return .quarantine(reason: "The backend has no such table (\(status)).")
        }
        let reason = "The backend has no such table now (\(status)), though it had it before."
        return .postponed(Postponement(cause: .own, maybeApplied: false, reason: reason))
    }

    private static func success(_ subject: PushSubject, _ row: RemoteRow) -> PushDecision {
        switch subject.kind {
        case .insert: return .applied(row)
        case .delete: return .applied(row.id.isLike(subject.itemID) ? row : nil)
        case .update, .replace:
            guard row.id.isLike(subject.itemID) else {
                return inconclusive("The backend answered with another row.")
            }
            // Some servers update a deleted row and leave it deleted.
            return row.isDeleted ? conflict(subject, row) : .applied(row)
        case .undelete:
            guard row.id.isLike(subject.itemID) else {
                return inconclusive("The backend answered with another row.")
            }
            return row.isDeleted
                ? .quarantine(reason: "The backend left the row deleted.") : .applied(row)
        }
    }

    private static func collision(
        _ subject: PushSubject, _ row: RemoteRow?, _ refused: Refused
    ) -> PushDecision {
        // The backend assigns the id, so no other row can have it.
        if subject.kind == .insert, subject.itemID.kind == .integer { return refused.decision }
        // The body of a conflict may be the request's own item, sent back with the present version or with
        // values that the backend changed. So it is not believed. A delete sends no item, so the body is the
        // backend's row, or a part of it.
        guard subject.kind == .delete, let row, row.version != nil, row.id.isLike(subject.itemID),
            row.isDeleted || !row.columns.lacksValue(of: subject.base ?? Columns())
        else { return .readBack }
        return found(subject, row, after: .refused(refused))
    }

    static func inconclusive(_ reason: String) -> PushDecision {
        .postponed(Postponement(cause: .own, maybeApplied: true, reason: reason))
    }

    static func conflict(_ subject: PushSubject, _ row: RemoteRow?) -> PushDecision {
        let isGone = row?.isDeleted ?? true
        return .conflict(
            row, reason: ConflictReason.sentence(subject.kind, isGone: isGone),
            decidedBy: subject.policy(isGone: isGone))
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

    /// The decision if no other writer has changed the row.
    var decision: PushDecision { .quarantine(reason: sentence) }

    var sentence: String { "The backend refused it with \(status)\(Verdict.detail(text))" }

    /// 404 or 410.
    var isMissing: Bool { status == 404 || status == 410 }
}

extension Verdict {
    enum ReadBackCause: Hashable {
        /// An earlier request had no verdict, or the row's version is needed before the request is sent.
        case unknown
        /// The request was answered with 404, 409, 410 or 412.
        case refused(Refused)
    }

    /// Judges a row that was read back: a list with the row, deleted or not, or an empty list.
    static func judge(
        _ subject: PushSubject, readBack answer: RemoteAnswer, after cause: ReadBackCause
    ) -> PushDecision {
        if case .missing(let status, _) = answer { return noTable(subject, status) }
        guard case .rows(let page) = answer else { return noVerdict(answer) }
        // No row has the id of an insert whose id the backend assigns.
        let row = page.rows.first { $0.id.isLike(subject.itemID) && !subject.isAssigned }
        if let row {
            return subject.isOlder(row, than: cause)
                ? behind("The backend's row is older than what it answered before.")
                : found(subject, row, after: cause)
        }
        // An insert that is sent again takes no second effect.
        if subject.mustExist, subject.kind != .insert || cause != .unknown {
            return behind("The backend gives no row where it must have one.")
        }
        return notFound(subject, after: cause)
    }

    /// The answer is older than what the backend has. The row is asked for again.
    private static func behind(_ reason: String) -> PushDecision {
        .postponed(Postponement(cause: .own, maybeApplied: false, reason: reason))
    }

    /// Judges the row. A refusal is judged before any policy: if the row is still as the operation started from,
    /// no other writer has changed it.
    static func found(
        _ subject: PushSubject, _ row: RemoteRow, after cause: ReadBackCause
    ) -> PushDecision {
        let subject = subject.following(row)
        if case .refused(let refused) = cause, subject.isRefused(refused, beside: row) {
            return refused.decision
        }
        switch subject.kind {
        case .insert: return foundInsert(subject, row, after: cause)
        case .delete: return foundDelete(subject, row)
        case .undelete: return foundUndelete(subject, row, after: cause)
        case .update, .replace: return foundUpdate(subject, row)
        }
    }

    private static func foundInsert(
        _ subject: PushSubject, _ row: RemoteRow, after cause: ReadBackCause
    ) -> PushDecision {
        // This store generated the id, so the row proves that the insert succeeded.
        if subject.maybeApplied || subject.mayArriveLate, subject.hasGeneratedID {
            return .applied(row)
        }
        if !row.isDeleted, subject.isEqual(to: row) { return .applied(row) }
        if row.id != subject.itemID, case .refused(let refused) = cause {
            let reason = "The backend holds this id equal to that of its item \(row.id). "
            return .quarantine(reason: reason + refused.sentence)
        }
        return conflict(subject, row)
    }

    private static func foundUpdate(_ subject: PushSubject, _ row: RemoteRow) -> PushDecision {
        if row.isDeleted { return conflict(subject, row) }
        if subject.maybeApplied {
            if subject.isEqual(to: row) { return .applied(row) }
            // If another writer changed the row, it is unknown whether my change was applied before.
            return subject.isUnchanged(row) ? .sendAgain : conflict(subject, row)
        }
        let merge = ThreeWayMerge(
            base: subject.base, changes: subject.sent, theirs: row.columns)
        if !merge.overlaps.isEmpty { return conflict(subject, row) }
        if merge.rest.isEmpty { return .applied(row) }
        return send(merge.rest, of: subject, over: row)
    }

    private static func foundDelete(_ subject: PushSubject, _ row: RemoteRow) -> PushDecision {
        if row.isDeleted { return .applied(row) }
        if subject.isUnknownRow { return .sendAgain }
        if subject.maybeApplied {
            return subject.isUnchanged(row) ? .sendAgain : conflict(subject, row)
        }
        // If the columns are the same, a new version overwrites nothing.
        guard let base = subject.base, row.columns.holds(base), base.holds(row.columns) else {
            return conflict(subject, row)
        }
        return send(Columns(), of: subject, over: row)
    }

    /// Judges an undelete of a deleted row. If the row has another version, another writer has brought it back
    /// and deleted it again, and the undelete would undo that deletion. An undelete without a version takes the
    /// row's.
    private static func foundUndelete(
        _ subject: PushSubject, _ row: RemoteRow, after cause: ReadBackCause
    ) -> PushDecision {
        if !row.isDeleted { return .applied(row) }
        if subject.maybeApplied {
            // Without versions a deletion by another writer in between cannot be seen.
            let isSame = subject.baseVersion != nil && subject.isUnchanged(row)
            return isSame ? .sendAgain : conflict(subject, row)
        }
        return cause == .unknown ? send(Columns(), of: subject, over: row) : conflict(subject, row)
    }

    /// Sends what is left to do after a merge with the row that was read. An operation that started from this
    /// very row is sent unchanged.
    private static func send(
        _ rest: Columns, of subject: PushSubject, over row: RemoteRow
    ) -> PushDecision {
        if subject.baseVersion == row.version, subject.isUnchanged(row) { return .sendAgain }
        return subject.hasMerged ? rowKeepsChanging : .merge(rest, onto: row)
    }

    private static func notFound(
        _ subject: PushSubject, after cause: ReadBackCause
    ) -> PushDecision {
        switch subject.kind {
        case .delete: return .applied(nil)
        case .update, .replace: return conflict(subject, nil)
        // A person's undo inserts the row again. A client's undelete is a conflict, which a person decides.
        case .undelete:
            return subject.insertsIfGone ? .insertAgain : conflict(subject, nil)
        case .insert:
            return switch cause {
            case .unknown: .sendAgain
            case .refused(let refused): refused.decision
            }
        }
    }

    /// The row changes faster than it can be written: retried with the operation's own backoff.
    private static var rowKeepsChanging: PushDecision {
        .postponed(
            Postponement(
                cause: .own, maybeApplied: false,
                reason: "The backend's row keeps changing while it is written."))
    }
}
