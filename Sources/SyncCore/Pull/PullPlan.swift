import TablesProtocol

/// Where a pull of one table stands, and which page it asks for next. Pure: pages go in, requests
/// come out.
///
/// Paging is by keyset on `(updatedAt, id)` in the backend's own text: no row that moves while it is
/// pulled is missed, since a changed row only ever moves behind the cursor. A backend that prints
/// less than it stores never matches `updatedAt eq`, but then `gt` brings the rows again, which the
/// guard notices; one that refuses the filter is paged by `$skip` inside ties.
///
/// Where rows before the page go away, those behind it move up, and `$skip` would pass over as many:
/// so a page by `$skip` begins with the row that came last, and one that begins with a row not seen is
/// no page, but a sign to go back.
struct PullPlan: Sendable {
    let idKind: IDKind
    private(set) var paging: Paging
    /// Which rows are asked for.
    let wanted: PullQuery
    let pageRows: Int
    /// All ids are kept, for whoever wants to know what the backend has.
    let collectsIDs: Bool

    /// Where an incremental pull begins; nil for the beginning.
    private(set) var start: InstantLiteral?
    private(set) var cursor: Cursor?
    /// Rows that came since the cursor's instant began; by full paging, since the table began.
    private var taken = 0
    /// What was seen at the cursor's instant: the progress guard.
    private var seen: Set<Seen> = []
    /// What came, where ids are collected or the whole table is paged by `$skip`.
    private(set) var ids: Set<ItemID> = []
    /// Rows to go back when the next page does not begin with a row that was seen.
    private var stride = 1
    private var stepsBack = 0
    /// The next page begins behind the last row: one that begins with it brought nothing else.
    private var leaps = false
    private(set) var isAtEnd = false
    /// A row came without `updatedAt`: no position can be kept.
    private(set) var hasUntimedRows = false

    /// The last row seen.
    struct Cursor: Sendable, Hashable {
        var updatedAt: String
        var id: ItemID
    }

    private struct Seen: Hashable {
        var id: ItemID
        var version: String?
    }

    /// A plan from a token's instant, which is moved back by the overlap: a row committed late with
    /// an earlier time is found there.
    init(
        idKind: IDKind, paging: Paging, wanted: PullQuery, pageRows: Int, token: String?,
        collectsIDs: Bool = false
    ) {
        self.collectsIDs = collectsIDs
        self.idKind = idKind
        self.paging = paging
        self.wanted = wanted
        self.pageRows = pageRows
        guard paging != .full, let token, let instant = Instant(iso: token) else { return }
        start = InstantLiteral(instant.advanced(by: .seconds(-SyncLimits.overlapSeconds)).text)
    }

    /// The next page to ask for.
    func next() -> PageQuery {
        var query = TableQuery(top: pageRows, includeDeleted: true)
        let changed = Ordering(.column(.system(.updatedAt)))
        let id = Ordering(.column(.id))
        switch paging {
        case .keyset:
            query.filter = both(wanted.filter, keyset())
            query.orderBy = [changed, id]
        case .skipInTies:
            let from = cursor.flatMap { InstantLiteral($0.updatedAt) } ?? start
            query.filter = both(wanted.filter, from.map { .changed(since: $0) })
            query.orderBy = [changed, id]
            query.skip = taken - overlap
        case .full:
            query.filter = wanted.filter
            query.orderBy = [id]
            query.skip = taken - overlap
        }
        return PageQuery(query, parameters: wanted.parameters)
    }

    /// Rows of the next page that came already.
    private var overlap: Int {
        paging == .keyset || taken == 0 || leaps || stepsBack >= SyncLimits.pullStepsBack ? 0 : 1
    }

    private func both(_ left: Expression?, _ right: Expression?) -> Expression? {
        left.map { $0.and(right) } ?? right
    }

    private func keyset() -> Expression? {
        guard let cursor else { return start.map { .changed(since: $0) } }
        return .keyset(after: cursor.updatedAt, id: cursor.id.text, kind: idKind)
    }

    /// Takes a page in; gives the rows that count: none where the page has to come again.
    ///
    /// 1. A page by `$skip` that does not begin with a row that was seen is not taken.
    /// 2. An empty page is the end; so is a short one that names no next.
    /// 3. Rows without a readable `updatedAt` cannot be paged by it: the whole pull becomes one by `$skip`.
    /// 4. A keyset page without a row unseen at the cursor's instant makes no progress: from here on
    ///    the table is paged by `$skip` inside ties.
    @discardableResult
    mutating func take(_ page: RemotePage) -> ArraySlice<RemoteRow> {
        guard follows(page) else {
            stepBack()
            return []
        }
        let rows = page.rows.dropFirst(overlap)
        stride = 1
        let isShort = page.rows.count < min(pageRows, SyncLimits.smallestPageRows)
        isAtEnd = page.rows.isEmpty || isShort && !page.hasNext
        leaps = rows.isEmpty
        guard let last = rows.last else { return rows }
        if page.rows.contains(where: { $0.updatedAt.flatMap { InstantLiteral($0) } == nil }) {
            hasUntimedRows = true
            // The page comes again, in another order.
            if paging != .full {
                restart(paging: .full)
                return []
            }
        }
        if collectsIDs || paging == .full { ids.formUnion(rows.map(\.id)) }
        switch paging {
        case .full: taken += rows.count
        case .keyset, .skipInTies: move(rows, last)
        }
        return rows
    }

    /// Whether no row before the page has gone away since the last one came.
    private func follows(_ page: RemotePage) -> Bool {
        guard overlap > 0 else { return true }
        guard let first = page.rows.first else { return false }
        return paging == .full
            ? ids.contains(first.id) : seen.contains(Seen(id: first.id, version: first.version))
    }

    /// Goes back to where nothing was missed yet: to the beginning of the instant, or of the whole table
    /// by twice as many rows each time.
    private mutating func stepBack() {
        stepsBack += 1
        isAtEnd = false
        guard paging == .full else { return taken = 0 }
        taken = max(0, taken - stride)
        stride *= 2
    }

    private mutating func move(_ rows: ArraySlice<RemoteRow>, _ last: RemoteRow) {
        let fresh = rows.contains { !seen.contains(Seen(id: $0.id, version: $0.version)) }
        if paging == .keyset, !fresh {
            paging = .skipInTies
            taken = rows.count { $0.updatedAt == cursor?.updatedAt }
            isAtEnd = false
            return
        }
        let instant = last.updatedAt ?? ""
        if instant == cursor?.updatedAt {
            taken += rows.count
        } else {
            seen = []
            taken = rows.count { $0.updatedAt == instant }
        }
        for row in rows where row.updatedAt == instant {
            seen.insert(Seen(id: row.id, version: row.version))
        }
        cursor = Cursor(updatedAt: instant, id: last.id)
    }

    /// Begins again with another way of paging, after the backend refused the present one.
    mutating func restart(paging: Paging) {
        self.paging = paging
        if paging == .full { start = nil }
        cursor = nil
        (taken, seen, ids) = (0, [], [])
        (stride, leaps, isAtEnd) = (1, false, false)
    }

    /// A simpler way of paging than the present one.
    var simpler: Paging? {
        switch paging {
        case .keyset: .skipInTies
        case .skipInTies: .full
        case .full: nil
        }
    }
}
