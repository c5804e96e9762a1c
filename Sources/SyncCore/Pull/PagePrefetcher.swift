import TablesProtocol

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

    /// The number of rows that wait.
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
