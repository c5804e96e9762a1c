import TablesProtocol

extension Verdict {
    /// Why a row was read back.
    enum ReadBackCause: Hashable {
        /// An earlier request had no verdict, or the row's version is needed before the request is sent.
        case unknown
        /// 409 or 412.
        case conflict
        /// 404 or 410.
        case missing
    }

    /// Judges a row that was read back: a list with the row, deleted or not, or an empty list.
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
        // This store generated the id, so the row proves that the insert succeeded.
        if subject.maybeApplied || subject.mayArriveLate, subject.hasGeneratedID {
            return .applied(row)
        }
        if !row.isDeleted, subject.isEqual(to: row) { return .applied(row) }
        return conflict(subject, row)
    }

    private static func foundUpdate(
        _ subject: PushSubject, _ row: RemoteRow, after cause: ReadBackCause
    ) -> PushDecision {
        if row.isDeleted { return conflict(subject, row) }
        if cause == .missing { return rowKeepsChanging }
        if subject.maybeApplied {
            if subject.isEqual(to: row) { return .applied(row) }
            // If another writer changed the row, it is unknown whether my change was applied before.
            return subject.isUnchanged(row) ? .sendAgain : conflict(subject, row)
        }
        let merge = ThreeWayMerge(
            base: subject.base, changes: subject.sent, theirs: row.columns)
        if !merge.overlaps.isEmpty { return conflict(subject, row) }
        if merge.rest.isEmpty { return .applied(row) }
        return subject.hasMerged ? rowKeepsChanging : .merge(merge.rest, onto: row)
    }

    private static func foundDelete(
        _ subject: PushSubject, _ row: RemoteRow, after cause: ReadBackCause
    ) -> PushDecision {
        if row.isDeleted { return .applied(row) }
        switch cause {
        case .missing: return rowKeepsChanging
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
        // A backend that deletes hard has nothing to undelete and nothing to overwrite.
        case .undelete: return .insertAgain
        case .insert:
            return cause == .unknown
                ? .sendAgain
                : .quarantine(
                    reason: "The backend says that the id is taken but shows no such item.")
        }
    }

    /// The row changes faster than it can be written, or two answers contradict each other: retried with
    /// the operation's own backoff.
    private static var rowKeepsChanging: PushDecision {
        .postponed(
            Postponement(
                cause: .own, maybeApplied: false,
                reason: "The backend's row keeps changing while it is written."))
    }
}

/// An insert into a table whose integer ids the backend assigns. No id connects the row with the insert, so
/// a lost answer is recognised by a new row with equal columns.
enum IntegerInsert {
    /// Asks for the highest id. The insert's id will be above it.
    static let highest = PageQuery(
        TableQuery(orderBy: [Ordering(.column(.id), descending: true)], top: 1))

    /// Asks for the rows that were inserted since.
    static func since(_ highest: Int64) -> PageQuery {
        let filter = Expression.binary(
            .greaterThan, .column(.id), .literal(.number(NumberLiteral(highest))))
        return PageQuery(
            TableQuery(
                filter: filter, orderBy: [Ordering(.column(.id))], top: SyncLimits.pullPageRows))
    }

    /// Judges the backend's new rows after an insert whose outcome is unknown.
    ///
    /// One equal row that no other operation has claimed is the inserted row. No such row means that the
    /// insert never arrived. Between several, a person decides. A list with older rows ignored its filter
    /// and may lack new rows, so it proves nothing.
    static func judge(
        _ subject: PushSubject, _ answer: RemoteAnswer, after highest: Int64, claimed: Set<String>
    ) -> PushDecision {
        if case .missing(let status) = answer { return Verdict.noTable(subject, status) }
        guard case .rows(let page) = answer else { return Verdict.noVerdict(answer) }
        if page.elements.contains(where: { ($0.itemID?.number ?? 0) <= highest }) {
            return Verdict.inconclusive(
                "The backend's list does not keep to its filter, so whether the item arrived cannot be "
                    + "told.")
        }
        let candidates = page.rows.filter { row in
            !row.isDeleted && !claimed.contains(row.id.text) && subject.isEqual(to: row)
        }
        switch candidates.count {
        case 0: return .sendAgain
        case 1: return .applied(candidates[0])
        default:
            let ids = candidates.map(\.id.text).joined(separator: ", ")
            return .quarantine(
                reason: "ambiguousInsert: it may be any of the equal items \(ids).")
        }
    }
}
