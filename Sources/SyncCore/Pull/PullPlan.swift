import TablesProtocol

/// The position of a pull, and the next page to request. Pure: pages go in, requests come out.
///
/// Keyset paging uses `(updatedAt, id)` in the backend's own text. A row that changes during the pull moves
/// behind the cursor, so it is not missed. A backend that prints less than it stores never matches
/// `updatedAt eq`; `gt` then returns the same rows again, which the progress check detects. A backend that
/// refuses the filter is paged by `$skip` among rows of the same time.
///
/// If rows before a page are removed, later rows move up, and `$skip` would miss as many. So a page by
/// `$skip` begins with the last row of the page before. A page that begins with a row which was not received
/// before is not used; the plan goes back (``SkipPosition``).
struct PullPlan: Sendable {
    let idKind: IDKind
    private(set) var paging: Paging
    let wanted: PullQuery
    /// How many rows a page is to have.
    private(set) var size: RequestedRows
    /// How many rows the pages had.
    private(set) var received = ReceivedRows()
    /// Whether all ids are collected, to compare them with the store at the end.
    private(set) var collectsIDs: Bool

    /// Where an incremental pull begins; nil for a full one.
    private(set) var start: InstantLiteral?
    private(set) var cursor: Cursor?
    private(set) var position = SkipPosition()
    private(set) var links = LinkPosition()
    /// The rows received with the cursor's time, to check for progress.
    private var seen: Set<RowKey> = []
    /// The ids received, if ids are collected or the whole table is paged by `$skip`.
    private(set) var ids: Set<ItemID> = []
    private var lastPage: [RowKey] = []
    private(set) var isAtEnd = false
    /// Whether the backend ignores paging and sends the whole table.
    private(set) var isUnpaged = false
    /// Whether the backend sends the same page for every request and says that more follow.
    private(set) var isRepeating = false
    /// Whether a row came without `updatedAt`, so that no token can be kept.
    private(set) var hasUntimedRows = false
    /// Whether the rows received have a version; nil before the first one.
    private(set) var hasVersions: Bool?
    /// Whether rows came in another order than that of `updatedAt`, in this pull or an earlier one.
    private(set) var isUnsorted: Bool
    /// Whether the times of the last page went back, so that the page is requested once more.
    private var isOrderDoubted = false
    /// Whether the pull got an element whose id cannot be read: it may be any row.
    private(set) var hasNamelessRows = false

    /// The last row received.
    struct Cursor: Sendable, Hashable {
        var updatedAt: String
        /// The backend's own text; empty if the row had no readable id.
        var id: String
    }

    /// Identifies a row of a page.
    private struct RowKey: Hashable {
        /// The id's text; for a row without an id, its whole text.
        var name: String
        var version: String?
        /// The time of change. If none can be read, that of the row before, after which the backend sorted
        /// it.
        var updatedAt: String?

        init(_ element: ListElement, after earlier: String?) {
            updatedAt = element.updatedAt
            switch element {
            case .row(let row): (name, version) = (row.id.text, row.version)
            case .unusable(let unusable):
                name = unusable.id ?? unusable.text
                updatedAt = updatedAt ?? earlier
            }
        }
    }

    private func rowKeys(_ page: RemotePage) -> [RowKey] {
        var earlier = cursor?.updatedAt
        return page.elements.map { element in
            let key = RowKey(element, after: earlier)
            earlier = key.updatedAt
            return key
        }
    }

    /// Starts a plan.
    /// - Parameters:
    ///   - start: where it begins (``PullToken/start``); nil for the first row.
    ///   - isUnsorted: whether rows came in another order in an earlier pull. A table that is paged by
    ///     `$skip` because of that stays unsorted.
    init(
        idKind: IDKind, paging: Paging, wanted: PullQuery, size: RequestedRows,
        start: InstantLiteral?, collectsIDs: Bool = false, isUnsorted: Bool = false
    ) {
        self.collectsIDs = collectsIDs
        self.isUnsorted = paging == .full && isUnsorted
        self.idKind = idKind
        self.paging = paging
        self.wanted = wanted
        self.size = size
        self.start = paging.isWhole ? nil : start
    }

    /// Whether the pull begins after a time, so that it would miss each change until then.
    func begins(after time: Instant) -> Bool { start.map { $0.instant > time } ?? false }

    /// Begins with the table's first row instead. Called before a page was taken.
    mutating func beginWithFirstRow() { start = nil }

    /// Begins anew with the first row, and collects all ids.
    mutating func compareAll() {
        restart(paging: paging)
        start = nil
        collectsIDs = true
    }

    func next() -> PageQuery {
        var query = TableQuery(top: size.rows, includeDeleted: true)
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
            query.skip = position.skip
        case .full:
            query.filter = wanted.filter
            query.orderBy = [id]
            query.skip = position.skip
        case .links, .wholeByLinks:
            query.filter = both(wanted.filter, start.map { .changed(since: $0) })
            if !links.asksTop { query.top = nil }
            switch links.next {
            case .first: break
            case .link(let link):
                return PageQuery(query, parameters: wanted.parameters, link: link)
            case .skip(let rows): query.skip = rows
            }
        }
        return PageQuery(query, parameters: wanted.parameters)
    }

    /// The number of rows of the next page that were received before.
    private var overlap: Int {
        switch paging {
        case .keyset, .links, .wholeByLinks: 0
        case .skipInTies, .full: position.overlap
        }
    }

    private func both(_ left: Expression?, _ right: Expression?) -> Expression? {
        left.map { $0.and(right) } ?? right
    }

    private func keyset() -> Expression? {
        guard let cursor else { return start.map { .changed(since: $0) } }
        return .keyset(after: cursor.updatedAt, id: cursor.id, kind: idKind)
    }

    /// Takes a page.
    /// - Returns: the rows to apply; none if the page has to be requested again.
    ///
    /// 1. A page by `$skip` that does not begin with a known row is not used.
    /// 2. An empty page is the end. A short page is not, because servers cut pages. A count proves nothing:
    ///    it may count the page only, and rows may come twice.
    /// 3. If the same page comes again, the backend ignores the paging.
    /// 4. If rows have no readable `updatedAt`, the pull starts again with `$skip` alone.
    /// 5. If the times go back, the page is requested once more: a row may have changed while the backend read
    ///    the page. If they go back again, the backend does not sort by them, and no cursor can be trusted: the
    ///    pull starts again with `$skip` alone.
    /// 6. If a keyset page has no new row at the cursor's time, there is no progress: from here on the
    ///    table is paged by `$skip` among rows of the same time.
    ///
    /// An element that cannot be applied counts as a row: the cursor moves past it.
    @discardableResult
    mutating func take(_ page: RemotePage) -> ArraySlice<ListElement> {
        if paging.isLinked { return takeLinked(page) }
        let keys = rowKeys(page)
        guard continuesLastPage(page, keys) else {
            if paging == .full { position.stepBack() } else { position.restart() }
            lastPage = []
            return []
        }
        size.accept()
        let rows = page.elements.dropFirst(overlap)
        received.note(page, of: size.rows, bringsNothing: rows.isEmpty)
        isAtEnd = page.elements.isEmpty
        guard let last = rows.last else {
            position.advance(by: 0, isNew: false)
            return rows
        }
        if keys == lastPage, !isAtEnd { return handleRepeatedPage(page, keys) }
        lastPage = keys
        if rows.contains(where: { $0.idText == nil }) { hasNamelessRows = true }
        for row in page.rows { hasVersions = hasVersions != false && row.version != nil }
        if isUntimed(page, keys) {
            hasUntimedRows = true
            // The page is requested again, in another order.
            if paging != .full {
                restart(paging: .full)
                return []
            }
        }
        if paging != .full, goesBack(keys) {
            guard isOrderDoubted else {
                isOrderDoubted = true
                // The next page is neither a repeated one nor the one after a cut one.
                lastPage = []
                received.forgetLast()
                return []
            }
            isUnsorted = true
            restart(paging: .full)
            return []
        }
        isOrderDoubted = false
        let known = ids.count
        if collectsIDs || paging == .full { ids.formUnion(rows.compactMap(\.itemID)) }
        switch paging {
        case .full: position.advance(by: rows.count, isNew: ids.count > known)
        case .keyset, .skipInTies: move(keys.dropFirst(overlap), last)
        case .links, .wholeByLinks: break
        }
        return rows
    }

    /// Takes a page of the backend's own links, whose rows come in no order. Rows without a time, and pages that
    /// are found by counting rows, allow no token: then every pull takes the whole table.
    private mutating func takeLinked(_ page: RemotePage) -> ArraySlice<ListElement> {
        size.accept()
        received.note(page.elements.count)
        if page.elements.contains(where: { $0.idText == nil }) { hasNamelessRows = true }
        for row in page.rows { hasVersions = hasVersions != false && row.version != nil }
        let known = ids.count
        ids.formUnion(page.elements.compactMap(\.itemID))
        links.advance(past: page, isNew: ids.count > known)
        isAtEnd = links.isAtEnd
        isRepeating = links.isRepeating
        if page.elements.contains(where: { $0.row != nil && !Self.isTimed($0.updatedAt) }) {
            hasUntimedRows = true
        }
        if hasUntimedRows || links.isByCount, paging == .links {
            // A request with a time may have left rows out.
            if start != nil {
                restart(paging: .wholeByLinks)
                return []
            }
            paging = .wholeByLinks
        }
        return page.elements[...]
    }

    /// Takes note that the backend refused `$skip` behind the last page of its links.
    mutating func refuseSkip() {
        links.refuseSkip(asked: size.rows)
        isAtEnd = links.isAtEnd
    }

    /// Requests smaller pages from here on, if the answer may be a refusal of the page size.
    /// - Returns: whether the page size changed.
    mutating func reducePageSize(after answer: RemoteAnswer) -> Bool {
        guard let rows = answer.smallerPage(than: size.rows), size.reduce(to: rows) else {
            return false
        }
        received.cut = size.rows
        return true
    }

    /// Whether a row of the page has no readable time, or no element has one.
    private func isUntimed(_ page: RemotePage, _ keys: [RowKey]) -> Bool {
        if page.elements.contains(where: { $0.row != nil && !Self.isTimed($0.updatedAt) }) {
            return true
        }
        return !Self.isTimed(keys.last?.updatedAt)
    }

    private static func isTimed(_ text: String?) -> Bool {
        text.flatMap { InstantLiteral($0) } != nil
    }

    /// Whether the times of a page go back, from the cursor's on.
    private func goesBack(_ keys: [RowKey]) -> Bool {
        let texts = [cursor?.updatedAt] + keys.map(\.updatedAt)
        let times = texts.compactMap { text in text.flatMap { Instant(iso: $0) } }
        return zip(times, times.dropFirst()).contains { $0 > $1 }
    }

    /// Whether the page begins with a row that was received before, so that it misses no row.
    private func continuesLastPage(_ page: RemotePage, _ keys: [RowKey]) -> Bool {
        guard overlap > 0 else { return true }
        guard let first = page.elements.first, let key = keys.first else { return false }
        guard paging == .full else { return seen.contains(key) }
        return first.itemID.map { ids.contains($0) } ?? lastPage.contains(key)
    }

    /// Handles a page that came twice: continues without a filter. If all its rows have the same time,
    /// `$skip` is tried first, because a filter may not tell them apart. Without a filter, the page is the
    /// whole table unless it names a next page.
    private mutating func handleRepeatedPage(
        _ page: RemotePage, _ keys: [RowKey]
    ) -> ArraySlice<ListElement> {
        switch paging {
        case .keyset where keys.allSatisfy { $0.updatedAt == cursor?.updatedAt }:
            skipInTies(keys[...])
        case .keyset, .skipInTies: restart(paging: .full)
        case .full:
            isRepeating = page.hasNext
            isUnpaged = !page.hasNext
            isAtEnd = isUnpaged
        case .links, .wholeByLinks: break
        }
        return []
    }

    private mutating func skipInTies(_ keys: ArraySlice<RowKey>) {
        paging = .skipInTies
        position = SkipPosition(taken: keys.count { $0.updatedAt == cursor?.updatedAt })
        isAtEnd = false
    }

    private mutating func move(_ keys: ArraySlice<RowKey>, _ last: ListElement) {
        if paging == .keyset, keys.allSatisfy({ seen.contains($0) }) {
            return skipInTies(keys)
        }
        let instant = keys.last?.updatedAt ?? ""
        if instant == cursor?.updatedAt {
            let isNew = keys.contains { !seen.contains($0) }
            position.advance(by: keys.count, isNew: isNew)
        } else {
            seen = []
            position.begin(with: keys.count { $0.updatedAt == instant })
        }
        for key in keys where key.updatedAt == instant { seen.insert(key) }
        cursor = Cursor(updatedAt: instant, id: last.idText ?? "")
    }

    /// Starts again with another paging, after the backend refused the present one.
    mutating func restart(paging: Paging) {
        let refused = size
        size.undoUntested()
        if size != refused { received.cut = nil }
        self.paging = paging
        if paging.isWhole { start = nil }
        cursor = nil
        (position, links) = (SkipPosition(), LinkPosition())
        (seen, ids, lastPage) = ([], [], [])
        received.forgetLast()
        isOrderDoubted = false
        isAtEnd = false
    }

    /// Whether rows may have been missed, so that an unseen item may still exist. A list that came whole has
    /// no order that matters.
    var isUnsure: Bool {
        position.isUnsure || hasNamelessRows || isUnsorted && !isUnpaged
    }

    /// The next simpler paging after a refusal; nil if there is none.
    /// - Parameter isOfOrder: whether the backend may have refused the order itself
    ///   (``RemoteAnswer/mayRefuseOrder``), and not for one moment.
    func simpler(isOfOrder: Bool) -> Paging? {
        switch paging {
        case .keyset: .skipInTies
        case .skipInTies: .full
        case .full: isOfOrder ? .links : nil
        case .links: start == nil ? nil : .wholeByLinks
        case .wholeByLinks: nil
        }
    }
}
