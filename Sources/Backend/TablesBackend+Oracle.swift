import Dispatch
import Synchronization
public import TablesProtocol

extension TablesBackend {
    /// The faults that act from now on.
    public var faults: Faults {
        get { control.withLock { $0.faults } }
        set { control.withLock { $0.faults = newValue } }
    }

    /// How many requests came, by method, and those of unknown methods as `other`. Those that were dropped or
    /// refused count too.
    public var requestCounts: [String: Int] { control.withLock { $0.requests } }

    /// The writes that took effect after a number, by number. On PostgreSQL that is the order of commits
    /// within one table only.
    @available(*, noasync)
    public func effects(after: Int64 = 0, limit: Int = .max) throws -> [Effect] {
        try storage.effects(after: after, limit: limit)
    }

    /// The writes that took effect after a number, by number. On PostgreSQL that is the order of commits
    /// within one table only.
    public func effects(after: Int64 = 0, limit: Int = .max) async throws -> [Effect] {
        try await onStorageThread { try $0.effects(after: after, limit: limit) }
    }

    /// How many writes took effect on an item: it grows with every one, a repeated one too.
    @available(*, noasync)
    public func effectCount(_ table: TableName, _ id: String) throws -> Int {
        try storage.effectCount(of: id, in: table)
    }

    /// How many writes took effect on an item: it grows with every one, a repeated one too.
    public func effectCount(_ table: TableName, _ id: String) async throws -> Int {
        try await onStorageThread { try $0.effectCount(of: id, in: table) }
    }

    /// All rows of a table as they are stored, tombstones too, by id.
    @available(*, noasync)
    public func items(in table: TableName) throws -> [Item] { try storage.items(in: table) }

    /// All rows of a table as they are stored, tombstones too, by id.
    public func items(in table: TableName) async throws -> [Item] {
        try await onStorageThread { try $0.items(in: table) }
    }

    /// Calls the storage from a task, on a thread that may wait.
    func onStorageThread<T: Sendable>(
        _ body: @escaping @Sendable (any RowStorage) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let work: @Sendable () -> Void = { [storage] in
                continuation.resume(with: Result { try body(storage) })
            }
            switch storage.callThreads {
            case .callersThread: taskCalls.async(execute: work)
            case .ownThreads(let submit):
                if !submit(work) {
                    let error = StorageUnavailable(reason: "Too many calls wait for the database.")
                    continuation.resume(throwing: error)
                }
            }
        }
    }
}

extension RowStorage {
    /// The rows of a table as items, in no flavour's form.
    fileprivate func items(in name: TableName) throws -> [Item] {
        let hasNumbers = try table(name)?.options.idKind == .integer
        return try rows(in: name).map { row in
            let number = hasNumbers ? Int64(row.id) : nil
            return Item(
                id: try number.map { ItemID($0) } ?? ItemID(row.id), columns: row.columns,
                createdAt: row.createdAt, updatedAt: row.updatedAt, version: row.version,
                deleted: row.deleted)
        }
    }
}
