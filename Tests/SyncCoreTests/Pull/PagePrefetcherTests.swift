import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct PagePrefetcherTests {
    private func page(
        _ ids: ClosedRange<Int64>, change: Int64 = 0, paging: Paging = .keyset
    ) -> PagePrefetcher.Page {
        let rows = ids.map { ListElement.row(RemoteRow(id: ItemID($0), columns: Columns())) }
        return PagePrefetcher.Page(rows: rows[...], change: change, paging: paging)
    }

    private func ids(_ pages: [PagePrefetcher.Page]) -> [Int64?] {
        pages.flatMap(\.rows).map(\.itemID?.number)
    }

    @Test func `rows of several pages come in order, at most the requested number`() {
        var pages = PagePrefetcher()
        pages.append(page(1...3, change: 7))
        pages.append(page(4...6, change: 8))
        #expect(pages.rows == 6)
        let part = pages.first(5)
        #expect(ids(part) == [1, 2, 3, 4, 5])
        #expect(part.map(\.change) == [7, 8])
        #expect(ids(pages.first(3)) == [1, 2, 3])
        #expect(ids(pages.first(100)) == [1, 2, 3, 4, 5, 6])
    }

    @Test func `applied rows are dropped, and the rest of their page stays`() {
        var pages = PagePrefetcher()
        pages.append(page(1...3))
        pages.append(page(4...6))
        pages.drop(4)
        #expect(pages.rows == 2)
        #expect(ids(pages.first(100)) == [5, 6])
        pages.append(page(7...7))
        pages.drop(2)
        #expect(ids(pages.first(100)) == [7])
        pages.drop(1)
        #expect(pages.isEmpty)
        #expect(pages.first(100).isEmpty)
    }

    @Test func `a page that was requested with another paging is returned separately`() {
        var pages = PagePrefetcher()
        pages.append(page(1...2))
        pages.append(page(3...4, paging: .skipInTies))
        #expect(ids(pages.first(100)) == [1, 2])
        pages.drop(2)
        #expect(pages.first(100).map(\.paging) == [.skipInTies])
    }

    @Test func `a page without rows is ignored`() {
        var pages = PagePrefetcher()
        pages.append(PagePrefetcher.Page(rows: [], change: 0, paging: .full))
        #expect(pages.isEmpty)
    }
}
