import TablesProtocol
import Testing

@testable import SyncCore

/// The table records that the writer caches.
@Suite struct TableMemoryTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func warnings() async throws -> [String?] {
        let todo = fixture.todo
        return try await fixture.store.write { transaction in
            let table = try #require(try transaction.tables.table(todo))
            return [table.warning, try transaction.tables.table(id: table.id)?.warning]
        }
    }

    private func warn(_ warning: String, failing error: StoreError? = nil) async throws {
        let todo = fixture.todo
        try await fixture.store.write { transaction in
            var table = try transaction.tables.make(todo)
            table.warning = warning
            try transaction.tables.save(table)
            let seen = try transaction.tables.table(id: table.id)?.warning
            #expect(seen == warning, "the transaction sees its own change")
            if let error { throw error }
        }
    }

    @Test func `a transaction sees a table as the last commit left it`() async throws {
        try await warn("first")
        #expect(try await warnings() == ["first", "first"])
        try await warn("second")
        #expect(try await warnings() == ["second", "second"])
    }

    @Test func `a change that was rolled back is not cached`() async throws {
        try await warn("kept")
        #expect(try await warnings() == ["kept", "kept"])
        await #expect(throws: StoreError.self) {
            try await warn("lost", failing: .failed("Not this one."))
        }
        #expect(try await warnings() == ["kept", "kept"])
    }
}
