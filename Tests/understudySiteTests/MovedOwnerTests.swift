import Backend
import TablesProtocol
import Testing

@testable import understudy_site

/// Whose rows move in.
@Suite struct MovedOwnerTests {
    private static func owner(earlier: [String] = []) throws -> MovedOwner {
        MovedOwner(
            user: "aad:1", column: "userId", earlier: earlier,
            tables: [try #require(TableName("todos"))])
    }

    private static func row(_ columns: String) throws -> MovedRow {
        MovedRow(id: "a", columns: try Columns(parsing: columns), version: "1")
    }

    @Test(
        arguments: [
            (#"{"text":"x"}"#, #"{"text":"x","userId":"aad:1"}"#, nil),
            (#"{"userId":null,"text":"x"}"#, #"{"userId":"aad:1","text":"x"}"#, nil),
            (#"{"USERID":null}"#, #"{"USERID":"aad:1"}"#, nil),
            (#"{"USERID":"sid:1"}"#, #"{"USERID":"aad:1"}"#, nil),
            (#"{"userId":"aad:1"}"#, #"{"userId":"aad:1"}"#, nil),
            (#"{"userid":"aad:2"}"#, #"{"userid":"aad:2"}"#, #""aad:2""#),
            (#"{"userId":"SID:1"}"#, #"{"userId":"SID:1"}"#, #""SID:1""#),
            (#"{"userId":"sid:12"}"#, #"{"userId":"sid:12"}"#, #""sid:12""#),
            (#"{"userId":""}"#, #"{"userId":""}"#, #""""#),
            (#"{"userId":1}"#, #"{"userId":1}"#, "1"),
        ] as [(String, String, String?)])
    func `a row without an owner, or with an earlier id of the user, gets the user`(
        before: String, after: String, otherOwner: String?
    ) throws {
        let table = try #require(TableName("Todos"))
        let other = try #require(TableName("lists"))
        let owner = try Self.owner(earlier: ["sid:1"])
        let row = try Self.row(before)
        let moved = owner.added(to: row, of: table)
        #expect(moved == (try Self.row(after)))
        #expect(owner.otherOwner(in: moved, of: table) == otherOwner)
        #expect(owner.added(to: row, of: other) == row)
        #expect(owner.otherOwner(in: row, of: other) == nil)
    }

    @Test func `without an earlier id another owner stays`() throws {
        let table = try #require(TableName("todos"))
        let row = try Self.row(#"{"userId":"sid:1"}"#)
        #expect(try Self.owner().added(to: row, of: table) == row)
        #expect(try Self.owner().otherOwner(in: row, of: table) == #""sid:1""#)
    }
}
