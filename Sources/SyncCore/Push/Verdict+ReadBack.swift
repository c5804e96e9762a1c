import TablesProtocol

/// An answer with 404, 409, 410 or 412 to an operation's own request.
struct Refused: Sendable, Hashable {
    var status: Int
    /// The backend's sentence; empty if it gave none.
    var text: String

    /// The decision where the answer is not about another writer's change.
    var decision: PushDecision {
        .quarantine(reason: "The backend refused it with \(status)\(Verdict.detail(text))")
    }

    /// 404 or 410.
    var isMissing: Bool { status == 404 || status == 410 }
}

extension Verdict {
    /// Why a row was read back.
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
        let row = page.rows.first { $0.id == subject.itemID && !subject.isAssigned }
        return row.map { found(subject, $0, after: cause) } ?? notFound(subject, after: cause)
    }

    /// Judges the row. A refusal is judged before any policy: a row that still is as the operation started
    /// from has not been changed by another writer.
    static func found(
        _ subject: PushSubject, _ row: RemoteRow, after cause: ReadBackCause
    ) -> PushDecision {
        if case .refused(let refused) = cause, subject.isRefused(refused, beside: row) {
            return subject.bug == .refusalIsConflict ? conflict(subject, row) : refused.decision
        }
        switch subject.kind {
        case .insert: return foundInsert(subject, row)
        case .delete: return foundDelete(subject, row)
        case .undelete: return foundUndelete(subject, row, after: cause)
        case .update, .replace: return foundUpdate(subject, row)
        }
    }

    private static func foundInsert(_ subject: PushSubject, _ row: RemoteRow) -> PushDecision {
        // This store generated the id, so the row proves that the insert succeeded.
        if subject.maybeApplied || subject.mayArriveLate, subject.hasGeneratedID {
            return .applied(row)
        }
        if !row.isDeleted, subject.isEqual(to: row) { return .applied(row) }
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
        // Another version of the same columns hides no other writer's change.
        guard let base = subject.base, row.columns.holds(base), base.holds(row.columns) else {
            return conflict(subject, row)
        }
        return send(Columns(), of: subject, over: row)
    }

    /// A deleted row with another version was brought back and deleted again since, so that an undelete would
    /// undo another writer's deletion. An undelete that has no version yet takes that of the row.
    private static func foundUndelete(
        _ subject: PushSubject, _ row: RemoteRow, after cause: ReadBackCause
    ) -> PushDecision {
        if !row.isDeleted { return .applied(row) }
        if subject.maybeApplied {
            // Without a version it is not known whether the row was brought back in between.
            let isSame = subject.baseVersion != nil && subject.isUnchanged(row)
            return isSame ? .sendAgain : conflict(subject, row)
        }
        return cause == .unknown ? send(Columns(), of: subject, over: row) : conflict(subject, row)
    }

    /// Sends what is left to do over the row that was read. An operation that starts from just this row is
    /// sent as it is.
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
        // A person's undo brings the row back in any way; for a client's undelete a person decides.
        case .undelete:
            return subject.insertsIfGone || subject.bug == .undeleteInserts
                ? .insertAgain : conflict(subject, nil)
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
