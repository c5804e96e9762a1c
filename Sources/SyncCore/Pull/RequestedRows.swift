/// The number of rows that a table's pulls request in a page. Pure.
///
/// 1. A page that the backend cuts short costs nothing, so it changes nothing.
/// 2. Only a refusal makes pages smaller: the size that it names or that was accepted before, or one that every
///    server accepts.
/// 3. A smaller size doubles at each further pull. A size that is refused again is left alone for some pulls,
///    so that a backend whose limit was raised is soon asked for whole pages.
struct RequestedRows: Sendable, Hashable {
    /// The number of rows to request now.
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
