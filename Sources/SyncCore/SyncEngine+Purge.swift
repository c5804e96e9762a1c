public import TablesProtocol

extension SyncEngine {
    /// Forgets rows of a table, and all its pull tokens so that they can be pulled again.
    /// - Parameters:
    ///   - filter: `$filter` text; nil for all rows.
    ///   - force: gives up the open operations of those rows, into history; without it a table with
    ///     any open operation is left alone.
    public func purge(
        _ table: TableName, filter: String? = nil, force: Bool = false
    ) async -> PurgeOutcome {
        let query: TableQuery
        do throws(ODataError) {
            let pairs = filter.map { [QueryParameter(name: "$filter", value: $0, raw: "")] } ?? []
            query = try TableQuery.parse(pairs, generation: .mobileApps)
        } catch {
            return .invalid(error.description)
        }
        do throws(StoreError) {
            return try await store.write {
                try Purging(transaction: $0).purge(table, query, force: force)
            }
        } catch {
            return .failed(error.description)
        }
    }
}
