import TablesProtocol

/// The row in a backend's answer of success to a change, and what it leaves out of the row that the backend
/// now has. Pure.
struct AnsweredRow {
    var subject: PushSubject
    var row: RemoteRow
    var generation: Generation

    /// Whether a column is missing that was sent with a value: the answer is a part of the row, the backend
    /// does not keep the column, or it has set the column to null and writes no nulls.
    var lacksSentColumn: Bool { row.columns.lacksValue(of: sent) }

    /// Whether the row is read before the change is closed, because the item's next change could overwrite
    /// what the answer does not show.
    ///
    /// 1. After a delete the item has no row that a next change could overwrite.
    /// 2. The change started from a version, and the answer has none: the next change would have no
    ///    condition. A table that never has versions is not read.
    /// 3. The third generation replaces whole rows, and the answer is not the whole row: the next
    ///    replacement would erase or restore the missing columns.
    var mustBeRead: Bool {
        if subject.kind == .delete { return false }
        if subject.baseVersion != nil, row.version == nil { return true }
        return generation == .datasync && lacksSentColumn
    }

    /// The row as it is now, from the answer to the read; nil if that answer does not show it.
    func presentRow(in answer: RemoteAnswer) -> RemoteRow? {
        guard case .rows(let page) = answer else { return nil }
        return page.rows.first { $0.id == row.id }
    }

    /// Whether the answer named the version of the row as it is now.
    func hasVersion(of now: RemoteRow) -> Bool {
        guard let version = row.version, let current = now.version else { return false }
        return version.utf8.elementsEqual(current.utf8)
    }

    /// The decision if the row could not be read. If the backend was not reached, or is not available now,
    /// the row is read again later. After any other answer the answer of success counts: a backend whose
    /// reads fail must not hold the item.
    func decision(withoutRow answer: RemoteAnswer) -> PushDecision {
        switch answer {
        case .unavailable, .unreachable:
            guard case .postponed(var later) = Verdict.noVerdict(answer) else {
                return .applied(row)
            }
            later.maybeApplied = true
            return .postponed(later)
        case .row, .rows, .empty, .conflict, .missing, .unauthorized, .rejected, .failed, .unusable:
            return .applied(row)
        }
    }

    /// The user's columns of the request.
    private var sent: Columns {
        guard generation == .datasync, var whole = subject.base else { return subject.sent }
        whole.merge(subject.sent)
        return whole
    }
}

extension Columns {
    /// Whether a column that has a value in `others` is missing here. A null is a value here, because the
    /// backend stated it.
    func lacksValue(of others: Columns) -> Bool {
        let names = Set(all.map { ExactName(lowercasing: $0.name) })
        return others.all.contains {
            !$0.value.isNull && !names.contains(ExactName(lowercasing: $0.name))
        }
    }
}
