import HTTPMessage
import TablesProtocol

/// What the backend's answer to an operation means. Pure.
///
/// Three rules hold for every case. An answer 2xx without a body is a success only for a delete, and one with
/// an unreadable body never is. An operation that may have been applied is read back before it is sent again.
/// A 404 alone does not prove that a row is gone: the row is read back. An answer that refuses is about a version
/// only if the row read back is another one than the operation started from.
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
            return collision(subject, row, Refused(status: status, text: text))
        case .missing: return .readBack
        case .unauthorized: return .signIn(maybeApplied: false)
        case .rejected(let status, let text): return Refused(status: status, text: text).decision
        case .failed, .unavailable, .unusable, .unreachable: return noVerdict(answer)
        }
    }

    /// The decision for an answer that is no verdict, to any kind of request.
    static func noVerdict(_ answer: RemoteAnswer) -> PushDecision {
        switch answer {
        case .failed(let status, let text):
            return inconclusive("The backend failed with \(status)\(detail(text))")
        case .unavailable(let status, let wait):
            let reason =
                status == 429
                ? "The backend asks for fewer requests."
                : "The backend is not available (\(status))."
            let cause: Postponement.Cause =
                status == 429 ? .busy(retryAfter: wait) : .table(retryAfter: wait)
            return .postponed(
                Postponement(cause: cause, maybeApplied: status != 429, reason: reason))
        case .unusable(let status, let why):
            // A request in a protocol version that the backend refuses was not carried out.
            return .postponed(
                Postponement(
                    cause: .own, maybeApplied: why != .otherVersion,
                    reason: "The answer (\(status)) is \(why.words)."))
        case .unreachable(let error):
            let cause: Postponement.Cause = error.cause == .cancelled ? .cancelled : .link
            return .postponed(
                Postponement(
                    cause: cause, maybeApplied: error.reach == .maybeSent, reason: error.message))
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
        case .delete: return .applied(row.id == subject.itemID ? row : nil)
        case .update, .replace:
            guard row.id == subject.itemID else {
                return inconclusive("The backend answered with another row.")
            }
            // Some servers update a deleted row and leave it deleted.
            return row.isDeleted ? conflict(subject, row) : .applied(row)
        case .undelete:
            guard row.id == subject.itemID else {
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
        // The row may be an echo of the request's own body, also beside the present row's version and with
        // values that the backend changed. A delete sends no row, so the row is the backend's own. It may be
        // a part of it.
        guard subject.kind == .delete, let row, row.version != nil, row.id == subject.itemID,
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
    /// What came instead of an answer: the end of the sentence "The answer (500) is …".
    var words: String {
        switch self {
        case .html: "a page for people, not an answer of /tables"
        case .notJSON: "torn or not JSON"
        case .unexpectedShape: "JSON, but neither a row nor a list"
        case .otherVersion: "a refusal of this version of the protocol"
        case .redirect: "a redirect to somewhere else"
        }
    }
}
