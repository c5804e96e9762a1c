public import TablesProtocol

extension SyncEngine {
    /// Forgets rows of a table and all its pull tokens; with `force` its open operations too.
    public func purge(
        _ table: TableName, filter: String? = nil, force: Bool = false
    ) async -> PurgeOutcome {
        .unknownTable
    }
}
