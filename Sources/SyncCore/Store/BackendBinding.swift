import Storage
import TablesProtocol

/// The backend that the store belongs to: seven values of `meta`.
struct BackendBinding: InTransaction {
    let transaction: Transaction

    private static let addressKey = "backend.address"
    private static let provenKey = "backend.proven"
    private static let generationKey = "backend.generation"
    private static let serverKey = "backend.server"
    private static let notBeforeKey = "backend.notBefore"
    private static let ownerKey = "backend.owner"
    private static let takersKey = "backend.takers"

    /// Binds the store to a backend. A bound backend that never answered as /tables is replaced.
    func bind(to address: BackendAddress) throws -> Binding {
        let bound = try meta(Self.addressKey)
        if bound == address.description { return .bound }
        if let bound, try meta(Self.provenKey) != nil { return .other(bound) }
        try setMeta(Self.addressKey, address.description)
        try removeMeta(Self.generationKey)
        try removeMeta(Self.takersKey)
        try setNotBefore(nil)
        try transaction.tableWaits.forgetTimes()
        return .bound
    }

    /// The address of the backend that the store belongs to; nil if none was bound yet.
    func boundAddress() throws -> String? { try meta(Self.addressKey) }

    /// Whether the bound backend ever gave a list.
    func isProven() throws -> Bool { try meta(Self.provenKey) != nil }

    /// Records that the bound backend gave a list, and its generation.
    /// - Parameter server: how it names itself; nil if it does not.
    func noteProven(_ generation: Generation, _ server: String? = nil) throws {
        if try meta(Self.provenKey) == nil { try setMeta(Self.provenKey, "1") }
        if let server, try self.server() != server { try setMeta(Self.serverKey, server) }
        let number = String(generation.rawValue)
        let known = try meta(Self.generationKey)
        guard known != number else { return }
        try setMeta(Self.generationKey, number)
        // Another generation has other texts, so every table is pulled again.
        if known != nil { for table in try tables.all() { try tokens.remove(of: table) } }
    }

    /// The generation that the bound backend last had.
    func provenGeneration() throws -> Generation? {
        try meta(Self.generationKey).flatMap { Int($0) }.flatMap(Generation.init(rawValue:))
    }

    /// How the bound backend's server names itself; nil if it never did.
    func server() throws -> String? { try meta(Self.serverKey) }

    /// Before which the backend asked not to be tried (Retry-After); nil if it named no time.
    func notBefore() throws -> Instant? {
        try meta(Self.notBeforeKey).flatMap { Int64($0) }.map { Instant(milliseconds: $0) }
    }

    /// Stores the time before which the backend is not to be tried.
    func setNotBefore(_ time: Instant?) throws {
        guard let time else { return try removeMeta(Self.notBeforeKey) }
        try setMeta(Self.notBeforeKey, String(time.milliseconds))
    }

    /// The tables that give no list and have taken a write.
    func takers() throws -> Set<TableName> {
        let names = try meta(Self.takersKey)?.split(separator: " ") ?? []
        return Set(names.compactMap { TableName(String($0)) })
    }

    func noteTaker(_ table: TableName) throws {
        let names = try takers().union([table]).map(\.text).sorted()
        try setMeta(Self.takersKey, names.joined(separator: " "))
    }

    /// The user's id at the backend, where the store came from another backend; nil in any other store.
    func owner() throws -> String? { try meta(Self.ownerKey) }

    func setOwner(_ user: String) throws { try setMeta(Self.ownerKey, user) }

    /// Accepts another backend. The queue stays; every table is pulled again.
    func rebind(to address: BackendAddress) throws {
        // A start may be repeated with the same word; its user need not sign in again.
        if try boundAddress() != address.description { try removeMeta(Self.ownerKey) }
        try setMeta(Self.addressKey, address.description)
        try removeMeta(Self.provenKey)
        try removeMeta(Self.generationKey)
        try removeMeta(Self.serverKey)
        try removeMeta(Self.takersKey)
        try setNotBefore(nil)
        for table in try tables.all() {
            try tokens.remove(of: table, queryID: nil)
            try tables.forgetHabits(of: table)
        }
        try dueOperations.forgetTimes()
    }
}

// Single values of a store.
extension InTransaction {
    func meta(_ key: String) throws -> String? {
        try transaction.first("SELECT value FROM meta WHERE key = ?", [key]) { $0[0] }
    }

    func removeMeta(_ key: String) throws {
        try transaction.run("DELETE FROM meta WHERE key = ?", [key])
    }

    func setMeta(_ key: String, _ value: String) throws {
        try transaction.run(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            [key, value])
    }
}

/// Whether the store belongs to the configured backend.
enum Binding: Sendable, Hashable {
    /// It belongs to this backend, or to none yet.
    case bound
    /// It belongs to another backend, which once answered as /tables. Nothing is sent until a person
    /// accepts the new one.
    case other(String)
}
