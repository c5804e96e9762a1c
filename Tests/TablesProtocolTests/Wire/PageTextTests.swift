import HTTPMessage
import HTTPTypes
import Testing

@testable import TablesProtocol

/// Lists written straight from where rows are stored.
@Suite struct PageTextTests {
    /// A row as a store holds it: the texts of its columns.
    private struct Row: StoredItem {
        var id = "a"
        var hasNumberAsID: Bool { Int64(id) != nil }
        var columns = #"{"text":"x","n":1.10}"#
        var version = "AAAB"
        var createdAt: Instant? = Instant(milliseconds: 1)
        var updatedAt = Instant(milliseconds: 1_700_000_000_123)
        var deleted = false

        func appendID(to bytes: inout [UInt8]) { bytes += id.utf8 }
        func appendColumns(to bytes: inout [UInt8]) { bytes += columns.utf8 }
        func appendVersion(to bytes: inout [UInt8]) { bytes += version.utf8 }

        func item(_ kind: IDKind) -> Item {
            Item(
                id: ItemID(stored: id, kind: kind), columns: Columns(stored: columns),
                createdAt: createdAt, updatedAt: updatedAt, version: version, deleted: deleted)
        }
    }

    private static let rows = [
        Row(), Row(columns: "{}"), Row(columns: #"{ "spaced" : 1 }"#), Row(createdAt: nil),
        Row(version: #"a"b\c"#), Row(version: "tab\there"), Row(id: "ä", deleted: true),
        Row(columns: #"{"é\"":[1,{"deep":"}"}]}"#),
    ]

    @Test(arguments: ClientFamily.allCases, [nil, 7])
    func `rows are written as their items are`(client: ClientFamily, count: Int?) throws {
        for target in [
            "/tables/t?$top=20&$skip=3",
            "/tables/t?__systemproperties=__version&$orderby=updatedAt",
        ] {
            let call = try WireSample.call(.get, target, WireSample.fields(client))
            let answer = TablesAnswer(to: call)
            for (rows, kind) in [
                (Self.rows, IDKind.string), ([], .string), ([Row(id: "-5")], .integer),
            ] {
                var text = try #require(answer.emptyPage)
                for row in rows { text.add(row, idKind: kind) }
                text.count = count
                text.hasMore = !rows.isEmpty
                let page = ItemPage(
                    items: rows.map { $0.item(kind) }, count: count, hasMore: !rows.isEmpty)
                let (ours, theirs) = (answer.render(page: text), answer.render(page: page))
                #expect(
                    String(decoding: ours.bytes ?? [], as: UTF8.self)
                        == String(decoding: theirs.bytes ?? [], as: UTF8.self))
                #expect(ours.head == theirs.head)
            }
        }
    }

    @Test func `with a select rows are looked into`() throws {
        let call = try WireSample.call(
            .get, "/tables/t?$select=text", WireSample.fields(.mobileApps))
        #expect(TablesAnswer(to: call).emptyPage == nil)
    }
}
