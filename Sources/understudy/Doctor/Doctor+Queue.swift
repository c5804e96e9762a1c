import Proxy
import SyncCore
import TablesProtocol

// What waits, what holds it, and whose data it is.
extension Doctor {
    /// The findings on operations that need more than the next push.
    func queueFindings(_ stores: [StoreInspection]) -> [Finding] {
        var findings = stores.compactMap { store -> Finding? in
            guard let queue = store.contents?.ledger.queue else { return nil }
            var parts: [String] = []
            if queue.waiting > 0 { parts.append("\(queue.waiting) to be tried again") }
            if queue.conflict > 0 { parts.append("\(queue.conflict) in conflict") }
            if queue.quarantined > 0 { parts.append("\(queue.quarantined) quarantined") }
            guard !parts.isEmpty else { return nil }
            let identity =
                store.identity == Identity.anonymousKey ? "" : " --identity \(store.identity)"
            return .warning(
                "queue",
                "\(store.identity) has operations that wait: \(parts.joined(separator: ", ")).",
                "See why with: understudy queue groups\(identity)")
        }
        if let held = running?.held {
            findings.append(
                .warning(
                    "sync", "Queued operations are held. \(held)",
                    "See them with: understudy queue"))
        }
        return findings
    }

    /// The finding on data that belongs to another backend than the examined one; none if all belongs to it,
    /// or to one that never answered.
    func bindingFindings(_ stores: [StoreInspection]) -> [Finding] {
        guard let address = backend(stores)?.description else { return [] }
        let others = stores.filter { store in
            guard let contents = store.contents, contents.isBackendProven else { return false }
            return contents.backend != address
        }
        guard let other = others.first?.contents?.backend else { return [] }
        let names = others.map(\.identity).joined(separator: ", ")
        return [
            .problem(
                "rebind",
                "The data of \(names) belongs to \(other). Nothing of it is sent to \(address).",
                "If the backend moved, start once with: understudy serve --rebind. Otherwise correct "
                    + "the address.")
        ]
    }
}

/// What the running Understudy of a data folder says of itself. It may have been started with flags and
/// variables that another command does not see.
struct RunningState: Sendable, Hashable {
    /// The tables that its clients have read and that no sync has pulled.
    var wanted: [TableName] = []
    /// The values of its settings by name.
    var settings: [String: [String]] = [:]
    /// What keeps queued operations from being sent; nil if there are none, or nothing does.
    var held: String?

    /// Asks a running Understudy. What it does not answer is left out.
    static func read(_ client: OperatorClient) async -> RunningState {
        var state = RunningState()
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
        return state
    }

    /// Its settings that say what is examined, as flags, except those that a command has itself.
    func flags(missingIn sources: Sources) -> [String: [String]] {
        var flags: [String: [String]] = [:]
        for setting in ServeSetting.all
        where Self.examined.contains(setting.name) && sources.statements(setting).isEmpty {
            flags[setting.name] = settings[setting.name]
        }
        return flags
    }

    private static let examined: Set<String> = [
        Settings.backend.name, Settings.table.name, Settings.allowPlainHTTP.name,
        Settings.diskBudget.name,
    ]
}
