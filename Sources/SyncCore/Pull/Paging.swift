import TablesProtocol

/// How a pull pages through the backend's table.
public enum Paging: String, Codable, Sendable, Hashable, CaseIterable {
    /// By a condition on `(updatedAt, id)`.
    case keyset
    /// By a condition on `updatedAt`, with `$skip` among rows of the same time.
    case skipInTies = "skip-in-ties"
    /// By `$skip` alone, for rows without `updatedAt`. Every pull is a full one.
    case full
    /// In no order, by the backend's own links, for a backend that refuses orders. A pull requests the rows
    /// changed since its token, which moves when all pages were received.
    case links
    /// As ``links``, of the whole table each time.
    case wholeByLinks = "links-whole"

    /// Whether rows come in the order of their times, so that a token moves with them.
    var isByTime: Bool { self == .keyset || self == .skipInTies }

    /// Whether pages are those of the backend's links.
    var isLinked: Bool { self == .links || self == .wholeByLinks }

    /// Whether every pull takes the whole table.
    var isWhole: Bool { self == .full || self == .wholeByLinks }
}

// What the operator is told about the paging of a table.
extension PullPlan {
    /// The warning about a backend whose links are followed; nil for another one.
    private var linkWarning: String? {
        guard paging.isLinked else { return nil }
        let cost =
            paging == .links
            ? "A pull takes the changed rows in no order, and begins again if it is interrupted."
            : "Every pull takes the whole table."
        let end =
            links.isEndUnproven
            ? " It named no next page: if it has more than \(ids.count) rows, they are missing here."
            : ""
        return
            "The backend refuses to sort, so the pages are those of its own links. \(cost) Rows that the "
            + "backend deleted for good are asked for one by one.\(end)"
    }

    private static let unsorted =
        "The backend does not sort by updatedAt: every pull takes the whole table, and rows that the "
        + "backend deleted for good stay. After it was corrected, pull the table with --reconcile."

    /// A warning about the table's paging for the operator; nil if it is normal.
    var warning: String? {
        if let linkWarning { return linkWarning }
        if hasUntimedRows {
            return "The backend's rows have no updatedAt: every pull takes the whole table."
        }
        if isUnpaged {
            return "The backend gives all rows whatever is asked for: every pull takes the whole "
                + "table."
        }
        if isUnsorted { return Self.unsorted }
        return position.isUnsure
            ? "The backend's rows come in another order each time: some may be missing here, and some "
                + "that it deleted for good may stay."
            : nil
    }

    private static let ahead =
        "The backend's latest row has a time that is yet to come, by the Date of its answers or else by this "
        + "machine's clock: every pull takes the rows of such times again. Compare the clocks of the "
        + "backend's database, its web server and this machine."

    /// As ``warning``; if that is nil, a warning about the clocks if the latest row has a time that is yet to
    /// come.
    /// - Parameter end: when the last page was sent.
    func warning(at end: Instant) -> String? {
        let latest = cursor.flatMap { Instant(iso: $0.updatedAt) }
        let bound = end.advanced(by: .seconds(SyncLimits.futureSeconds))
        return warning ?? latest.flatMap { $0 > bound ? Self.ahead : nil }
    }
}

/// The position of a pull that follows the backend's links.
///
/// 1. A page with a link leads to the next one, also if it has no rows.
/// 2. Behind a page without a link `$skip` is tried. An empty answer, a refused `$skip` and one that is ignored
///    are the end.
/// 3. A server may count `$top` down from link to link. So if `$top` is used up, the list begins again without it.
struct LinkPosition: Sendable {
    /// How the next page is requested.
    enum Next: Sendable, Hashable {
        case first
        case link(String)
        case skip(Int)
    }
    private(set) var next = Next.first
    /// Whether the first page is requested with `$top`.
    private(set) var asksTop = true
    private(set) var isAtEnd = false
    /// Whether the links lead in a circle, or on without new rows.
    private(set) var isRepeating = false
    /// Whether a link names something else than the table, so that the pages cannot be followed.
    private(set) var leadsElsewhere = false
    /// Whether pages were found by counting rows, which misses some when others go.
    private(set) var isByCount = false
    /// Whether nothing shows that there are no more rows than were received.
    private(set) var isEndUnproven = false
    private var followed: Set<String> = []
    private var received = 0
    private var barrenPages = 0

    /// Moves on after a page.
    /// - Parameter isNew: whether a row of it was not received before.
    mutating func advance(past page: RemotePage, isNew: Bool) {
        received += page.elements.count
        barrenPages = isNew ? 0 : barrenPages + 1
        if barrenPages > SyncLimits.barrenPages { isRepeating = true }
        if let link = page.next {
            if !followed.insert(link).inserted { isRepeating = true }
            if link.lowercased().contains("skip=") { isByCount = true }
            next = .link(link)
        } else if page.hasNext {
            leadsElsewhere = true
        } else if page.elements.isEmpty {
            isAtEnd = true
        } else if case .skip = next, !isNew {
            end()
        } else {
            if case .skip = next { isByCount = true }
            next = .skip(received)
        }
    }

    /// Whether the present request is a `$skip`, which the backend may refuse.
    var isSkip: Bool { if case .skip = next { true } else { false } }

    /// Ends the list, or begins it without `$top`, after `$skip` was refused.
    /// - Parameter asked: the `$top` of the list.
    mutating func refuseSkip(asked: Int) {
        guard asksTop, received >= asked else { return end() }
        self = LinkPosition()
        asksTop = false
    }

    private mutating func end() {
        isAtEnd = true
        isEndUnproven = followed.isEmpty
    }
}

/// The position of a pull that pages by `$skip`. A page begins with the last row of the page before. If it
/// does not, rows before it were removed and later rows moved up.
struct SkipPosition: Sendable {
    /// The number of rows received: those with the cursor's time, or those of the whole table.
    private(set) var taken = 0
    /// How many rows the next step back goes.
    private var stride = 1
    /// The number of steps back since the last new row.
    private var stepsBack = 0
    /// Whether the table's order is not stable, so that going back does not help. Pages are then taken as
    /// they come.
    private(set) var isUnsure = false
    /// Whether the next page begins after the last row, because the overlapping page had no other row.
    private var skipsOverlap = false

    /// Starts after `taken` rows.
    init(taken: Int = 0) { self.taken = taken }

    /// The number of rows of the next page that were received before.
    var overlap: Int {
        taken == 0 || skipsOverlap || isUnsure ? 0 : 1
    }

    /// The `$skip` of the next page.
    var skip: Int { taken - overlap }

    /// Moves past rows that were received.
    /// - Parameter isNew: whether any of them was not received before.
    mutating func advance(by rows: Int, isNew: Bool) {
        if isNew { stepsBack = 0 }
        taken += rows
        stride = 1
        skipsOverlap = rows == 0
    }

    /// Starts at a new time, with the number of rows received with it.
    mutating func begin(with rows: Int) {
        taken = rows
        (stride, stepsBack, skipsOverlap) = (1, 0, false)
    }

    /// Goes back to the first row of the present time.
    mutating func restart() {
        countStep()
        taken = 0
    }

    /// Goes back one row, then twice as many at each call, until a page begins with a known row.
    mutating func stepBack() {
        countStep()
        taken = max(0, taken - stride)
        stride *= 2
    }

    private mutating func countStep() {
        stepsBack += 1
        if stepsBack >= SyncLimits.pullStepsBack { isUnsure = true }
    }
}

/// The number of rows that a table's pulls request in a page. Pure.
///
/// 1. A page that the backend cuts short costs nothing, so it changes nothing.
/// 2. Only a refusal makes pages smaller: the size that it names or that was accepted before, or one that every
///    server accepts.
/// 3. A smaller size doubles at each further pull. A size that is refused again is left alone for some pulls,
///    so that a backend whose limit was raised is soon asked for whole pages.
struct RequestedRows: Sendable, Hashable {
    private(set) var rows: Int
    /// The most rows by the settings.
    private let most: Int
    /// The size that an earlier pull ended with after a refusal; nil if none was refused.
    private let accepted: Int?
    /// The number of pulls before a larger size than the accepted one is requested.
    private let pullsToWait: Int
    /// The size at the beginning of the pull.
    private let first: Int
    private var wasRefused = false
    /// Whether a smaller size is requested after a refusal, and no page came yet.
    private var isUntested = false

    /// Starts a pull, with what ``next`` said at the end of the one before.
    init(most: Int, accepted: Int? = nil, pullsToWait: Int = 0) {
        (self.most, self.accepted, self.pullsToWait) = (most, accepted, pullsToWait)
        first = accepted.map { min(pullsToWait > 0 ? $0 : 2 * $0, most) } ?? most
        rows = first
    }

    /// Requests smaller pages after a refusal.
    /// - Parameter named: the size that the refusal suggests. The accepted one is taken if it is larger.
    /// - Returns: whether the size is smaller than before.
    mutating func reduce(to named: Int) -> Bool {
        let smaller = max(named, accepted.flatMap { $0 < rows ? $0 : nil } ?? 0)
        guard smaller < rows else { return false }
        (rows, wasRefused, isUntested) = (smaller, true, true)
        return true
    }

    /// Takes note of a page: its size is accepted.
    mutating func accept() { isUntested = false }

    /// Returns to the size at the beginning if a smaller one was refused too: the size was not the reason.
    mutating func undoUntested() {
        if isUntested { (rows, wasRefused, isUntested) = (first, false, false) }
    }

    /// What the next pull starts with.
    var next: (accepted: Int?, pullsToWait: Int) {
        if wasRefused { return (rows, SyncLimits.pullsBeforeLargerPages) }
        guard rows < most else { return (nil, 0) }
        return (rows, rows == accepted ? max(pullsToWait - 1, 0) : 0)
    }
}

/// How many rows the pages of a pull had. Pure.
struct ReceivedRows: Sendable {
    /// The largest page that the backend cut short; nil while it gave the requested number of rows.
    var cut: Int?
    /// The size of the largest page.
    private(set) var largest = 0
    /// The size of the last page; nil where the next one says nothing about it.
    private var last: Int?

    /// Records a page. One with fewer rows than were requested was cut by the backend if more rows follow it,
    /// or rows have changed since.
    /// - Parameter bringsNothing: whether the page has no row that is new.
    mutating func note(_ page: RemotePage, of requested: Int, bringsNothing: Bool) {
        if let last, last < requested, !bringsNothing || page.hasNext { cut = max(cut ?? 0, last) }
        last = page.elements.count
        note(page.elements.count)
    }

    /// Records a page of the backend's own size.
    mutating func note(_ rows: Int) { largest = max(largest, rows) }

    /// Forgets the last page: the next one does not follow it.
    mutating func forgetLast() { last = nil }

    /// The backend's page size after this pull, given the known one; nil if it is not known. A short page is
    /// taken for a cut one only if no larger page ever came: while rows change, a page has as many rows as have
    /// changed since the one before.
    /// - Parameter largest: the size of the largest page of earlier pulls.
    func pageRows(after known: Int?, largest earlier: Int?) -> Int? {
        let most = max(largest, earlier ?? 0)
        if let cut, cut >= most { return cut }
        return known.flatMap { most > $0 ? nil : $0 }
    }
}
