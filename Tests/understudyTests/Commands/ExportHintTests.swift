import TablesProtocol
import Testing

@testable import understudy

/// The stores that an export without `--identity` leaves out.
@Suite struct ExportHintTests {
    @Test func `users with open operations, or with a store that was not looked at, are named`()
        throws
    {
        let rows = [
            #"{"identity":"anonymous","openOperations":9}"#,
            #"{"identity":"ana","openOperations":2}"#,
            #"{"identity":"ben","openOperations":0}"#, #"{"identity":"cem","openOperations":null}"#,
        ]
        let answer = try JSONValue(parsing: #"{"items":[\#(rows.joined(separator: ","))]}"#)
        #expect(Export.otherQueues(in: answer) == ["ana", "cem"])
    }

    @Test func `without users nobody is named`() throws {
        let answer = try JSONValue(
            parsing: #"{"items":[{"identity":"anonymous","openOperations":9}]}"#)
        #expect(Export.otherQueues(in: answer) == [])
    }
}
