import Platform
import Proxy
import TablesProtocol
import Testing

@testable import understudy

struct QueueEditTests {
    private let payload = Columns(stored: #"{"id":"a","version":"1.0"}"#)

    @Test func `a column of the user may have the name of a system column`() throws {
        try QueueEdit.check(
            [.init("version", .string("2.0")), .init("text", .string("one"))], of: payload)
    }

    @Test(arguments: ["id", "updatedAt", "__version"])
    func `what the backend gives cannot be edited`(name: String) {
        let problem = #expect(throws: StartProblem.self) {
            try QueueEdit.check([.init(name, .string("x"))], of: payload)
        }
        #expect(problem?.sentence.hasPrefix("\(name) cannot be edited") == true)
    }
}
