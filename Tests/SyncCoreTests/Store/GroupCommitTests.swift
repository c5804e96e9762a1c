import Foundation
import GRDB
import Synchronization
import TablesProtocol
import Testing

@testable import Storage
@testable import SyncCore

@Suite struct GroupCommitTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    @Test func `writes that arrive together share one transaction and a bad one fails alone`()
        async throws
    {
        let commits = Mutex(0)
        let gate = Gate()
        let store = fixture.store
        store.onWrite { commits.withLock { $0 += 1 } }
        // The writer is busy while these writes arrive.
        async let busy: Void = store.write { _ in gate.wait() }
        let todo = fixture.todo
        let outcomes = await withTaskGroup(of: (Int, WriteOutcome).self) { group in
            for index in 0..<20 {
                group.addTask {
                    // Every fourth write inserts an existing id.
                    let id = ItemID(stored: "i\(index % 4 == 3 ? 0 : index)", kind: .string)
                    let body = ItemBody(id: id, columns: Columns())
                    return await withCheckedContinuation { continuation in
                        store.submit(LocalWrite(table: todo, action: .insert(body))) {
                            continuation.resume(returning: (index, $0))
                        }
                        gate.arrived(of: 20)
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        try await busy
        let succeeded = outcomes.values.filter(\.isSuccess).count
        #expect(succeeded == 15 && outcomes.values.filter { $0.name == "alreadyExists" }.count == 5)
        #expect(commits.withLock { $0 } == 1)
        let ledger = try await store.ledger()
        #expect(ledger.accepted == 15 && ledger.balances)
    }

    @Test func `a write that arrives while a group is written joins its commit`() async throws {
        let commits = Mutex(0)
        let (store, todo) = (fixture.store, fixture.todo)
        store.onWrite { commits.withLock { $0 += 1 } }
        let late = Mutex<WriteOutcome?>(nil)
        try await store.commitInGroup { transaction in
            let body = ItemBody(id: ItemID(stored: "late", kind: .string), columns: Columns())
            store.submit(LocalWrite(table: todo, action: .insert(body))) { outcome in
                late.withLock { $0 = outcome }
            }
            transaction.effects.madeWork = true
        }
        // The writer is free again when both are answered.
        try await store.write { _ in }
        #expect(late.withLock { $0?.isSuccess } == true)
        #expect(commits.withLock { $0 } == 1)
    }

    @Test
    func `the engine's transactions share a commit with writes, and one that throws fails alone`()
        async throws
    {
        let commits = Mutex(0)
        let gate = Gate()
        let store = fixture.store
        let todo = fixture.todo
        store.onWrite { commits.withLock { $0 += 1 } }
        // The writer is busy while these arrive; an immediate task runs until it waits.
        let busy = Task.immediate { try await store.write { _ in gate.wait() } }
        let written = Task.immediate {
            let body = ItemBody(id: ItemID(stored: "a", kind: .string), columns: Columns())
            return await store.submit(LocalWrite(table: todo, action: .insert(body)))
        }
        let bookings = (0..<4).map { index in
            Task.immediate {
                try? await store.commitInGroup { transaction in
                    try transaction.ledger.countCollapsedWrite()
                    if index == 2 { throw StoreError.failed("planned") }
                    return index
                }
            }
        }
        gate.arrived(of: 1)
        try await busy.value
        #expect(await written.value.isSuccess)
        var booked: [Int?] = []
        for booking in bookings { booked.append(await booking.value) }
        #expect(booked == [0, 1, nil, 3])
        #expect(commits.withLock { $0 } == 1)
        let ledger = try await store.ledger()
        #expect(ledger.accepted == 4 && ledger.collapsed == 3 && ledger.balances)
    }

    @Test func `a write that the store cannot hold leaves no trace`() async throws {
        try await fixture.insert("a")
        try await fixture.store.write { transaction in
            try transaction.db.database.execute(
                sql: """
                    CREATE TRIGGER refuse BEFORE INSERT ON history WHEN new.item_id = 'bad'
                    BEGIN SELECT RAISE(ABORT, 'refused'); END
                    """)
        }
        let bad = await fixture.write(
            .insert(ItemBody(id: try ItemID("bad"), columns: try Columns(parsing: #"{"q":1}"#))))
        #expect(bad.name == "failed")
        #expect(try await fixture.row("bad") == nil)
        let ledger = try await fixture.store.ledger()
        #expect(ledger.accepted == 1 && ledger.balances)
        #expect(try await fixture.store.health.check().isEmpty)
    }

    @Test func `an answered write is in the file without a close`() async throws {
        try await fixture.insert("a", #"{"n":1}"#)
        // The file and its WAL as after a crash.
        let copy = fixture.folder + "/copy.sqlite"
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: fixture.path + suffix, toPath: copy + suffix)
        }
        let store = try Store(
            at: copy, identity: "anonymous", clock: fixture.clock,
            ids: StoreFixture.SeededIDs(2), workers: 1)
        #expect(try await store.ledger().accepted == 1)
        #expect(try await store.tables().first?.items == 1)
        #expect(try await store.health.check().isEmpty)
    }

    @Test func `a full disk is reported, and nothing of the group is written`() async throws {
        try await fixture.insert("a")
        try await fixture.store.write { transaction in
            let pages = try Int.fetchOne(transaction.db.database, sql: "PRAGMA page_count") ?? 0
            try transaction.db.database.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        let big = #"{"t":"\#(String(repeating: "x", count: 100_000))"}"#
        let outcome = await fixture.write(
            .insert(ItemBody(id: try ItemID("b"), columns: try Columns(parsing: big))))
        #expect(outcome == .storageFull(byBudget: false))
        #expect(try await fixture.row("b") == nil)
        try await fixture.store.write { transaction in
            try transaction.db.database.execute(sql: "PRAGMA max_page_count = 1073741823")
        }
        try await fixture.insert("b")
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `a store that cannot be written is reported to clients and in the health`()
        async throws
    {
        try await fixture.insert("a")
        try await fixture.store.health.proveWritable()
        try await fixture.store.write { try $0.db.database.execute(sql: "PRAGMA query_only = 1") }
        let body = ItemBody(id: try ItemID("b"), columns: Columns())
        #expect(await fixture.write(.insert(body)) == .readOnly)
        await #expect(throws: StoreError.self) { try await fixture.store.health.proveWritable() }
        guard case .item = fixture.get(try ItemID("a")) else {
            throw World.Failure("what is there cannot be read")
        }
    }

    @Test func `the engine's transaction is finished although its task is cancelled`() async throws
    {
        let store = fixture.store
        let todo = fixture.todo
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await store.write { _ = try $0.tables.make(todo) }
        }
        task.cancel()
        try await task.value
        #expect(try await store.tables().count == 1)
    }

    @Test func `only the owner can read the file, and a commit is on disk before it returns`()
        async throws
    {
        for suffix in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: fixture.path + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let synchronous = try await fixture.store.write {
            try Int.fetchOne($0.db.database, sql: "PRAGMA synchronous")
        }
        #expect(synchronous == 2)
    }

    @Test func `a store of a newer version is refused with a reason`() async throws {
        try await fixture.store.write { transaction in
            try transaction.db.database.execute(
                sql: "INSERT INTO grdb_migrations(identifier) VALUES ('99')")
        }
        #expect {
            _ = try fixture.reopened()
        } throws: { error in
            guard case .otherVersion(let sentence)? = error as? StoreError else { return false }
            return sentence.contains("newer version")
        }
    }

    @Test func `a file that is no store is refused and left unchanged`() throws {
        let path = fixture.folder + "/other"
        let text = String(repeating: "this is no database ", count: 100)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        #expect {
            _ = try Store(
                at: path, identity: "x", clock: fixture.clock,
                ids: StoreFixture.SeededIDs(1), workers: 1)
        } throws: { error in
            guard case .damaged? = error as? StoreError else { return false }
            return true
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }
}

/// Blocks the writer until all writes have arrived.
private final class Gate: Sendable {
    private let arrivals = Mutex(0)
    private let condition = DispatchSemaphore(value: 0)

    func wait() { condition.wait() }

    func arrived(of count: Int) {
        let all = arrivals.withLock { arrivals in
            arrivals += 1
            return arrivals == count
        }
        if all { condition.signal() }
    }
}
