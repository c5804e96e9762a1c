import TablesProtocol

/// One pull while it runs: how far it is, and what has come of it.
struct Pull: Sendable {
    var end: PullEnd
    var plan: PullPlan
    var token: PullToken?
    private(set) var earlier: PullToken?
    /// The latest row of pages in no order.
    private(set) var latest: ListElement?
    /// Whether the backend gave a list of the table after it had refused a page.
    var canBeListed = false
    /// When the pages were sent, by the backend's clock.
    var times = PullTimes()
    /// The number of refusals of the present page.
    var refusals = 0
    /// When the pass began, on the store's clock.
    var startedAt: Instant
    /// The same in uptime.
    var startedUptime: Duration
    /// When the first page was sent, by the backend's clock if it says; nil before that page.
    var begunAt: Instant?
    /// The count of push outcomes when the pass began.
    var begun: Int64
    /// The rows that the list of a client's own pairs had.
    var followed: Set<ItemID> = []
    /// When clients last used the store, in uptime.
    var lastUse: Duration?
    /// Whether a token is kept, with the items that the query returned.
    var keepsToken: Bool
    /// How many rows were older than those that the backend gave before, and were not taken.
    private(set) var olderRows = 0
    /// The time of the latest change among the rows received.
    private(set) var newest: Instant?
    /// Whether a row came that is softly deleted: the backend then keeps a row of each deletion.
    private(set) var hasTombstones = false
    /// Whether rows came that do not fit the filter by which the table is copied in part.
    var hasOthers = false
    /// The latest ``RemotePage/deletionsAfter`` of the pages.
    private(set) var deletionsAfter: Instant?

    init(
        table: TableName, plan: PullPlan, token: PullToken?, startedAt: Instant,
        startedUptime: Duration, begun: Int64, keepsToken: Bool
    ) {
        end = PullEnd(table)
        (self.plan, self.token, earlier, self.startedAt) = (plan, token, token, startedAt)
        (self.startedUptime, self.begun, self.keepsToken) = (startedUptime, begun, keepsToken)
    }

    /// Whether what ended the pull is surely about its table: nothing else stopped it, or the table alone asks
    /// for a sign-in, since without a token other tables may be read.
    func isAboutTable(_ credential: Credential) -> Bool {
        end.stop == nil && end.tableFailure == nil || end.stop == .signIn && credential == .none
    }

    /// Whether items that were not received are removed at the end, because the backend does not have them.
    var removesUnseen: Bool {
        !plan.isUnsure && (plan.collectsIDs || plan.paging.isWhole && keepsToken)
    }

    /// The next page to request. The first request also asks for the total count; if it is refused, the
    /// retry does not. A script that reads query pairs of the developer's own is not asked for a count: the
    /// answer has another form, which such a script may leave as it is.
    var query: PageQuery {
        var query = plan.next()
        query.query.count =
            end.report.requests == 0 && !plan.paging.isLinked && query.parameters.isEmpty
        return query
    }

    var needsNextPage: Bool { !plan.isAtEnd && end.report.error == nil }

    /// Whether clients used the store a moment ago.
    /// - Parameter now: in uptime.
    func isInUse(at now: Duration) -> Bool {
        let rest = Duration.milliseconds(SyncLimits.restBesideClientsMilliseconds)
        return lastUse.map { now - $0 < rest } ?? false
    }

    /// Takes note of the rows of a page in no order: the latest of them is the token when all pages were received.
    mutating func noteLatest(_ rows: some Sequence<ListElement>) {
        guard plan.paging == .links, let begunAt else { return }
        var reached = PullToken(rowID: 0, updatedAt: latest?.updatedAt, isComplete: false)
        for row in rows {
            let before = reached.updatedAt
            reached.advance(to: [row], begunAt: begunAt)
            if reached.updatedAt != before { latest = row }
        }
    }

    /// Takes note of the times of a page's rows.
    mutating func noteTimes(_ rows: some Sequence<ListElement>) {
        for row in rows {
            hasTombstones = hasTombstones || row.row?.isDeleted == true
            guard let time = row.updatedAt.flatMap({ Instant(parsing: $0) }) else { continue }
            newest = max(time, newest ?? time)
        }
    }

    /// Begins with the table's first row, because the token's time is yet to come.
    mutating func forgetToken() {
        plan.beginWithFirstRow()
        token?.updatedAt = nil
        token?.lastID = nil
        token?.isSettled = false
        earlier = token
    }

    /// Takes note up to which time the backend no longer has deleted rows.
    /// - Returns: whether the pull was to bring deletions that are gone. Then it begins anew and compares all.
    mutating func comparesAll(after page: RemotePage) -> Bool {
        guard let time = page.deletionsAfter else { return false }
        deletionsAfter = max(time, deletionsAfter ?? time)
        guard lacksDeletions, plan.start != nil else { return false }
        plan.compareAll()
        return true
    }

    /// Whether the backend no longer has deletions that were to come after the token. The token stays where it is
    /// until all rows were compared: an interrupted pull would leave them behind it.
    var lacksDeletions: Bool {
        guard let earlier, let deletionsAfter else { return false }
        return earlier.misses(deletionsUpTo: deletionsAfter)
    }

    /// The token as a complete pull leaves it; that of the beginning where deletions are lacking and not all rows
    /// could be compared.
    /// - Parameter elapsed: the time since the pull's beginning.
    func completed(_ token: PullToken, elapsed: Duration) -> PullToken {
        if lacksDeletions, !removesUnseen, let earlier { return earlier }
        var token = token
        if plan.paging == .links, let latest {
            token.advance(to: [latest], begunAt: begunAt ?? startedAt, elapsed: elapsed)
        }
        token.deletionsAfter = [token.deletionsAfter, deletionsAfter].compactMap(\.self).max()
        token.complete(after: earlier, times)
        return token
    }

    /// Adds the effect of one transaction.
    mutating func take(_ part: AppliedPart) {
        token = part.token ?? token
        times.skipped = part.skipped
        hasOthers = hasOthers || part.hasOthers
        olderRows += part.effects[.older] ?? 0
        end.isLagging = end.isLagging || part.effects[.lagging] != nil
        end.report.add(part.effects)
    }
}

/// What one transaction has applied of a pull.
struct AppliedPart: Sendable {
    var rows = 0
    var effects: [AppliedRow: Int] = [:]
    var token: PullToken?
    /// The earliest time of a row that was left for a later pull.
    var skipped: Instant?
    /// See ``Pull/hasOthers``.
    var hasOthers = false

    mutating func add(_ effect: AppliedRow, of element: ListElement) {
        rows += 1
        effects[effect, default: 0] += 1
        guard effect == .skipped, let time = element.updatedAt.flatMap({ Instant(iso: $0) }) else {
            return
        }
        skipped = min(time, skipped ?? time)
    }
}

extension [AppliedRow: Int] {
    /// Whether a row was inserted, updated or deleted.
    var haveChanged: Bool {
        self[.inserted] != nil || self[.updated] != nil || self[.deleted] != nil
    }
}

extension PullReport {
    /// Adds the numbers of rows by what they changed.
    mutating func add(_ effects: [AppliedRow: Int]) {
        applied += (effects[.inserted] ?? 0) + (effects[.updated] ?? 0)
        deleted += effects[.deleted] ?? 0
        skippedDirty += effects[.shadowed] ?? 0
    }
}

/// Pages that were received and not applied yet, in order.
struct PagePrefetcher: Sendable {
    /// One page, or what is left of it.
    struct Page: Sendable {
        var rows: ArraySlice<ListElement>
        /// The count of push outcomes when the page was requested.
        let change: Int64
        /// The paging with which it was requested.
        let paging: Paging
        /// Whether rows have come in another order than that of `updatedAt`.
        var isUnsorted = false
        /// When the pull began, by the backend's clock or else the store's; nil if it is not known.
        var begunAt: Instant?
        /// The time from the beginning of the pull until the page was received.
        var elapsed = Duration.zero
    }
    private var pages: [Page] = []

    var isEmpty: Bool { pages.isEmpty }

    var rows: Int { pages.reduce(0) { $0 + $1.rows.count } }

    /// Adds a page behind the others. A page without rows is ignored.
    mutating func append(_ page: Page) {
        if !page.rows.isEmpty { pages.append(page) }
    }

    /// The first rows, at most `limit`, from pages that were requested with the same paging.
    func first(_ limit: Int) -> [Page] {
        var part: [Page] = []
        var remaining = limit
        for page in pages where remaining > 0 {
            guard page.paging == part.first?.paging ?? page.paging else { break }
            var taken = page
            taken.rows = page.rows.prefix(remaining)
            part.append(taken)
            remaining -= taken.rows.count
        }
        return part
    }

    /// Removes the first rows, which were applied.
    mutating func drop(_ count: Int) {
        var count = count
        while count > 0, let first = pages.first {
            if first.rows.count > count {
                pages[0].rows = first.rows.dropFirst(count)
                return
            }
            count -= first.rows.count
            pages.removeFirst()
        }
    }
}
