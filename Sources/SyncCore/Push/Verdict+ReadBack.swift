import TablesProtocol

extension Verdict {
    /// Why a row was read back.
    enum ReadBackCause: Hashable {
        /// An earlier request had no verdict, or its version has to be known before it is sent.
        case unknown
        /// 409 or 412.
        case conflict
        /// 404 or 410.
        case missing
    }

    /// Judges the row as it was read back: a list with the row, deleted ones included, or none.
    static func judge(
        _ subject: PushSubject, readBack answer: RemoteAnswer, after cause: ReadBackCause
    ) -> PushDecision {
        if case .missing(let status) = answer { return noTable(subject, status) }
        guard case .rows(let page) = answer else { return noVerdict(answer) }
        let row = page.rows.first { $0.id == subject.itemID }
        return row.map { found(subject, $0, after: cause) } ?? notFound(subject, after: cause)
    }

    static func found(
        _ subject: PushSubject, _ row: RemoteRow, after cause: ReadBackCause
    ) -> PushDecision {
        switch subject.kind {
        case .insert: return foundInsert(subject, row)
        case .delete: return foundDelete(subject, row, after: cause)
        case .undelete: return foundUndelete(subject, row, after: cause)
        case .update, .replace: return foundUpdate(subject, row, after: cause)
        }
    }

    private static func foundInsert(_ subject: PushSubject, _ row: RemoteRow) -> PushDecision {
        // An id that only this store can have made: the row's existence proves success.
        if subject.maybeApplied || subject.mayArriveLate, subject.madeID { return .applied(row) }
        if !row.isDeleted, subject.isEqual(to: row) { return .applied(row) }
        return conflict(subject, row)
    }

    private static func foundUpdate(
        _ subject: PushSubject, _ row: RemoteRow, after cause: ReadBackCause
    ) -> PushDecision {
        if row.isDeleted { return conflict(subject, row) }
        if cause == .missing { return unsteady }
        if subject.maybeApplied {
            if subject.isEqual(to: row) { return .applied(row) }
            // With a change of somebody else in between it cannot be told whether mine came first.
            return subject.isUnchanged(row) ? .sendAgain : conflict(subject, row)
        }
        let merge = ThreeWayMerge(
            base: subject.base, changes: subject.sent, theirs: row.columns)
        if !merge.overlaps.isEmpty { return conflict(subject, row) }
        if merge.rest.isEmpty { return .applied(row) }
        return subject.hasMerged ? unsteady : .merge(merge.rest, onto: row)
    }

    private static func foundDelete(
        _ subject: PushSubject, _ row: RemoteRow, after cause: ReadBackCause
    ) -> PushDecision {
        if row.isDeleted { return .applied(row) }
        switch cause {
        case .missing: return unsteady
        case .conflict where !subject.maybeApplied: return conflict(subject, row)
        case .conflict, .unknown:
            let isFree = subject.baseVersion == nil && subject.base == nil
            if cause == .unknown, isFree || subject.isUnchanged(row) { return .sendAgain }
            return conflict(subject, row)
        }
    }

    private static func foundUndelete(
        _ subject: PushSubject, _ row: RemoteRow, after cause: ReadBackCause
    ) -> PushDecision {
        if !row.isDeleted { return .applied(row) }
        switch cause {
        case .unknown where !subject.maybeApplied: return .merge(Columns(), onto: row)
        case .unknown: return subject.isUnchanged(row) ? .sendAgain : conflict(subject, row)
        case .conflict: return conflict(subject, row)
        case .missing:
            return .quarantine(reason: "The backend does not let this deleted item be restored.")
        }
    }

    private static func notFound(
        _ subject: PushSubject, after cause: ReadBackCause
    ) -> PushDecision {
        switch subject.kind {
        case .delete: return .applied(nil)
        case .update, .replace: return conflict(subject, nil)
        // A backend that deletes for good has nothing to restore, and nothing to overwrite.
        case .undelete: return .insertAgain
        case .insert:
            return cause == .unknown
                ? .sendAgain
                : .quarantine(
                    reason: "The backend says that the id is taken but shows no such item.")
        }
    }

    /// The row moves faster than it can be written, or is there and is not: its own backoff.
    private static var unsteady: PushDecision {
        .later(
            Later(
                cause: .own, maybeApplied: false,
                reason: "The backend's row keeps changing while it is written."))
    }
}
