import Simulator
import TablesProtocol

@testable import SyncCore

extension World {
    /// Puts rows into the backend, the last of them long after the others.
    func fill(_ count: Int) async throws {
        for number in 0..<count {
            if number == count - 1 { clock.advance(by: .seconds(30)) }
            try await elsewhere(
                "POST", nil, #"{"id":"r\#(1000 + number)","text":"\#(number)"}"#)
        }
    }

    /// How many rows the table has here.
    func itemCount() async throws -> Int {
        try await store.tables().first { $0.name == todo.text }?.items ?? 0
    }
}
