import Storage
import TablesProtocol

/// All elements of a list that match a filter, which are read in parts: which ones those are is known at once,
/// and each is as it is when its part is read. So no transaction stays open while a slow reader takes them.
public struct WholeList<Element: Sendable>: Sendable {
    /// The numbers of the elements, in their order.
    public let numbers: [Int64]
    /// Reads the elements with these numbers, at most ``StoreLimits/operatorPage``, in their order. Those that
    /// are gone are left out.
    public let read: @Sendable ([Int64]) async throws(StoreError) -> [Element]
}

extension Store {
    public func allOperations(
        _ filter: OperationFilter, sorted order: OperationOrder
    ) async throws(StoreError) -> WholeList<OperationSummary> {
        let numbers = try await search {
            try OperationLists(transaction: $0).numbers(filter, sorted: order)
        }
        return WholeList(numbers: numbers) { [self] numbers throws(StoreError) in
            try await search { transaction in
                try OperationLists(transaction: transaction).operations(numbers, sorted: order)
                    .map { $0.summary(identity: transaction.identity) }
            }
        }
    }

    /// All conflicts that match, oldest first. The filter's states do not count.
    public func allConflicts(
        _ filter: OperationFilter
    ) async throws(StoreError) -> WholeList<ConflictDetail> {
        var conflicts = filter
        conflicts.states = [.conflict]
        let asked = conflicts
        let numbers = try await search {
            try OperationLists(transaction: $0).numbers(asked, sorted: .queue)
        }
        return WholeList(numbers: numbers) { [self] numbers throws(StoreError) in
            try await search { transaction in
                try OperationLists(transaction: transaction).operations(numbers, sorted: .queue)
                    .compactMap(ConflictList(transaction: transaction).detail)
            }
        }
    }

    /// All entries of history that match, latest first.
    public func allHistory(
        _ filter: HistoryFilter
    ) async throws(StoreError) -> WholeList<HistoryEntry> {
        let numbers = try await search {
            try HistoryList(transaction: $0, filter: filter).places().map(\.id)
        }
        return WholeList(numbers: numbers) { [self] numbers throws(StoreError) in
            try await search {
                try HistoryList(transaction: $0, filter: filter).entries(numbers)
            }
        }
    }
}
