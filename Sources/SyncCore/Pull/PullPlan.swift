import TablesProtocol

/// Where a pull of one table stands, and which page it asks for next. Pure: pages go in, requests
/// come out.
///
/// Paging is by keyset on `(updatedAt, id)` in the backend's own text: no row that moves while it is
/// pulled is missed, since a changed row only ever moves behind the cursor. A backend that prints
/// less than it stores never matches `updatedAt eq`, but then `gt` brings the rows again, which the
/// guard notices; one that refuses the filter is paged by `$skip` inside ties.
struct PullPlan: Sendable {
    var idKind: IDKind
    var paging: Paging
    /// Which rows are asked for.
    var wanted: PullQuery
    var pageRows: Int

    /// Where an incremental pull begins; nil for the beginning.
    private(set) var start: InstantLiteral?
    private(set) var cursor: Cursor?
    /// Rows asked for by `$skip` since the cursor's instant began.
    private(set) var skip = 0
    /// What was seen at the cursor's instant: the progress guard.
    private var seen: Set<Seen> = []
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
        idKind: IDKind, paging: Paging, wanted: PullQuery, pageRows: Int, token: String?
    ) {
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
            query.skip = skip
        case .full:
            query.filter = wanted.filter
            query.orderBy = [id]
            query.skip = skip
        }
        return PageQuery(query, parameters: wanted.parameters)
    }

    private func both(_ left: Expression?, _ right: Expression?) -> Expression? {
        left.map { $0.and(right) } ?? right
    }

    private func keyset() -> Expression? {
        guard let cursor else { return start.map { .changed(since: $0) } }
        return .keyset(after: cursor.updatedAt, id: cursor.id.text, kind: idKind)
    }

    /// Takes a page in.
    ///
    /// 1. An empty page is the end; so is a short one that names no next.
    /// 2. Rows without a readable `updatedAt` cannot be paged by it: the whole pull becomes one by `$skip`.
    /// 3. A keyset page without a row unseen at the cursor's instant makes no progress: from here on
    ///    the table is paged by `$skip` inside ties.
    mutating func take(_ page: RemotePage) {
        guard let last = page.rows.last else {
            isAtEnd = true
            return
        }
        let isShort = page.rows.count < min(pageRows, SyncLimits.smallestPageRows)
        isAtEnd = isShort && !page.hasNext
        if page.rows.contains(where: { $0.updatedAt.flatMap { InstantLiteral($0) } == nil }) {
            hasUntimedRows = true
            // The page comes again, in another order.
            if paging != .full { return restart(paging: .full) }
        }
        switch paging {
        case .full: skip += page.rows.count
        case .keyset, .skipInTies: move(page, last)
        }
    }

    private mutating func move(_ page: RemotePage, _ last: RemoteRow) {
        let fresh = page.rows.contains { !seen.contains(Seen(id: $0.id, version: $0.version)) }
        if paging == .keyset, !fresh {
            paging = .skipInTies
            skip = page.rows.count { $0.updatedAt == cursor?.updatedAt }
            isAtEnd = false
            return
        }
        let instant = last.updatedAt ?? ""
        if instant == cursor?.updatedAt {
            skip += page.rows.count
        } else {
            seen = []
            skip = page.rows.count { $0.updatedAt == instant }
        }
        for row in page.rows where row.updatedAt == instant {
            seen.insert(Seen(id: row.id, version: row.version))
        }
        cursor = Cursor(updatedAt: instant, id: last.id)
    }

    /// Begins again with another way of paging, after the backend refused the present one.
    mutating func restart(paging: Paging) {
        self.paging = paging
        if paging == .full { start = nil }
        cursor = nil
        skip = 0
        seen = []
        isAtEnd = false
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
