import Simulator
import TablesProtocol

@testable import SyncCore

extension World {
    /// Inserts rows at the backend, the last of them much later than the others.
    func fill(_ count: Int) async throws {
        for number in 0..<count {
            if number == count - 1 { clock.advance(by: .seconds(30)) }
            try await elsewhere(
                "POST", nil, #"{"id":"r\#(1000 + number)","text":"\#(number)"}"#)
        }
    }

    /// The number of items in the store's table.
    func itemCount() async throws -> Int {
        try await store.tables().first { $0.name == todo.text }?.items ?? 0
    }
}
