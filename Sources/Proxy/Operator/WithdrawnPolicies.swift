import SyncCore
import TablesProtocol

// A policy that a configuration named and names no more goes back to the standard. The policies of a table are
// in its store, and so the data folder keeps which of them the configuration named.
extension AppGraph {
    /// Takes back, in every store, the policies that an earlier configuration named and the present one does not.
    /// - Returns: how many stores could not be changed; see ``TenantRegistry/withdrawFromUsers(_:)``.
    package func withdraw(
        _ earlier: [PolicySetting], except present: [PolicySetting]
    ) async throws -> Int {
        let gone = Set(earlier.map(\.table)).compactMap { table -> PolicySetting? in
            let policies = TablePolicies(earlier, of: table)
                .without(TablePolicies(present, of: table))
            return policies == TablePolicies()
                ? nil : PolicySetting(table: table, policies: policies)
        }
        if gone.isEmpty { return 0 }
        try await tenants.anonymous.withdraw(gone)
        return try await tenants.withdrawFromUsers(gone)
    }
}

extension Tenant {
    /// Takes policies back from the tables that its store has.
    func withdraw(_ gone: [PolicySetting]) async throws(StoreError) {
        for table in try await store.tables() {
            for setting in gone where TableName(table.name) == setting.table {
                _ = try await store.updateTable(setting.table) { table in
                    setting.policies.withdrawn(from: table).apply(to: &table)
                }
            }
        }
    }
}

extension TablePolicies {
    /// The policies that several settings name for one table. If two name the same policy, the later wins.
    init(_ settings: [PolicySetting], of table: TableName) {
        for setting in settings where setting.table == table {
            let said = setting.policies
            read = said.read ?? read
            write = said.write ?? write
            conflict = said.conflict ?? conflict
            unconditional = said.unconditional ?? unconditional
            isPublic = said.isPublic ?? isPublic
            parents = said.parents ?? parents
            preservesHistory = said.preservesHistory ?? preservesHistory
        }
    }

    /// These policies without those that are named still, and without integer ids: the rows have them.
    func without(_ named: TablePolicies) -> TablePolicies {
        var gone = TablePolicies()
        gone.read = named.read == nil ? read : nil
        gone.write = named.write == nil ? write : nil
        gone.conflict = named.conflict == nil ? conflict : nil
        gone.unconditional = named.unconditional == nil ? unconditional : nil
        gone.isPublic = named.isPublic == nil ? isPublic : nil
        gone.parents = named.parents == nil ? parents : nil
        gone.preservesHistory = named.preservesHistory == nil ? preservesHistory : nil
        return gone
    }

    /// The change that takes these policies back from the table of one store. If the table has another value
    /// by now, an operator has set it, and it stays.
    func withdrawn(from table: TableStatus) -> TablePolicies {
        func standard<Value: Equatable>(
            _ said: Value?, _ held: Value, _ usual: Value?
        ) -> Value? {
            said == held && held != usual ? usual : nil
        }
        var change = TablePolicies()
        change.read = standard(read, table.readPolicy, Self.standard.read)
        change.write = standard(write, table.writePolicy, Self.standard.write)
        change.conflict = standard(conflict, table.conflictPolicy, Self.standard.conflict)
        change.unconditional = standard(
            unconditional, table.unconditionalPolicy, Self.standard.unconditional)
        change.isPublic = standard(isPublic, table.isPublic, false)
        change.parents = standard(parents, table.parents, Self.standard.parents)
        change.preservesHistory = standard(
            preservesHistory, table.preservesHistory, Self.standard.preservesHistory)
        return change
    }
}

extension DataFolder {
    /// The file with the policies that the last start or reload named, one in a line as `--policy` has them.
    var policiesFile: String { "\(path)/policies" }

    /// The policies that the last start or reload named; none if nothing is known of one.
    package func configuredPolicies() throws(FileFailure) -> [PolicySetting] {
        let bytes = try Files.read(policiesFile)
        return String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n").compactMap {
            PolicySetting(String($0))
        }
    }

    /// Keeps which policies a start or reload named.
    /// - Parameter texts: as `--policy` has them.
    package func keep(configuredPolicies texts: [String]) throws(FileFailure) {
        let bytes = Array(texts.map { "\($0)\n" }.joined().utf8)
        let kept = try Files.read(policiesFile)
        if bytes != kept ?? [] { try Files.write(policiesFile, bytes) }
    }
}
