import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct PagesAheadTests {
    private func page(
        _ ids: ClosedRange<Int64>, change: Int64 = 0, paging: Paging = .keyset
    ) -> PagesAhead.Page {
        let rows = ids.map { ListElement.row(RemoteRow(id: ItemID($0), columns: Columns())) }
        return PagesAhead.Page(rows: rows[...], change: change, paging: paging)
    }

    private func ids(_ pages: [PagesAhead.Page]) -> [Int64?] {
        pages.flatMap(\.rows).map(\.itemID?.number)
    }

    @Test func `rows of several pages are given in order, no more than asked for`() {
        var ahead = PagesAhead()
        ahead.append(page(1...3, change: 7))
        ahead.append(page(4...6, change: 8))
        #expect(ahead.rows == 6)
        let part = ahead.first(5)
        #expect(ids(part) == [1, 2, 3, 4, 5])
        #expect(part.map(\.change) == [7, 8])
        #expect(ids(ahead.first(3)) == [1, 2, 3])
        #expect(ids(ahead.first(100)) == [1, 2, 3, 4, 5, 6])
    }

    @Test func `what was applied is dropped, the rest of its page stays`() {
        var ahead = PagesAhead()
        ahead.append(page(1...3))
        ahead.append(page(4...6))
        ahead.drop(4)
        #expect(ahead.rows == 2)
        #expect(ids(ahead.first(100)) == [5, 6])
        ahead.append(page(7...7))
        ahead.drop(2)
        #expect(ids(ahead.first(100)) == [7])
        ahead.drop(1)
        #expect(ahead.isEmpty)
        #expect(ahead.first(100).isEmpty)
    }

    @Test func `a page that was asked for in another way goes by itself`() {
        var ahead = PagesAhead()
        ahead.append(page(1...2))
        ahead.append(page(3...4, paging: .skipInTies))
        #expect(ids(ahead.first(100)) == [1, 2])
        ahead.drop(2)
        #expect(ahead.first(100).map(\.paging) == [.skipInTies])
    }

    @Test func `a page without rows is none`() {
        var ahead = PagesAhead()
        ahead.append(PagesAhead.Page(rows: [], change: 0, paging: .full))
        #expect(ahead.isEmpty)
    }
}
