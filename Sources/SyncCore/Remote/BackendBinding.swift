import Storage
import TablesProtocol

/// The backend that the store belongs to: four values of `meta`.
struct BackendBinding {
    let transaction: Transaction
    private var dueOperations: DueOperations { transaction.dueOperations }
    private var tables: TableRecords { transaction.tables }
    private var tokens: PullTokens { transaction.tokens }

    private static let addressKey = "backend.address"
    private static let provenKey = "backend.proven"
    private static let generationKey = "backend.generation"
    private static let notBeforeKey = "backend.notBefore"

    /// Binds the store to a backend. A bound backend that never answered as /tables is replaced.
    func bind(to address: BackendAddress) throws -> Binding {
        let bound = try text(Self.addressKey)
        if bound == address.description { return .bound }
        if let bound, try text(Self.provenKey) != nil { return .other(bound) }
        try set(Self.addressKey, address.description)
        try remove(Self.generationKey)
        try setNotBefore(nil)
        try transaction.tableWaits.forgetTimes()
        return .bound
    }

    /// The address of the backend that the store belongs to; nil if none was bound yet.
    func boundAddress() throws -> String? { try text(Self.addressKey) }

    /// Whether the bound backend ever gave a list.
    func isProven() throws -> Bool { try text(Self.provenKey) != nil }

    /// Records that the bound backend gave a list, and its generation.
    func noteProven(_ generation: Generation) throws {
        if try text(Self.provenKey) == nil { try set(Self.provenKey, "1") }
        let number = String(generation.rawValue)
        let known = try text(Self.generationKey)
        guard known != number else { return }
        try set(Self.generationKey, number)
        // Another generation has other texts, so every table is pulled again.
        if known != nil { for table in try tables.all() { try tokens.remove(of: table) } }
    }

    /// The generation that the bound backend last had.
    func provenGeneration() throws -> Generation? {
        try text(Self.generationKey).flatMap { Int($0) }.flatMap(Generation.init(rawValue:))
    }

    /// Before which the backend asked not to be tried (Retry-After); nil if it named no time.
    func notBefore() throws -> Instant? {
        try text(Self.notBeforeKey).flatMap { Int64($0) }.map { Instant(milliseconds: $0) }
    }

    /// Stores the time before which the backend is not to be tried.
    func setNotBefore(_ time: Instant?) throws {
        guard let time else { return try remove(Self.notBeforeKey) }
        try set(Self.notBeforeKey, String(time.milliseconds))
    }

    /// Accepts another backend. The queue stays; every table is pulled again.
    func rebind(to address: BackendAddress) throws {
        try set(Self.addressKey, address.description)
        try remove(Self.provenKey)
        try remove(Self.generationKey)
        try setNotBefore(nil)
        for table in try tables.all() {
            try tokens.remove(of: table, queryID: nil)
            try tables.forgetHabits(of: table)
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

/// Whether the store belongs to the configured backend.
enum Binding: Sendable, Hashable {
    /// It belongs to this backend, or to none yet.
    case bound
    /// It belongs to another backend, which once answered as /tables. Nothing is sent until a person
    /// accepts the new one.
    case other(String)
}
