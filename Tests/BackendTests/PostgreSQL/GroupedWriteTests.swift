import Dispatch
import PostgreSQL
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// Writes of one table that share transactions.
@Suite struct GroupedWriteTests {
    private static let writers = 8

    private func table(_ hooks: PostgreSQLRowStorage.Hooks) throws -> TableUnderTest {
        let schema = PostgreSQLServer.newSchema()
        let url = try PostgreSQLServer.url()
        return try TableUnderTest(
            StorageUnderTest(testDescription: "") {
                try PostgreSQLRowStorage(at: url, schema: schema, hooks)
            })
    }

    /// Does something on as many threads as there are connections.
    private func together(_ body: @Sendable (Int) -> Void) {
        DispatchQueue.concurrentPerform(iterations: Self.writers, execute: body)
    }

    @Test(.ends) func `writes at once share commits, and each takes effect once`() throws {
        let commits = Atomic(0)
        let table = try table(
            .init(beforeCommit: { commits.add(1, ordering: .relaxed) }))
        let rounds = 25
        let failures = Mutex<[String]>([])
        together { writer in
            for round in 0..<rounds {
                do {
                    let row = try table.insert("\(writer)-\(round)", #"{"n":\#(round)}"#)
                    guard try table.update(row, #"{"n":-1}"#) != nil else { throw Unexpected() }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let writes = 2 * Self.writers * rounds
        let rows = try table.storage.rows(in: table.name)
        #expect(rows.count == writes / 2)
        #expect(rows.allSatisfy { $0.columns["n"]?.value.integer == -1 })
        #expect(Set(rows.map(\.updatedAt)).count == rows.count)
        #expect(Set(rows.map(\.version)).count == rows.count)
        #expect(try table.storage.effects(after: 0, limit: writes + 1).count == writes)
        // On one core the threads may never meet.
        #expect(commits.load(ordering: .relaxed) <= writes)
    }

    @Test(.ends) func `a write that fails or is overtaken undoes no other one of its group`()
        throws
    {
        let table = try table(.init())
        let old = try table.insert("old")
        try #require(try table.update(old, #"{"n":1}"#) != nil)
        let outcomes = Mutex<[Int: String]>([:])
        together { writer in
            for round in 0..<20 {
                let id = "\(writer)-\(round)"
                var outcome = "written"
                do {
                    switch writer % 4 {
                    // Its row has changed since it was read, and the row before it in the same write has not.
                    case 0:
                        let fresh = try table.insert(id)
                        if try table.mark([fresh, old], deleted: true, as: .delete) == nil {
                            outcome = "overtaken"
                        }
                    // PostgreSQL's texts have no U+0000.
                    case 1: try table.insert("\(id)\u{0}")
                    case _: try table.insert(id)
                    }
                } catch {
                    outcome = "failed"
                }
                outcomes.withLock { $0[writer * 100 + round] = outcome }
            }
        }
        for (place, outcome) in outcomes.withLock({ $0 }) {
            let expected = ["overtaken", "failed", "written", "written"][place / 100 % 4]
            #expect(outcome == expected, "\(place)")
        }
        let rows = try table.storage.rows(in: table.name)
        #expect(rows.count == 1 + 6 * 20)
        #expect(rows.allSatisfy { !$0.deleted })
        #expect(try table.storage.effects(after: 0, limit: 1000).count == 2 + 6 * 20)
    }

    @Test(.ends) func `a group whose answer was lost takes effect once`() throws {
        let losses = Atomic(0)
        let table = try table(
            .init(afterCommit: {
                // Every third commit is not answered.
                if losses.add(1, ordering: .relaxed).newValue % 3 == 0 {
                    throw PostgreSQLError.unreachable("the answer was lost")
                }
            }))
        let failures = Mutex<[String]>([])
        together { writer in
            for round in 0..<15 {
                do {
                    let row = try table.insert("\(writer)-\(round)", #"{"n":\#(round)}"#)
                    if try table.storage.get(row.id, in: table.name) != row { throw Unexpected() }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let ids = try table.storage.effects(after: 0, limit: 1000).map(\.itemID)
        #expect(ids.count == Self.writers * 15)
        #expect(Set(ids).count == ids.count)
    }

    @Test(.ends) func `the first writes of a table make it together`() throws {
        let storage = try PostgreSQLRowStorage(
            at: PostgreSQLServer.url(), schema: PostgreSQLServer.newSchema())
        let name = try #require(TableName("fresh"))
        let failures = Mutex<[String]>([])
        together { writer in
            do {
                let write = Write(
                    at: TableUnderTest.moment(0), stamps: .increasing, newColumns: [],
                    method: "POST")
                let row = NewRow(id: "\(writer)", columns: try Columns(parsing: "{}"))
                guard
                    case .inserted = try storage.insert(row, into: name, creating: .init(), write)
                else { throw Unexpected() }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try storage.rows(in: name).count == Self.writers)
    }
}
