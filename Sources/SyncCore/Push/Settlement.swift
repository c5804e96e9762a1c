import TablesProtocol

/// Turns a decision into the outcome to commit: state, times and policy. Pure, except for the random
/// jitter.
struct Settlement {
    var subject: PushSubject
    /// The number of earlier attempts that failed for the operation's own reason.
    var failures: Int
    /// How the last request ended that was to change something; nil if none was sent.
    var written: AttemptEnd?
    var attempts: Int
    var maxAttempts: Int
    var now: Instant
    var origin = RowOrigin()
    /// The wait of the operation's table after this failure; nil if the table did not fail.
    var tableWait: TableWait?
    var random: any RandomSource

    func outcome(_ decision: PushDecision) -> SettledOutcome {
        switch decision {
        case .applied(let row):
            return .applied(row: row, origin)
        case .insertAgain:
            return .rebased(
                onto: nil, reason: "The backend has no such item any more; it is inserted again.")
        case .readBack:
            return .unknown(reason: "The row has to be read back.", until: now)
        case .sendAgain:
            return .waiting(
                reason: subject.maybeApplied
                    ? "The backend never got it; it is sent again."
                    : "The backend's row is as it was; it is sent.",
                until: now, maybeApplied: false)
        case .merge(_, let row):
            let isSame = subject.base.map { row.columns.changedNames(from: $0).isEmpty } ?? false
            return .rebased(
                onto: row,
                reason: isSame
                    ? "The backend's row has the same values; its version is taken."
                    : "Merged with the backend's changes to other fields.")
        case .conflict(let row, let reason, let policy): return conflict(row, reason, policy)
        case .quarantine(let reason):
            return .quarantined(reason: reason, maybeApplied: subject.maybeApplied)
        case .signIn(let maybeApplied):
            return wait("Waits for a sign-in.", until: now, maybeApplied: maybeApplied)
        case .postponed(let later): return postponed(later)
        }
    }

    private func conflict(
        _ row: RemoteRow?, _ reason: String, _ policy: ConflictPolicy
    ) -> SettledOutcome {
        switch policy {
        case .ask: return .conflict(server: row, reason: reason)
        case .server:
            return .discarded(server: row, reason: "The table's policy takes the backend's row.")
        case .client, .merge:
            // Resent only once in a pass. A row that keeps changing waits.
            guard !subject.hasMerged else {
                return wait(reason, until: backoff(attempts), maybeApplied: false)
            }
            return .rebased(
                onto: row, reason: "The table's policy keeps the local change.", overwrites: true)
        }
    }

    private func postponed(_ later: Postponement) -> SettledOutcome {
        switch later.cause {
        case .cancelled, .held:
            return wait(later.reason, until: now, maybeApplied: later.maybeApplied)
        case .link, .requiresSignIn:
            return wait(later.reason, until: backoff(attempts), maybeApplied: later.maybeApplied)
        case .table:
            return wait(
                later.reason, until: timeAfterTable, maybeApplied: later.maybeApplied,
                isRetryAfter: tableWait?.notBefore != nil)
        case .busy(let wait):
            let until = wait.map { now.advanced(by: $0) } ?? backoff(attempts)
            return self.wait(
                later.reason, until: until, maybeApplied: later.maybeApplied,
                isRetryAfter: wait != nil)
        case .own:
            guard failures + 1 < maxAttempts else {
                return .quarantined(
                    reason: "\(written?.sentence ?? later.reason) Tried \(failures + 1) times.",
                    maybeApplied: written?.isRefusal != true
                        && mayHaveReached(later.maybeApplied))
            }
            return wait(
                later.reason, until: backoff(failures + 1), maybeApplied: later.maybeApplied)
        }
    }

    /// When an operation is due after its table failed: when the table is. After further failures the operation is
    /// due later, so that another one of the table is tried first. The failure may be about this one alone.
    private var timeAfterTable: Instant {
        guard let tableWait else { return backoff(attempts) }
        guard attempts > 2 else { return tableWait.until }
        guard tableWait.notBefore == nil else {
            return tableWait.until.advanced(by: .seconds(SyncLimits.tableTurnSeconds))
        }
        return max(tableWait.until, backoff(attempts))
    }

    private func wait(
        _ reason: String, until: Instant, maybeApplied: Bool, isRetryAfter: Bool = false
    ) -> SettledOutcome {
        mayHaveReached(maybeApplied)
            ? .unknown(reason: reason, until: until, isRetryAfter: isRetryAfter)
            : .waiting(
                reason: reason, until: until, maybeApplied: false, isRetryAfter: isRetryAfter)
    }

    /// A read changes nothing at the backend, whatever came of it.
    private func mayHaveReached(_ maybeApplied: Bool) -> Bool {
        maybeApplied && !subject.isReadFirst || subject.maybeApplied
    }

    private func backoff(_ failures: Int) -> Instant {
        now.advanced(by: Backoff.operation(failures: failures, random: random))
    }
}

extension AttemptEnd {
    /// Whether the backend refused the request, so that it changed nothing.
    var isRefusal: Bool {
        let isOfTables = fields.contains { $0.lowercased().hasPrefix("x-zumo-server-version:") }
        return [404, 409, 410, 412].contains(status)
            && !AnswerReader.isPage(Array((response ?? "").utf8), isOfTables: isOfTables)
    }

    /// The message of the answer; nil without one.
    var message: String? {
        let text = AnswerReader.message(in: Array((response ?? "").utf8))
        return text.isEmpty ? nil : text
    }

    /// What came of the request; nil if nothing is known.
    var sentence: String? {
        guard let status else { return error }
        let text = AnswerReader.message(in: Array((response ?? "").utf8))
        return "The backend answered \(status)\(Verdict.detail(text))"
    }
}

extension Instant {
    /// The instant `duration` later, in whole milliseconds.
    func advanced(by duration: Duration) -> Instant {
        Instant(milliseconds: milliseconds + duration.wholeMilliseconds)
    }
}

/// The row in a backend's answer of success to a change, and what it leaves out of the row that the backend
/// now has. Pure.
struct AnsweredRow {
    var subject: PushSubject
    var row: RemoteRow
    var generation: Generation
    /// The table's columns, as far as reads have shown them.
    var known: ColumnSpellings

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
        if row.columns.lacksValue(of: known.withoutHidden(sent)) { return true }
        return row.answersWrite && !row.columns.names.allSatisfy(known.hasBeenRead)
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

    /// The decision if the row could not be read. If the backend was not reached, or is not available now,
    /// the row is read again later. After any other answer the answer of success counts: a backend whose
    /// reads fail must not hold the item.
    func decision(withoutRow answer: RemoteAnswer) -> PushDecision {
        // If no read gives the row, the answer is all that is known of it.
        var shown = row
        shown.answersWrite = false
        switch answer {
        case .unavailable, .unreachable:
            guard case .postponed(var later) = Verdict.noVerdict(answer) else {
                return .applied(row)
            }
            later.maybeApplied = true
            return .postponed(later)
        case .rows(let page) where page.elements.isEmpty: return .applied(shown)
        case .missing, .unauthorized, .rejected: return .applied(shown)
        case .row, .rows, .empty, .conflict, .failed, .unusable: return .applied(row)
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
