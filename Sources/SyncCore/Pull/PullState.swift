import TablesProtocol

/// The state of a pull while it runs.
struct PullState: Sendable {
    var report: PullReport
    var plan: PullPlan
    var token: PullToken?
    /// The number of refusals of the present page.
    var refusals = 0
    /// When the pass began, on the store's clock.
    var startedAt: Instant
    /// When the first page was sent, by the backend's clock if it says; nil before that page.
    var begunAt: Instant?
    /// When the last page was sent, by the backend's clock; nil if it does not say.
    var answeredAt: Instant?
    /// The count of push outcomes when the pass began.
    var begun: Int64
    var stop: PushStop?
    /// When clients last used the store, in uptime.
    var lastUse: Duration?
    /// Whether a token is kept, with the items that the query returned.
    var keepsToken: Bool

    /// Whether what ended the pull is about its table: nothing else stopped it, or the table alone asks for a
    /// sign-in, since without a token other tables may be read.
    func isAboutTable(_ credential: Credential) -> Bool {
        stop == nil || stop == .signIn && credential == .none
    }

    /// Whether items that were not received are removed at the end, because the backend does not have them.
    var removesUnseen: Bool {
        !plan.isUnsure && (plan.collectsIDs || plan.paging == .full && keepsToken)
    }

    /// The next page to request. The first request also asks for the total count; if it is refused, the
    /// retry does not.
    var query: PageQuery {
        var query = plan.next()
        query.query.count = report.requests == 0
        return query
    }

    /// Whether another page is needed.
    var needsNextPage: Bool { !plan.isAtEnd && report.error == nil }

    /// Whether clients used the store a moment ago.
    /// - Parameter now: in uptime.
    func isInUse(at now: Duration) -> Bool {
        let rest = Duration.milliseconds(SyncLimits.restBesideClientsMilliseconds)
        return lastUse.map { now - $0 < rest } ?? false
    }

    /// Begins with the table's first row, because the token's time is yet to come.
    mutating func forgetToken() {
        plan.beginWithFirstRow()
        token?.updatedAt = nil
        token?.lastID = nil
    }

    /// Adds the effect of one transaction.
    mutating func take(_ part: AppliedPart) {
        token = part.token ?? token
        report.add(part.counts)
    }
}

/// What one transaction applied.
struct AppliedPart: Sendable {
    var rows = 0
    var counts = AppliedCounts()
    var token: PullToken?
}

/// The numbers of rows that changed the store.
struct AppliedCounts: Sendable {
    var applied = 0
    var deleted = 0
    var skippedDirty = 0

    /// Counts the effect of one row.
    mutating func add(_ row: AppliedRow) {
        switch row {
        case .inserted, .updated: applied += 1
        case .deleted: deleted += 1
        case .shadowed: skippedDirty += 1
        case .unchanged, .skipped: break
        }
    }
}

extension PullReport {
    /// Adds the counts of a transaction.
    mutating func add(_ counts: AppliedCounts) {
        applied += counts.applied
        deleted += counts.deleted
        skippedDirty += counts.skippedDirty
    }
}
