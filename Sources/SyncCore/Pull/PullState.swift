import TablesProtocol

/// What a pull of one table keeps while it runs.
struct PullState: Sendable {
    var report: PullReport
    var plan: PullPlan
    var token: PullToken?
    /// Failures of the page under way.
    var refusals = 0
    /// When the pass began, on the store's clock.
    var startedAt: Instant
    /// The count of push outcomes then.
    var begun: Int64
    var stop: PushStop?
    /// When clients were last seen to read or write, on the clock that only runs on.
    var lastUse: Duration?
    /// A token is kept, by which the rows of the query are known.
    var keepsToken: Bool

    /// Items that the backend no longer has are removed at the end: which it has is known.
    var removesUnseen: Bool {
        !plan.isUnsure && (plan.collectsIDs || plan.paging == .full && keepsToken)
    }

    /// The next page to ask for. The first one asks how many rows there are in all; refused, it is
    /// asked for without.
    var query: PageQuery {
        var query = plan.next()
        query.query.count = report.requests == 0
        return query
    }

    /// Takes what one transaction did.
    mutating func take(_ part: AppliedPart) {
        token = part.token ?? token
        report.add(part.counts)
    }
}

/// What one transaction took of the rows that waited.
struct AppliedPart: Sendable {
    var rows = 0
    var counts = AppliedCounts()
    var token: PullToken?
}

/// What the rows of a page did to the store.
struct AppliedCounts: Sendable {
    var applied = 0
    var deleted = 0
    var skippedDirty = 0

    /// Counts one row.
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
    /// Adds what a page did.
    mutating func add(_ counts: AppliedCounts) {
        applied += counts.applied
        deleted += counts.deleted
        skippedDirty += counts.skippedDirty
    }
}
