import HTTPMessage
import TablesProtocol

/// What the backend's answer to an operation means. Pure: the whole table of rulings, no waiting.
///
/// Three rules stand above the rest. A missing or unreadable body is never success, except for a
/// delete. What may have been applied is never sent again before the row was read back. A row that
/// is gone is not believed on the word of a 404 alone.
enum Verdict {
    /// Judges the answer to the operation's own request.
    static func judge(_ subject: PushSubject, _ answer: RemoteAnswer) -> PushDecision {
        switch answer {
        case .row(let row): return success(subject, row)
        case .empty:
            return subject.kind == .delete
                ? .applied(nil)
                : unclear("The backend answered with success but without the row.")
        case .rows: return unclear("The backend answered with a list instead of one row.")
        case .conflict(_, let row): return collision(subject, row)
        case .missing(let status):
            return subject.kind == .insert ? noTable(subject, status) : .readBack
        case .unauthorized: return .signIn(maybeApplied: false)
        case .rejected(let status, let text):
            return .quarantine(reason: "The backend refused it with \(status)\(said(text))")
        case .failed, .unavailable, .unusable, .unreachable: return noVerdict(answer)
        }
    }

    /// Why no verdict came, for answers that are none whatever was asked: of a list, or of a request.
    static func noVerdict(_ answer: RemoteAnswer) -> PushDecision {
        switch answer {
        case .failed(let status, let text):
            return unclear("The backend failed with \(status)\(said(text))")
        case .unavailable(let status, let wait):
            let reason =
                status == 429
                ? "The backend asks for fewer requests."
                : "The backend is not available (\(status))."
            let later = Later(
                cause: .busy(retryAfter: wait), maybeApplied: status != 429, reason: reason)
            return .later(later)
        case .unusable(let status, let why):
            // A request in a dialect that the backend does not speak was not carried out.
            return .later(
                Later(
                    cause: .own, maybeApplied: why != .otherVersion,
                    reason: "The answer (\(status)) is \(why.words)."))
        case .unreachable(let error):
            let cause: Later.Cause = error.cause == .cancelled ? .cancelled : .link
            return .later(
                Later(
                    cause: cause, maybeApplied: error.reach == .maybeSent, reason: error.message))
        case .unauthorized: return .signIn(maybeApplied: false)
        case .missing(let status), .conflict(let status, _):
            return .quarantine(reason: "The backend answered \(status) to a list.")
        case .rejected(let status, let text):
            return .quarantine(
                reason: "The row cannot be read back: \(status)\(said(text))")
        case .row, .rows, .empty: return unclear("The answer is not the one that was asked for.")
        }
    }

    /// A table that is not there: one that was there before may come back.
    static func noTable(_ subject: PushSubject, _ status: Int) -> PushDecision {
        guard subject.tableWasThere else {
            return .quarantine(reason: "The backend has no such table (\(status)).")
        }
        let reason = "The backend has no such table now (\(status)), though it had it before."
        return .later(Later(cause: .own, maybeApplied: false, reason: reason))
    }

    private static func success(_ subject: PushSubject, _ row: RemoteRow) -> PushDecision {
        switch subject.kind {
        case .insert: return .applied(row)
        case .delete: return .applied(row.id == subject.itemID ? row : nil)
        case .update, .replace:
            guard row.id == subject.itemID else {
                return unclear("The backend answered with another row.")
            }
            // Some servers let a deleted row be updated and leave it deleted.
            return row.isDeleted ? conflict(subject, row) : .applied(row)
        case .undelete:
            guard row.id == subject.itemID else {
                return unclear("The backend answered with another row.")
            }
            return row.isDeleted
                ? .quarantine(reason: "The backend left the row deleted.") : .applied(row)
        }
    }

    private static func collision(_ subject: PushSubject, _ row: RemoteRow?) -> PushDecision {
        if subject.kind == .insert, subject.itemID.kind == .integer {
            return .quarantine(reason: "The backend says that such an item exists.")
        }
        // A row without a version may be the echo of what was sent.
        guard subject.kind != .insert, let row, row.version != nil, row.id == subject.itemID else {
            return .readBack
        }
        return found(subject, row, after: .conflict)
    }

    static func unclear(_ reason: String) -> PushDecision {
        .later(Later(cause: .own, maybeApplied: true, reason: reason))
    }

    static func conflict(_ subject: PushSubject, _ row: RemoteRow?) -> PushDecision {
        let isGone = row?.isDeleted ?? true
        return .conflict(
            row, reason: ConflictReason.sentence(subject.kind, isGone: isGone),
            decidedBy: subject.policy(isGone: isGone))
    }

    private static func said(_ text: String) -> String { text.isEmpty ? "." : ": \(text)" }
}

extension Unusable {
    /// What came instead of an answer, in plain words.
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
