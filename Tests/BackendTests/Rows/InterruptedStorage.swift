import TablesProtocol

@testable import Backend

/// A storage over another one: it says where calls run, and calls a closure before each write, before
/// each call on logins and before each check.
struct InterruptedStorage: RowStorage {
    let base: any RowStorage
    var load: StorageLoad { base.load }
    func check() throws {
        try beforeCheck()
        try base.check()
    }
    var callThreads = CallThreads.callersThread
    var beforeWrite: @Sendable () throws -> Void = {}
    var beforeLogin: @Sendable () throws -> Void = {}
    var beforeCheck: @Sendable () throws -> Void = {}

    func table(_ name: TableName) throws -> StoredTable? { try base.table(name) }
    func declare(_ name: TableName, _ options: TableOptions) throws {
        try base.declare(name, options)
    }
    func list(_ query: RowQuery) throws -> RowList { try base.list(query) }
    func rows(in table: TableName) throws -> [Row] { try base.rows(in: table) }
    func get(_ id: String, in table: TableName) throws -> Row? { try base.get(id, in: table) }
    func insert(
        _ row: NewRow, into table: TableName, creating options: TableOptions, _ write: Write
    ) throws -> Insertion {
        try beforeWrite()
        return try base.insert(row, into: table, creating: options, write)
    }
    func change(
        _ changes: [RowChange], in table: TableName, as kind: EffectKind, _ write: Write
    ) throws -> [Row]? {
        try beforeWrite()
        return try base.change(changes, in: table, as: kind, write)
    }
    func remove(_ rows: [Row], from table: TableName, _ write: Write) throws -> Bool {
        try beforeWrite()
        return try base.remove(rows, from: table, write)
    }
    func knownRows(of ids: [ItemID], in table: TableName) throws -> [ItemID: KnownRow] {
        try base.knownRows(of: ids, in: table)
    }
    func move(
        _ rows: [MovedRow], into table: TableName, creating options: TableOptions, _ move: Move
    ) throws -> [MoveOutcome] {
        try base.move(rows, into: table, creating: options, move)
    }
    func rows(in table: TableName, after id: String, limit: Int) throws -> [Row] {
        try base.rows(in: table, after: id, limit: limit)
    }
    func tellChanges(to receive: @escaping @Sendable (ChangeNews) -> Void) {
        base.tellChanges(to: receive)
    }
    func effects(after number: Int64, limit: Int) throws -> [Effect] {
        try base.effects(after: number, limit: limit)
    }
    func effectCount(of id: String, in table: TableName) throws -> Int {
        try base.effectCount(of: id, in: table)
    }
    func removeExpired(_ expiry: Expiry, limit: Int) throws -> Expired? {
        try base.removeExpired(expiry, limit: limit)
    }
    func oldestKept() throws -> OldestKept { try base.oldestKept() }
    func keepLogin(token: String, user: String) throws {
        try beforeLogin()
        try base.keepLogin(token: token, user: user)
    }
    func user(ofToken token: String) throws -> String? {
        try beforeLogin()
        return try base.user(ofToken: token)
    }
    func endLogin(token: String) throws {
        try beforeLogin()
        try base.endLogin(token: token)
    }
}
