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
/// so a page by `$skip` begins with the row that came last, and one that begins with another is no
/// page, but a sign to go back (``SkipPosition``).
struct PullPlan: Sendable {
    let idKind: IDKind
    private(set) var paging: Paging
    /// Which rows are asked for.
    let wanted: PullQuery
    private(set) var pageRows: Int
    /// What it was at the beginning.
    private let askedRows: Int
    /// Smaller pages are asked for after a refusal, and none has come yet.
    private var isSizeInQuestion = false
    /// The largest page that the backend has cut; nil while it gave what it was asked for.
    private(set) var cutRows: Int?
    /// The largest page that came.
    private(set) var largestRows = 0
    /// All ids are kept, for a caller that wants to know what the backend has.
    let collectsIDs: Bool

    /// Where an incremental pull begins; nil for the beginning.
    private(set) var start: InstantLiteral?
    private(set) var cursor: Cursor?
    private var position = SkipPosition()
    /// What was seen at the cursor's instant: the progress guard.
    private var seen: Set<Seen> = []
    /// What came, where ids are collected or the whole table is paged by `$skip`.
    private(set) var ids: Set<ItemID> = []
    /// The last page that was taken.
    private var lastPage: [Seen] = []
    private(set) var isAtEnd = false
    /// The same page comes whatever is asked for: the whole table.
    private(set) var isUnpaged = false
    /// The same page comes whatever is asked for, and says that there is more.
    private(set) var isInCircles = false
    /// How many rows the last page had.
    private var lastRows: Int?
    /// A row came without `updatedAt`: no position can be kept.
    private(set) var hasUntimedRows = false

    /// The last row seen.
    struct Cursor: Sendable, Hashable {
        var updatedAt: String
        /// As the backend wrote it; empty where the row had none that can be read.
        var id: String
    }

    /// What tells rows of pages apart.
    private struct Seen: Hashable {
        /// The id's text; all of a row without one.
        var name: String
        var version: String?
        /// Where none can be read, that of the row before: the backend has put it behind that one.
        var updatedAt: String?

        init(_ element: ListElement, after earlier: String?) {
            updatedAt = element.updatedAt
            switch element {
            case .row(let row): (name, version) = (row.id.text, row.version)
            case .odd(let odd):
                name = odd.id ?? odd.text
                updatedAt = updatedAt ?? earlier
            }
        }
    }

    /// The page's rows as the guards compare them.
    private func places(_ page: RemotePage) -> [Seen] {
        var earlier = cursor?.updatedAt
        return page.elements.map { element in
            let place = Seen(element, after: earlier)
            earlier = place.updatedAt
            return place
        }
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
        (self.pageRows, askedRows) = (pageRows, pageRows)
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
            query.skip = position.skip
        case .full:
            query.filter = wanted.filter
            query.orderBy = [id]
            query.skip = position.skip
        }
        return PageQuery(query, parameters: wanted.parameters)
    }

    /// Rows of the next page that came already.
    private var overlap: Int { paging == .keyset ? 0 : position.overlap }

    private func both(_ left: Expression?, _ right: Expression?) -> Expression? {
        left.map { $0.and(right) } ?? right
    }

    private func keyset() -> Expression? {
        guard let cursor else { return start.map { .changed(since: $0) } }
        return .keyset(after: cursor.updatedAt, id: cursor.id, kind: idKind)
    }

    /// Takes a page in; gives the elements that count: none where the page has to come again.
    ///
    /// 1. A page by `$skip` that does not begin with a row that came is not taken.
    /// 2. The end is an empty page. A short page is none, since servers cut pages as they like, and a
    ///    count proves nothing: it may be that of the page, and rows may come twice.
    /// 3. The same page once more: the backend does not page as it was asked.
    /// 4. Rows without a readable `updatedAt` cannot be paged by it: the whole pull becomes one by `$skip`.
    /// 5. A keyset page without a row unseen at the cursor's instant makes no progress: from here on
    ///    the table is paged by `$skip` inside ties.
    ///
    /// Elements that cannot be taken count as rows: the cursor moves past them.
    @discardableResult
    mutating func take(_ page: RemotePage) -> ArraySlice<ListElement> {
        let places = places(page)
        guard follows(page, places) else {
            if paging == .full { position.stepBack() } else { position.restart() }
            lastPage = []
            return []
        }
        isSizeInQuestion = false
        let rows = page.elements.dropFirst(overlap)
        noteCut(page, rows.isEmpty)
        isAtEnd = page.elements.isEmpty
        guard let last = rows.last else {
            position.advance(by: 0, isNew: false)
            return rows
        }
        if places == lastPage, !isAtEnd { return takeAgain(page, places) }
        lastPage = places
        if isUntimed(page, places) {
            hasUntimedRows = true
            // The page comes again, in another order.
            if paging != .full {
                restart(paging: .full)
                return []
            }
        }
        let known = ids.count
        if collectsIDs || paging == .full { ids.formUnion(rows.compactMap(\.itemID)) }
        switch paging {
        case .full: position.advance(by: rows.count, isNew: ids.count > known)
        case .keyset, .skipInTies: move(places.dropFirst(overlap), last)
        }
        return rows
    }

    /// A page of fewer rows than were asked for is a cut one when there are more behind it.
    private mutating func noteCut(_ page: RemotePage, _ bringsNothing: Bool) {
        if let cut = lastRows, cut < pageRows, !bringsNothing || page.hasNext {
            cutRows = max(cutRows ?? 0, cut)
        }
        lastRows = page.elements.count
        largestRows = max(largestRows, page.elements.count)
    }

    /// What is known of the backend's pages after this pull, given what was known before.
    func pageRows(after known: Int?) -> Int? {
        if let cutRows { return cutRows }
        return known.flatMap { largestRows > $0 ? nil : $0 }
    }

    /// Asks for smaller pages from here on, after the backend refused larger ones. Says whether that
    /// changes anything.
    mutating func askForLess() -> Bool {
        guard pageRows > SyncLimits.agreedPageRows else { return false }
        pageRows = SyncLimits.agreedPageRows
        cutRows = pageRows
        isSizeInQuestion = true
        return true
    }

    /// Whether a row has no time that can be read, or no element of the page has one.
    private func isUntimed(_ page: RemotePage, _ places: [Seen]) -> Bool {
        func isTimed(_ text: String?) -> Bool { text.flatMap { InstantLiteral($0) } != nil }
        if page.elements.contains(where: { $0.row != nil && !isTimed($0.updatedAt) }) {
            return true
        }
        return !isTimed(places.last?.updatedAt)
    }

    /// Whether no row before the page has gone away since the last one came.
    private func follows(_ page: RemotePage, _ places: [Seen]) -> Bool {
        guard overlap > 0 else { return true }
        guard let first = page.elements.first, let place = places.first else { return false }
        guard paging == .full else { return seen.contains(place) }
        return first.itemID.map { ids.contains($0) } ?? lastPage.contains(place)
    }

    /// Asks without a filter, unless all rows are of one instant, which a filter may fail to tell
    /// apart. Without one the page is the whole table, unless it names a next.
    private mutating func takeAgain(
        _ page: RemotePage, _ places: [Seen]
    ) -> ArraySlice<ListElement> {
        switch paging {
        case .keyset where places.allSatisfy { $0.updatedAt == cursor?.updatedAt }:
            skipInTies(places[...])
        case .keyset, .skipInTies: restart(paging: .full)
        case .full:
            isInCircles = page.hasNext
            isUnpaged = !page.hasNext
            isAtEnd = isUnpaged
        }
        return []
    }

    private mutating func skipInTies(_ places: ArraySlice<Seen>) {
        paging = .skipInTies
        position = SkipPosition(taken: places.count { $0.updatedAt == cursor?.updatedAt })
        isAtEnd = false
    }

    private mutating func move(_ places: ArraySlice<Seen>, _ last: ListElement) {
        if paging == .keyset, places.allSatisfy({ seen.contains($0) }) {
            return skipInTies(places)
        }
        let instant = places.last?.updatedAt ?? ""
        if instant == cursor?.updatedAt {
            let isNew = places.contains { !seen.contains($0) }
            position.advance(by: places.count, isNew: isNew)
        } else {
            seen = []
            position.begin(with: places.count { $0.updatedAt == instant })
        }
        for place in places where place.updatedAt == instant { seen.insert(place) }
        cursor = Cursor(updatedAt: instant, id: last.idText ?? "")
    }

    /// Begins again with another way of paging, after the backend refused the present one.
    mutating func restart(paging: Paging) {
        // Smaller pages were refused as well: the size was not the reason.
        if isSizeInQuestion { (pageRows, cutRows, isSizeInQuestion) = (askedRows, nil, false) }
        self.paging = paging
        if paging == .full { start = nil }
        cursor = nil
        position = SkipPosition()
        (seen, ids, lastPage) = ([], [], [])
        lastRows = nil
        isAtEnd = false
    }

    /// Rows may have been passed over: what did not come may still be there.
    var isUnsure: Bool { position.isUnsure }

    /// What the operator ought to know of the table; nil when it is paged as it should.
    var warning: String? {
        if hasUntimedRows {
            return "The backend's rows have no updatedAt: every pull takes the whole table."
        }
        if isUnpaged {
            return "The backend gives all rows whatever is asked for: every pull takes the whole "
                + "table."
        }
        return isUnsure
            ? "The backend's rows come in another order each time: some may be missing here, and some "
                + "that it deleted for good may stay."
            : nil
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
