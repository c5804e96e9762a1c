import Foundation
import GRDB
import Synchronization
import TablesProtocol
import Testing

@testable import SyncCore

/// A store in a folder of its own, with a clock that the test moves and ids from a seed.
final class StoreFixture: Sendable {
    final class Clock: StoreClock {
        private let milliseconds = Mutex<Int64>(1_700_000_000_000)
        /// Each read of the uptime advances it by the step.
        private let up = Mutex((time: Duration.zero, step: Duration.zero))
        func now() -> Instant { Instant(milliseconds: milliseconds.withLock { $0 }) }
        func uptime() -> Duration {
            up.withLock { up in
                up.time += up.step
                return up.time
            }
        }
        func moves(by step: Duration) { up.withLock { $0.step = step } }
        func advance(milliseconds by: Int64) { milliseconds.withLock { $0 += by } }
    }

    final class SeededIDs: IDSource {
        private let state: Mutex<UInt64>
        init(_ seed: UInt64) { state = Mutex(seed) }
        func next() -> UInt64 {
            state.withLock { state in
                state &+= 0x9E37_79B9_7F4A_7C15
                var word = state
                word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
                word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
                return word ^ (word >> 31)
            }
        }
    }

    let folder: String
    let clock = Clock()
    let store: Store
    let todo: TableName

    init(
        strictSDK: Bool = false, tables: Set<TableName>? = nil, budgetBytes: Int? = nil,
        seed: UInt64 = 1
    ) throws {
        folder = NSTemporaryDirectory() + "understudy-store-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        store = try Store(
            at: folder + "/store.sqlite", identity: "anonymous", clock: clock,
            ids: SeededIDs(seed), workers: 2, tables: tables,
            budgetBytes: budgetBytes, strictSDK: strictSDK)
        todo = try #require(TableName("todoitem"))
    }

    deinit {
        // A failed removal leaves only a temporary folder.
        try? FileManager.default.removeItem(atPath: folder)
    }

    var path: String { folder + "/store.sqlite" }

    /// Opens the same file again, as after a crash: the first store is not closed.
    func reopened() throws -> Store {
        try Store(
            at: path, identity: "anonymous", clock: clock, ids: SeededIDs(99), workers: 1)
    }

    func write(
        _ action: WriteAction, ifMatch: IfMatch = .absent, table: TableName? = nil
    ) async -> WriteOutcome {
        await write(action, Conditions(ifMatch: ifMatch), table: table)
    }

    func write(
        _ action: WriteAction, _ conditions: Conditions,
        stated: ItemBody.Stated = ItemBody.Stated(), by actor: Actor = .client,
        generation: Generation = .mobileApps, table: TableName? = nil
    ) async -> WriteOutcome {
        clock.advance(milliseconds: 1)
        return await store.submit(
            LocalWrite(
                table: table ?? todo, action: action, conditions: conditions, stated: stated,
                generation: generation, actor: actor))
    }

    @discardableResult
    func insert(_ id: String, _ columns: String = #"{"text":"milk"}"#) async throws -> Item {
        let body = ItemBody(id: try ItemID(id), columns: try Columns(parsing: columns))
        return try #require(await write(.insert(body)).item)
    }

    @discardableResult
    func update(_ id: String, _ columns: String) async throws -> Item {
        try #require(
            await write(.update(try ItemID(id), try Columns(parsing: columns))).item)
    }

    @discardableResult
    func delete(_ id: String) async throws -> WriteOutcome { await write(.delete(try ItemID(id))) }

    /// Rows as the backend sends them, applied as a pull does.
    @discardableResult
    func pull(_ rows: RemoteRow..., asOf change: Int64 = .max) async throws -> [AppliedRow] {
        clock.advance(milliseconds: 1)
        let todo = todo
        return try await store.write { transaction in
            let table = try transaction.tables.make(todo)
            return try rows.map {
                try PulledRows(transaction: transaction).apply($0, to: table, asOf: change)
            }
        }
    }

    /// Sends the first due operation and commits an outcome for it.
    @discardableResult
    func push(_ outcome: @escaping @Sendable (TableOperation) -> PushOutcome) async throws
        -> OperationState
    {
        let operation = try #require(try await send())
        return try await settle(operation.seq, outcome(operation))
    }

    func send() async throws -> TableOperation? {
        clock.advance(milliseconds: 1)
        return try await store.write { transaction in
            guard
                let next = try transaction.dueOperations.next(
                    upTo: try transaction.dueOperations.bookend(), limit: 1
                ).first
            else { return nil }
            return try transaction.attempts.markSending(
                next, AttemptStart(method: "POST", target: "/tables/todoitem", body: nil))
        }
    }

    @discardableResult
    func settle(_ seq: Int64, _ outcome: PushOutcome) async throws -> OperationState {
        clock.advance(milliseconds: 1)
        return try await store.write {
            try Settling(transaction: $0).settle(
                seq, outcome, attempt: AttemptEnd(status: 200, response: "{}"))
        }
    }

    /// Runs the body on a thread of its own, as a server worker does.
    func get(_ id: ItemID, includeDeleted: Bool = false) -> GetOutcome {
        store.get(store.find(todo, worker: 0), id, includeDeleted: includeDeleted)
    }

    func list(_ query: TableQuery, table: TableName? = nil, worker: Int = 0) -> ListOutcome {
        store.list(
            store.find(table ?? todo, worker: worker), query, generation: .mobileApps)
    }

    func listUnhurried(
        _ query: TableQuery, isAbandoned: @escaping @Sendable () -> Bool = { false }
    ) -> ListOutcome {
        store.listUnhurried(
            store.find(todo, worker: 1), query, generation: .mobileApps,
            isAbandoned: isAbandoned)
    }

    func row(_ id: String) async throws -> ItemRow? {
        let todo = todo
        let id = try ItemID(id)
        return try await store.read { transaction in
            guard let table = try transaction.tables.table(todo) else { return nil }
            return try transaction.items.row(table, exactly: id)
        }
    }

    /// The item's open operations, first to last.
    func chain(_ id: String) async throws -> [TableOperation] {
        let row = try await row(id)
        return try await store.read { try $0.queue.chain(of: row) }
    }

    func remote(
        _ id: String, _ columns: String, version: String, updatedAt: String? = nil,
        deleted: Bool = false
    ) throws -> RemoteRow {
        RemoteRow(
            id: try ItemID(id), columns: try Columns(parsing: columns),
            updatedAt: updatedAt ?? "2024-01-01T00:00:00.\(version.count)Z", version: version,
            deleted: deleted)
    }
}

extension WriteOutcome {
    /// The item in the outcome, if any.
    var item: Item? {
        switch self {
        case .inserted(let item, _), .updated(let item, _), .deleted(let item, _),
            .undeleted(let item, _), .gone(let item), .preconditionFailed(let item),
            .alreadyExists(let item):
            item
        case .missing, .unknownWhilePartial, .tableNotAllowed, .invalid, .storageFull, .readOnly,
            .busy, .failed:
            nil
        }
    }

    /// The case's name.
    var name: String { String(describing: self).prefix { $0 != "(" }.description }
}

extension PushOutcome {
    /// Tried again later; the backend cannot have acted.
    static func waiting(reason: String, until: Instant?) -> PushOutcome {
        .postponed(Postponement(cause: .own, reason: reason, until: until))
    }

    /// A request may have reached the backend and no verdict came.
    static func unknown(reason: String, until: Instant?) -> PushOutcome {
        .postponed(Postponement(cause: .own, maybeApplied: true, reason: reason, until: until))
    }
}

extension PushSubject {
    /// An operation of which only some values matter.
    init(
        kind: OperationKind, itemID: ItemID, sent: Columns, base: Columns? = nil,
        baseVersion: String? = nil, actor: Actor = .client
    ) {
        guard let table = TableName("todoitem") else { preconditionFailure("a valid name") }
        var operation = TableOperation(
            id: "1", tableID: 1, table: table, itemID: itemID, kind: kind, generation: .mobileApps,
            actor: actor, createdAt: Instant(milliseconds: 0))
        (operation.payload, operation.changedColumns) = (sent, sent.names)
        (operation.baseRow, operation.baseVersion) = (base, baseVersion)
        self.init(operation)
    }
}
