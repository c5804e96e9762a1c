import Proxy
import Testing

@testable import understudy

/// The stores that an export without `--identity` leaves out.
@Suite struct ExportHintTests {
    @Test func `users with open operations, or with a store that was not looked at, are named`()
        throws
    {
        let answer = try some(
            pageOf: Answers.KnownIdentity.self, #"{"openOperations":9}"#,
            #"{"identity":"ana","openOperations":2}"#, #"{"identity":"ben"}"#,
            #"{"identity":"cem","openOperations":null}"#)
        #expect(Export.otherQueues(in: answer) == ["ana", "cem"])
    }

    @Test func `without users nobody is named`() throws {
        let answer = try some(pageOf: Answers.KnownIdentity.self, #"{"openOperations":9}"#)
        #expect(Export.otherQueues(in: answer) == [])
    }
}
