import PostgreSQL
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// Writes whose connection is lost at the commit.
@Suite struct DoubtTests {
    /// Happens once.
    private final class Once: Sendable {
        private let isLeft = Atomic(true)
        func take() -> Bool { isLeft.exchange(false, ordering: .sequentiallyConsistent) }
    }

    private func table(_ url: String, _ hooks: PostgreSQLRowStorage.Hooks) throws -> TableUnderTest
    {
        let schema = PostgreSQLServer.newSchema()
        return try TableUnderTest(
            StorageUnderTest(testDescription: "") {
                try PostgreSQLRowStorage(at: url, schema: schema, hooks)
            })
    }

    @Test(.ends) func `a write whose answer was lost takes effect once`() throws {
        let once = Mutex(Once())
        let table = try table(
            PostgreSQLServer.url(),
            .init(afterCommit: {
                guard once.withLock({ $0.take() }) else { return }
                throw PostgreSQLError.unreachable("the answer was lost")
            }))
        let row = try table.insert("a", #"{"n":1}"#)
        #expect(try table.storage.effectCount(of: "a", in: table.name) == 1)
        once.withLock { $0 = Once() }
        let changed = try #require(try table.update(row, #"{"n":2}"#))
        #expect(try table.storage.get("a", in: table.name) == changed)
        #expect(try table.storage.effectCount(of: "a", in: table.name) == 2)
        once.withLock { $0 = Once() }
        #expect(try table.storage.remove([changed], from: table.name, table.write()))
        #expect(try table.storage.effectCount(of: "a", in: table.name) == 3)
    }

    @Test(.ends) func `a write whose connection ended before the commit is made again`() throws {
        let application = "doubt-\(PostgreSQLServer.newSchema())"
        let url = try PostgreSQLServer.url()
        let killer = try PostgreSQLPool(url, schema: "public")
        let once = Once()
        let table = try table(
            "\(url)&application_name=\(application)",
            .init(beforeCommit: {
                guard once.take() else { return }
                _ = try? killer.withConnection { connection in
                    try connection.run(
                        """
                        SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                        WHERE application_name = $1::text
                        """, [.text(application)])
                }
            }))
        let row = try table.insert("a", #"{"n":1}"#)
        #expect(!once.take())
        #expect(try table.storage.rows(in: table.name) == [row])
        #expect(try table.storage.effectCount(of: "a", in: table.name) == 1)
    }
}
