import Proxy
import SyncCore
import TablesProtocol

/// What the running Understudy of a data folder says of itself. It may have been started with flags and
/// variables that another command does not see.
struct RunningState: Sendable, Hashable {
    /// The tables that its clients have read and that no sync has pulled.
    var wanted: [TableName] = []
    /// The values of its settings by name.
    var settings: [String: [String]] = [:]
    /// The identity whose queue ``held`` is about; nil for `anonymous`.
    var identity: String?
    /// What keeps queued operations from being sent; nil if there are none, or nothing does.
    var held: String?
    /// The other users with operations that are not being sent.
    var users: [User] = []
    /// Why the last automatic backup failed; nil if it did not.
    var backupFailure: String?

    /// A user's operations that wait for the backend and are not being sent.
    struct User: Sendable, Hashable {
        let identity: String
        /// The number of operations.
        let operations: Int64
        /// What holds them; nil where the store is closed.
        let held: String?
    }

    /// Asks a running Understudy. What it does not answer is left out.
    /// - Parameter identity: whose queue; nil for `anonymous`.
    static func read(_ client: OperatorClient, identity: String?) async -> RunningState {
        var state = RunningState()
        state.identity = identity
        let status = try? await client.get("/status")
        state.wanted = (status?["wantedTables"]?.array ?? []).compactMap {
            $0.string.flatMap { TableName($0) }
        }
        let process = try? await client.forAll.get("/process")
        for setting in process?["settings"]?.array ?? [] {
            guard let name = setting["name"]?.string else { continue }
            state.settings[name] = setting["values"]?.array?.compactMap(\.string) ?? []
        }
        if status?["queue"]?["queued"]?.integer ?? 0 > 0 {
            state.held = try? await Holding.read(client)
        }
        let identities = try? await client.forAll.get("/identities")
        for row in identities?["items"]?.array ?? [] where row["identity"]?.string != identity {
            if let found = await heldUser(row, client) { state.users.append(found) }
        }
        state.backupFailure = (try? await client.forAll.get("/backups"))?["failure"]?.string
        return state
    }

    /// The user of one row of `GET /identities`; nil if no operation of the user is held.
    private static func heldUser(_ row: JSONValue, _ client: OperatorClient) async -> User? {
        guard let identity = row["identity"]?.string, identity != Identity.anonymousKey else {
            return nil
        }
        let forPerson = (row["conflicts"]?.integer ?? 0) + (row["quarantined"]?.integer ?? 0)
        let operations = (row["openOperations"]?.integer ?? 0) - forPerson
        guard operations > 0 else { return nil }
        // What holds the operations of a closed store is not asked: only a few stores are open at once.
        guard row["state"]?.string == "open" else {
            return User(identity: identity, operations: operations, held: nil)
        }
        guard let held = try? await Holding.read(client.of(identity)) else { return nil }
        return User(identity: identity, operations: operations, held: held)
    }

    /// The settings of the running Understudy that the checks need, as flags, without those that the command
    /// has itself. A relative path is left out, since it begins at another working directory. An address
    /// with a hidden password is left out too.
    func flags(missingIn sources: Sources) -> [String: [String]] {
        var flags: [String: [String]] = [:]
        for setting in ServeSetting.all
        where Self.examined.contains(setting.name) && sources.statements(setting).isEmpty {
            let values = settings[setting.name]
            if Self.paths.contains(setting.name), values?.first?.hasPrefix("/") != true { continue }
            if values?.contains(where: Redaction.hides(in:)) == true { continue }
            flags[setting.name] = values
        }
        return flags
    }

    private static let paths: Set<String> = [
        Settings.backendCA.name, Settings.backendCertificate.name, Settings.backendKey.name,
        Settings.applicationKeyFile.name,
    ]

    private static let examined = paths.union([
        Settings.backend.name, Settings.table.name, Settings.allowPlainHTTP.name,
        Settings.diskBudget.name, Settings.backendProxy.name, Settings.backendGeneration.name,
    ])
}
