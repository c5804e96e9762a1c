import Backend
import TablesProtocol
import Testing

@testable import understudy

/// Whose rows an export has.
@Suite struct ExportOwnerTests {
    @Test(arguments: [
        (#"{"text":"x"}"#, #"{"text":"x","userId":"aad:1"}"#),
        (#"{"userId":null,"text":"x"}"#, #"{"userId":"aad:1","text":"x"}"#),
        (#"{"USERID":null}"#, #"{"USERID":"aad:1"}"#),
        (#"{"userid":"aad:2"}"#, #"{"userid":"aad:2"}"#),
        (#"{"userId":""}"#, #"{"userId":""}"#),
    ])
    func `a row that names no owner gets one`(before: String, after: String) throws {
        let table = try #require(TableName("Todos"))
        let other = try #require(TableName("lists"))
        let owner = ExportOwner(user: "aad:1", column: "userId", tables: ["todos"])
        let row = MovedRow(id: "a", columns: try Columns(parsing: before), version: "1")
        #expect(
            owner.added(to: row, of: table)
                == MovedRow(id: "a", columns: try Columns(parsing: after), version: "1"))
        #expect(owner.added(to: row, of: other) == row)
    }
}
