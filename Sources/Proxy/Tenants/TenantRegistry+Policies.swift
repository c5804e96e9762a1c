import SyncCore
import TablesProtocol

// Policies of tables are kept in the stores. What holds for all is said in each of them, and the anonymous
// store has what an identity takes in that was not there, or could not be opened, when it was said.
extension TenantRegistry {
    /// Changes policies of tables in the stores of all users: they are opened one after another. Change
    /// those of the anonymous one before. An identity that comes meanwhile begins with these, or is among
    /// the others.
    /// - Returns: how many stores could not be changed. They take the change in when they are opened.
    /// - Throws: why that cannot be kept for them.
    func updateUsersTables(_ said: [PolicySetting]) async throws(StoreError) -> Int {
        var left: [String] = []
        for identity in identities.dropFirst() {
            do {
                let tenant = try await open(identity)
                for one in said {
                    _ = try await tenant.store.updateTable(one.table, one.policies.apply)
                }
            } catch {
                left.append(identity)
            }
        }
        if left.isEmpty { return 0 }
        let (tables, identities) = (said.map(\.table), left)
        try await executor.value { [index] () -> Result<Void, StoreError> in
            Result { () throws(StoreError) in try index.leave(tables, to: identities) }
        }.get()
        return left.count
    }

    /// A new tenant begins with what the operator said of the anonymous one's tables.
    func adoptPolicies(_ tenant: Tenant) async {
        for table in (try? await anonymous.store.tables()) ?? [] where !table.isPublic {
            let policies = TablePolicies(of: table)
            guard policies != .standard, let name = TableName(table.name) else { continue }
            _ = try? await tenant.store.updateTable(name, policies.apply)
        }
    }

    /// Lets a tenant take in the changes of policies for all that its store could not take when they were
    /// made: the tables get the policies that they have in the anonymous store. Where that fails, the next
    /// opening tries again.
    func takeLeftPolicies(_ tenant: Tenant) async {
        let left = await executor.value { [index] in (try? index.left(to: tenant.identity)) ?? [] }
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
        await executor.value { [index] in try? index.took(tenant.identity) }
    }
}
