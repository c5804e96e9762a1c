import Synchronization
public import TablesProtocol

/// Tables that clients have read and that were never pulled: the next sync pulls them. In memory, so
/// that reading a name leaves nothing behind.
final class WantedTables: Sendable {
    private let names = Mutex<[TableName]>([])

    /// Adds a table; beyond the bound the names are taken for noise.
    func add(_ table: TableName) {
        names.withLock { names in
            guard !names.contains(table), names.count < SyncLimits.wantedTables else { return }
            names.append(table)
        }
    }

    /// Lets go of a table of which the backend has said whether it is there.
    func remove(_ table: TableName) { names.withLock { $0.removeAll { $0 == table } } }

    var all: [TableName] { names.withLock { $0 } }
}

extension Store {
    /// Notes that a client has read a table that is not here: the next sync asks for it.
    public func want(_ table: TableName) { wanted.add(table) }

    /// The tables that clients have read, and of which the backend has not said yet that they are there.
    public var wantedTables: [TableName] { wanted.all }
}
