import Storage
import TablesProtocol

/// The backend whose work the store holds: three values of `meta`.
struct BackendBinding {
    let transaction: Transaction
    private var dueOperations: DueOperations { transaction.dueOperations }
    private var tables: TableRecords { transaction.tables }
    private var tokens: PullTokens { transaction.tokens }

    private static let addressKey = "backend.address"
    private static let provenKey = "backend.proven"
    private static let generationKey = "backend.generation"

    /// Binds the store to a backend. One that never answered as /tables is simply given up.
    func bind(to address: BackendAddress) throws -> Binding {
        let bound = try text(Self.addressKey)
        if bound == address.description { return .bound }
        if let bound, try text(Self.provenKey) != nil { return .other(bound) }
        try set(Self.addressKey, address.description)
        try remove(Self.generationKey)
        return .bound
    }

    /// The backend whose work the store holds; nil when none was asked yet.
    func boundAddress() throws -> String? { try text(Self.addressKey) }

    /// Notes that the bound backend gave a list, and in which generation's dialect.
    func noteProven(_ generation: Generation) throws {
        if try text(Self.provenKey) == nil { try set(Self.provenKey, "1") }
        let number = String(generation.rawValue)
        let known = try text(Self.generationKey)
        guard known != number else { return }
        try set(Self.generationKey, number)
        // What was pulled in another generation's words is asked for anew.
        if known != nil { for table in try tables.all() { try tokens.remove(of: table) } }
    }

    /// The generation that the bound backend was last found to be.
    func provenGeneration() throws -> Generation? {
        try text(Self.generationKey).flatMap { Int($0) }.flatMap(Generation.init(rawValue:))
    }

    /// Accepts another backend: the queue stays, every table is pulled anew.
    func rebind(to address: BackendAddress) throws {
        try set(Self.addressKey, address.description)
        try remove(Self.provenKey)
        try remove(Self.generationKey)
        for table in try tables.all() {
            try tokens.remove(of: table, queryID: nil)
            try tables.forgetSharedColumns(of: table)
        }
        try dueOperations.forgetTimes()
    }

    private func text(_ key: String) throws -> String? {
        try transaction.first("SELECT value FROM meta WHERE key = ?", [key]) { $0[0] }
    }

    private func remove(_ key: String) throws {
        try transaction.run("DELETE FROM meta WHERE key = ?", [key])
    }

    private func set(_ key: String, _ value: String) throws {
        try transaction.run(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            [key, value])
    }
}

/// Whose backend's work a store holds.
enum Binding: Sendable, Hashable {
    /// This backend's, or none's yet.
    case bound
    /// Another's, which answered as /tables once: nothing is sent until a person accepts the new one.
    case other(String)
}
