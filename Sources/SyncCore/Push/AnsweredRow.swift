import TablesProtocol

/// The row in a backend's answer of success to a change, and what it leaves out of the row that the backend
/// now has. Pure.
struct AnsweredRow {
    var subject: PushSubject
    var row: RemoteRow
    var generation: Generation

    /// Whether the row is read before the change is closed: the answer does not show what clients get, or what the
    /// item's next change could overwrite.
    ///
    /// 1. After a delete the item has no row that a next change could overwrite.
    /// 2. The change started from a version, and the answer has none: the next change would have no
    ///    condition. A table that never has versions is not read.
    /// 3. A column is missing that was sent with a value, and that reads may give: the answer is a part of the row,
    ///    the backend does not keep the column, or it has set the column to null and writes no nulls. In the third
    ///    generation the next replacement would erase or restore it.
    /// 4. A column is there that no read has given yet, and that the script for reads may leave out.
    var mustBeRead: Bool {
        if subject.kind == .delete { return false }
        if subject.baseVersion != nil, row.version == nil { return true }
        return row.columns.lacksValue(of: subject.spellings.withoutHidden(sent))
            || subject.mayHideColumns(row)
    }

    /// The columns that the write sent with a value, or that its answer has, and that a read of the row lacks.
    /// Servers of SQL give every column in a read; others may leave out one that is null.
    func unread(in now: RemoteRow) -> [String] {
        let given = Set(now.columns.names.map { ExactName(lowercasing: $0) })
        let answered = now.sharesColumns ? row.columns.all : []
        let written = subject.sent.all.filter { !$0.value.isNull } + answered
        return Set(written.map(\.name)).filter { !given.contains(ExactName(lowercasing: $0)) }
            .sorted()
    }

    /// The row as it is now, from the answer to the read; nil if that answer does not show it.
    func presentRow(in answer: RemoteAnswer) -> RemoteRow? {
        guard case .rows(let page) = answer else { return nil }
        return page.rows.first { $0.id.isLike(row.id) }
    }

    func hasVersion(of now: RemoteRow) -> Bool {
        guard let version = row.version, let current = now.version else { return false }
        return version.utf8.elementsEqual(current.utf8)
    }

    /// The outcome if the row could not be read. If the backend was not reached, or is not available now,
    /// the row is read again later. After any other answer the answer of success counts: a backend whose
    /// reads fail must not hold the item.
    func outcome(withoutRow answer: RemoteAnswer) -> PushOutcome {
        // If no read gives the row, the answer is all that is known of it.
        var shown = row
        shown.answersWrite = false
        switch answer {
        case .unavailable, .unreachable:
            guard case .postponed(var later) = Verdict.noVerdict(answer) else {
                return .applied(row: row)
            }
            later.maybeApplied = true
            return .postponed(later)
        case .rows(let page) where page.elements.isEmpty: return .applied(row: shown)
        case .missing, .unauthorized, .rejected: return .applied(row: shown)
        case .row, .rows, .empty, .conflict, .failed, .unusable: return .applied(row: row)
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
