import SyncCore
import TablesProtocol

// The policies of tables are in the stores. A policy for all identities is written to each store. A store
// that is new, or could not be opened then, gets the policies of the anonymous store later.
extension TenantRegistry {
    /// Changes policies of tables in the stores of all users, which are opened one after another. The
    /// policies of the anonymous store must be changed before: a new identity starts with those.
    /// - Returns: how many stores could not be changed. They get the change when they are opened.
    /// - Throws: why the index cannot record the change for them.
    func updateUsersTables(_ settings: [PolicySetting]) async throws(StoreError) -> Int {
        try await changeUsersTables(settings) { tenant throws(StoreError) in
            for setting in settings {
                _ = try await tenant.store.updateTable(setting.table, setting.policies.apply)
            }
        }
    }

    /// Takes policies back in the stores of all users, which are opened one after another. Each store is judged
    /// by its own policies. The policies of the anonymous store must be changed before.
    /// - Returns: how many stores could not be changed. They get the anonymous store's policies of these tables
    ///   when they are opened.
    /// - Throws: why the index cannot record the change for them.
    func withdrawFromUsers(_ gone: [PolicySetting]) async throws(StoreError) -> Int {
        try await changeUsersTables(gone) { tenant throws(StoreError) in
            try await tenant.withdraw(gone)
        }
    }

    private func changeUsersTables(
        _ settings: [PolicySetting], _ change: (Tenant) async throws(StoreError) -> Void
    ) async throws(StoreError) -> Int {
        var left: [String] = []
        for identity in identities.dropFirst() {
            do {
                try await change(try await open(identity))
            } catch {
                left.append(identity)
            }
        }
        if left.isEmpty { return 0 }
        let (tables, identities) = (settings.map(\.table), left)
        try await executor.value { [index] () -> Result<Void, StoreError> in
            Result { () throws(StoreError) in try index.deferPolicies(of: tables, to: identities) }
        }.get()
        return left.count
    }

    /// Copies the anonymous store's policies of tables to a new tenant, without those of public tables.
    func adoptPolicies(_ tenant: Tenant) async {
        for table in (try? await anonymous.store.tables()) ?? [] where !table.isPublic {
            let policies = TablePolicies(of: table)
            guard policies != .standard, let name = TableName(table.name) else { continue }
            _ = try? await tenant.store.updateTable(name, policies.apply)
        }
    }

    /// Applies changes of policies that the tenant's store has missed: the tables get the policies that
    /// they have in the anonymous store. If that fails, the next opening tries again.
    func applyMissedPolicies(_ tenant: Tenant) async {
        let left = await executor.value { [index] in
            (try? index.deferredPolicies(of: tenant.identity)) ?? []
        }
        guard !left.isEmpty, let tables = try? await anonymous.store.tables() else { return }
        for table in tables where left.contains(table.name) {
            var policies = TablePolicies(of: table)
            policies.hasIntegerIDs = table.idKind == .integer
            guard let name = TableName(table.name) else { continue }
            do {
                _ = try await tenant.store.updateTable(name, policies.apply)
            } catch {
                return
            }
        }
        await executor.value { [index] in try? index.removeDeferredPolicies(of: tenant.identity) }
    }
}
