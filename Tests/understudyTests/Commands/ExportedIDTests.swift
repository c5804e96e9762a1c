import TablesProtocol
import Testing

@testable import understudy

/// The id after which the next page of an export begins.
@Suite struct ExportedIDTests {
    @Test(arguments: [
        ("a", "'a'"), ("a'b''", "'a''b'''''"), ("'\u{301}", "'''\u{301}'"), ("", "''"),
    ])
    func `each quote of an id is doubled, also before a combining mark`(
        id: String, literal: String
    ) {
        #expect(Array(Exporter.literal(id, .string).utf8) == Array(literal.utf8))
    }

    @Test func `an integer id is a number`() {
        #expect(Exporter.literal("7", .integer) == "7")
    }
}
