import TablesProtocol

/// Pages that were fetched and are not applied yet, in their order.
struct PagePrefetcher: Sendable {
    /// One page, or what is left of it.
    struct Page: Sendable {
        var rows: ArraySlice<ListElement>
        /// The count of push outcomes when it was asked for.
        let change: Int64
        /// How it was asked for.
        let paging: Paging
    }
    private var pages: [Page] = []

    var isEmpty: Bool { pages.isEmpty }

    /// How many rows wait.
    var rows: Int { pages.reduce(0) { $0 + $1.rows.count } }

    /// Puts a page behind the others; one without rows is none.
    mutating func append(_ page: Page) {
        if !page.rows.isEmpty { pages.append(page) }
    }

    /// The first rows, so many at most, of pages that were asked for in one way.
    func first(_ limit: Int) -> [Page] {
        var part: [Page] = []
        var room = limit
        for page in pages where room > 0 {
            guard page.paging == part.first?.paging ?? page.paging else { break }
            let rows = page.rows.prefix(room)
            part.append(Page(rows: rows, change: page.change, paging: page.paging))
            room -= rows.count
        }
        return part
    }

    /// Lets go of the first rows, which were applied.
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
