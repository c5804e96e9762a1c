import HTTPMessage
import HTTPTypes
import Testing

@testable import TablesProtocol

@Suite struct TableColumnsTests {
    static let columns = TableColumns(["a", "b", "ü\"n"])

    static let rows: [(columns: String, whole: String)] = [
        (#"{}"#, #","a":null,"b":null,"ü\"n":null"#),
        (#"{"a":1.10}"#, #","a":1.10,"b":null,"ü\"n":null"#),
        (
            #"{"b":[1,{"a":2,"x":","}],"a":"\"a\",b"}"#,
            #","b":[1,{"a":2,"x":","}],"a":"\"a\",b","ü\"n":null"#
        ),
        (#"{"ü\"n":null,"b":"\\","a":{}}"#, #","ü\"n":null,"b":"\\","a":{}"#),
    ]

    @Test(arguments: rows)
    func `a row has null in each missing column of its table`(
        columns: String, whole: String
    ) throws {
        var bytes = Array("x".utf8)
        try Columns(parsing: columns).appendMembers(to: &bytes)
        Self.columns.appendAbsent(after: 1, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "x" + whole)
        var stored = Array("x".utf8)
        Columns(stored: columns).appendMembers(to: &stored)
        Self.columns.appendAbsent(after: 1, to: &stored)
        #expect(stored == bytes)
    }

    @Test func `a name with an escape counts as present`() {
        var bytes = Array(#","\u0061":1,"c":2"#.utf8)
        Self.columns.appendAbsent(after: 0, to: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #","\u0061":1,"c":2,"b":null,"ü\"n":null"#)
    }

    @Test(arguments: ClientFamily.allCases)
    func `single items, pages and conflicts have null columns for the first and second generation`(
        client: ClientFamily
    ) throws {
        let item = Item(
            id: try ItemID("i"), columns: Columns(stored: #"{"a":1}"#), createdAt: nil,
            updatedAt: Instant(milliseconds: 0), version: "v")
        let answer = TablesAnswer(client: client).showing(TableColumns(["a", "b"]))
        for response in [
            answer.render(item: item), answer.render(inserted: item),
            answer.render(page: ItemPage(items: [item])),
            answer.render(error: .preconditionFailed(item)),
        ] {
            let text = String(decoding: response.bytes ?? [], as: UTF8.self)
            #expect(text.contains(#""a":1,"b":null"#) == (client.generation != .datasync))
        }
    }
}
