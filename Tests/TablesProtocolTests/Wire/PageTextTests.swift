import HTTPMessage
import HTTPTypes
import Testing

@testable import TablesProtocol

/// Lists as text.
@Suite struct PageTextTests {
    private static func item(
        _ id: String = "a", columns: String = #"{"text":"x","n":1.10}"#, version: String = "AAAB",
        createdAt: Instant? = Instant(milliseconds: 1), deleted: Bool = false,
        kind: IDKind = .string
    ) -> Item {
        Item(
            id: ItemID(stored: id, kind: kind), columns: Columns(stored: columns),
            createdAt: createdAt, updatedAt: Instant(milliseconds: 1_700_000_000_123),
            version: version, deleted: deleted)
    }

    private static let created = #""createdAt":"1970-01-01T00:00:00.001Z""#
    private static let updated = #""updatedAt":"2023-11-14T22:13:20.123Z""#

    /// An item's text in an answer of the second generation.
    private static func json(
        _ id: String = #""a""#, columns: String = #","text":"x","n":1.10"#,
        version: String = "AAAB", deleted: Bool = false
    ) -> String {
        #"{"id":\#(id)\#(columns),\#(created),\#(updated),"version":"\#(version)","deleted":\#(deleted)}"#
    }

    /// Items as they are stored, and their texts.
    private static let rows: [(Item, String)] = [
        (item(), json()),
        (item(columns: "{}"), json(columns: "")),
        (item(columns: #"{ "spaced" : 1 }"#), json(columns: #","spaced":1"#)),
        (
            item(columns: #"{"é\"":[1,{"deep":"}"}]}"#),
            json(columns: #","é\"":[1,{"deep":"}"}]"#)
        ),
        (item(version: #"a"b\c"#), json(version: #"a\"b\\c"#)),
        (item(version: "tab\there"), json(version: #"tab\there"#)),
        (item("ä", deleted: true), json(#""ä""#, deleted: true)),
        (item("-5", kind: .integer), json("-5")),
    ]

    private func text(
        _ page: ItemPage, _ client: ClientFamily, _ target: String = "/tables/t?$top=20&$skip=3"
    ) throws -> String {
        let call = try WireSample.call(.get, target, WireSample.fields(client))
        return String(
            decoding: TablesAnswer(to: call).render(page: page).bytes ?? [], as: UTF8.self)
    }

    @Test func `items are written as they are stored, in their order`() throws {
        for (item, expected) in Self.rows {
            #expect(try text(ItemPage(items: [item]), .mobileApps) == "[\(expected)]")
        }
        let page = ItemPage(items: Self.rows.map(\.0))
        let all = Self.rows.map(\.1).joined(separator: ",")
        #expect(try text(page, .mobileApps) == "[\(all)]")
    }

    @Test func `an item without a time of its making shows that of its last change`() throws {
        let page = ItemPage(items: [Self.item(createdAt: nil)])
        let time = Self.updated.replacing("updatedAt", with: "createdAt")
        let expected = Self.json().replacing(Self.created, with: time)
        #expect(try text(page, .mobileApps) == "[\(expected)]")
    }

    @Test func `the next page goes on after the last change that was shown`() throws {
        let target = "/tables/t?$orderby=updatedAt&$top=20&$skip=3"
        let call = try WireSample.call(.get, target, WireSample.fields(.mobileApps))
        let page = ItemPage(items: [Self.item()], hasMore: true)
        let link = TablesAnswer(to: call).render(page: page).head.headerFields[.link] ?? ""
        #expect(link.contains("$top=19") && link.contains("$skip=4"))
        #expect(link.contains("__after=2023-11-14T22:13:20.123Z"))
    }
}
