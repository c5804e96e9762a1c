import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct RepeatedInsertTests {
    /// The network sends an insert twice, so that 409 comes back for the item's own row, and the
    /// read back of the row fails: the insert may have been applied, and a delete must follow it.
    @Test(arguments: [429, 503, 401])
    func `an insert with a 409 that is not read back may have been applied`(status: Int)
        async throws
    {
        let world = try World()
        try await world.insert("a")
        world.transport.decide { request, _ in
            if request.head.method == .post { return .twice }
            let isLook = request.head.path?.contains("id%20eq") == true
            return isLook ? .instead(Response(status: .init(code: status))) : nil
        }
        _ = await world.engine.push()
        let operation = try #require(try await world.open().first)
        #expect(operation.maybeApplied, "\(operation)")
        try await world.delete("a")
        world.transport.decide { _, _ in nil }
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(700))
            _ = await world.engine.push()
        }
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("a")?.deleted == true)
        #expect(try await world.backend.effectCount(world.todo, "a") == 2)
    }
}
