import GRDB
import Synchronization
public import TablesProtocol

extension TablesBackend {
    /// What goes wrong from now on.
    public var faults: Faults {
        get { control.withLock { $0.faults } }
        set { control.withLock { $0.faults = newValue } }
    }

    /// All that a backend held at one moment.
    public struct Copy: Sendable {
        let database: DatabaseQueue
    }

    /// A copy of all that the backend holds.
    @available(*, noasync)
    public func copy() throws -> Copy {
        let copy = Copy(database: try DatabaseQueue())
        try database.backup(to: copy.database)
        return copy
    }

    /// Goes back to a copy, as a server does that is restored from an older backup.
    @available(*, noasync)
    public func restore(_ copy: Copy) throws { try copy.database.backup(to: database) }

    /// How many requests came, by method; those that were dropped or refused count too.
    public var requestCounts: [String: Int] { control.withLock { $0.requests } }

    /// The writes that took effect after a number, in the order they did.
    @available(*, noasync)
    public func effects(after: Int64 = 0, limit: Int = .max) throws -> [Effect] {
        try database.read { try Effects.list($0, after: after, limit: limit) }
    }

    /// The writes that took effect after a number, in the order they did.
    public func effects(after: Int64 = 0, limit: Int = .max) async throws -> [Effect] {
        try await database.read { try Effects.list($0, after: after, limit: limit) }
    }

    /// How many writes took effect on an item: it grows with every one, a repeated one too.
    @available(*, noasync)
    public func effectCount(_ table: TableName, _ id: String) throws -> Int {
        try database.read { try Effects.count($0, table.text, id) }
    }

    /// How many writes took effect on an item: it grows with every one, a repeated one too.
    public func effectCount(_ table: TableName, _ id: String) async throws -> Int {
        try await database.read { try Effects.count($0, table.text, id) }
    }

    /// All rows of a table as they are stored, tombstones too, by id.
    @available(*, noasync)
    public func items(in table: TableName) throws -> [Item] {
        try database.read { try Items.all($0, table) }
    }

    /// All rows of a table as they are stored, tombstones too, by id.
    public func items(in table: TableName) async throws -> [Item] {
        try await database.read { try Items.all($0, table) }
    }
}
