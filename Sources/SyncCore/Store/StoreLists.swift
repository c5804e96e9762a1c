import Storage
public import TablesProtocol

/// Reads of the engine and the operator, each in one transaction, on connections of their own.
struct StoreReading: Sendable {
    let work: StoreWork
    let reader: ConnectionQueue
    /// For lists that may look through the whole queue, so that the engine never waits for them.
    let searcher: ConnectionQueue

    func read<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try Store.value(await reader.read { [work] in try body(work.transaction($0)) })
    }

    /// The same for what may look through the whole queue.
    func search<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try Store.value(await searcher.read { [work] in try body(work.transaction($0)) })
    }

    func close() throws {
        try reader.close()
        try searcher.close()
    }
}

/// A page of a list.
public struct Page<Element: Sendable>: Sendable {
    public var items: [Element]
    /// Cursor for `after`; null at the end.
    public var next: String?
    /// All elements that match, not only this page's.
    public var total: Int

    public init(items: [Element], next: String?, total: Int) {
        (self.items, self.next, self.total) = (items, next, total)
    }

    /// A list without a further page.
    public init(_ items: [Element]) {
        self.init(items: items, next: nil, total: items.count)
    }
}

extension Page: Codable where Element: Codable {}
extension Page: Equatable where Element: Equatable {}
extension Page: Hashable where Element: Hashable {}

/// The opaque text that names a place in a list: the number of its last element.
public enum Cursor {
    public static func isCursor(_ text: String) -> Bool { number(text) != nil }

    static func text(_ number: Int64) -> String { "c" + String(number, radix: radix) }

    /// The number in a text; nil for anything that ``text(_:)`` did not make.
    static func number(_ text: String) -> Int64? {
        guard text.first == "c", let number = Int64(text.dropFirst(), radix: radix),
            self.text(number) == text
        else { return nil }
        return number
    }

    static let radix = 36
}

/// The lists that the operator is shown. `after` is the `next` of the page before; see ``Cursor/isCursor(_:)``.
public struct StoreLists: Sendable {
    let reading: StoreReading

    /// A page of operations. In the order of the queue: after a cursor, after the first `skip` from there,
    /// or both. In another order after the first `skip`; it has no cursor.
    public func operations(
        _ filter: OperationFilter, sorted order: OperationOrder = .queue, after: String? = nil,
        skip: Int = 0, limit: Int
    ) async throws(StoreError) -> Page<OperationSummary> {
        try await reading.search { transaction in
            let page = try OperationLists(transaction: transaction).page(
                filter, sorted: order, after: after.flatMap(Cursor.number) ?? 0, skip: skip,
                limit: Self.bounded(limit))
            return Page(
                items: page.items.map { $0.summary(identity: transaction.identity) },
                next: page.next, total: page.total)
        }
    }

    /// What matches, by state, status and cause: "37 fail for one reason". The most frequent come first;
    /// `total` counts all groups.
    public func operationGroups(
        _ filter: OperationFilter, limit: Int
    ) async throws(StoreError) -> Page<OperationGroup> {
        try await reading.search {
            try OperationLists(transaction: $0).groups(filter, limit: Self.bounded(limit))
        }
    }

    /// Where these operations are now, counted by state, status and cause.
    public func outcomes(
        of ids: [OperationID]
    ) async throws(StoreError) -> [OperationOutcome] {
        try await reading.read { try OperationLists(transaction: $0).outcomes(of: ids) }
    }

    public func operation(_ id: OperationID) async throws(StoreError) -> OperationDetail? {
        try await reading.read { transaction in
            try transaction.queue.operation(id: id).map {
                try OperationLists(transaction: transaction).detail($0)
            }
        }
    }

    /// A page of the conflicts that match, oldest first. The filter's states do not count.
    public func conflicts(
        _ filter: OperationFilter = OperationFilter(), after: String?, limit: Int
    ) async throws(StoreError) -> Page<ConflictDetail> {
        try await reading.read {
            try ConflictList(transaction: $0).page(
                filter, after: after.flatMap(Cursor.number) ?? 0, limit: Self.bounded(limit))
        }
    }

    /// One conflict; nil when the operation is in none.
    public func conflict(_ id: OperationID) async throws(StoreError) -> ConflictDetail? {
        try await reading.read { transaction in
            try transaction.queue.operation(id: id).flatMap {
                try ConflictList(transaction: transaction).detail($0)
            }
        }
    }

    /// A page of the rows of a table that are not here, since they cannot be taken; nil when there is no
    /// such table.
    public func setAsideRows(
        of name: TableName, after: String?, limit: Int
    ) async throws(StoreError) -> Page<SetAsideRow>? {
        try await reading.read { transaction in
            guard let table = try transaction.tables.table(name) else { return nil }
            let limit = Self.bounded(limit)
            let rows = try transaction.setAsideRows.page(
                of: table, after: after ?? "", limit: limit)
            return Page(
                items: rows.map(\.row), next: rows.count == limit ? rows.last?.name : nil,
                total: try transaction.setAsideRows.count(of: table.id))
        }
    }

    /// A page of runs, latest first.
    public func runs(after: String?, limit: Int) async throws(StoreError) -> Page<Run> {
        try await reading.read { transaction in
            let limit = Self.bounded(limit)
            let found = try transaction.runs.page(
                before: after.flatMap(Cursor.number) ?? .max, limit: limit + 1)
            let page = found.prefix(limit)
            let total = try transaction.integer("SELECT count(*) FROM runs") ?? 0
            return Page(
                items: page.map(\.run),
                next: found.count > limit ? page.last.map { Cursor.text($0.seq) } : nil,
                total: Int(total))
        }
    }

    public func run(_ id: String) async throws(StoreError) -> Run? {
        try await reading.read { try $0.runs.run(id: id) }
    }

    /// The events after one, or the word that it is too old.
    public func events(after id: Int64, limit: Int) async throws(StoreError) -> EventBatch {
        try await reading.read { try $0.events.after(after: id, limit: Self.bounded(limit)) }
    }

    public func allOperations(
        _ filter: OperationFilter, sorted order: OperationOrder
    ) async throws(StoreError) -> WholeList<OperationSummary> {
        let numbers = try await reading.search {
            try OperationLists(transaction: $0).numbers(filter, sorted: order)
        }
        return WholeList(numbers: numbers) { numbers throws(StoreError) in
            try await reading.search { transaction in
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
        let numbers = try await reading.search {
            try OperationLists(transaction: $0).numbers(asked, sorted: .queue)
        }
        return WholeList(numbers: numbers) { numbers throws(StoreError) in
            try await reading.search { transaction in
                try OperationLists(transaction: transaction).operations(numbers, sorted: .queue)
                    .compactMap(ConflictList(transaction: transaction).detail)
            }
        }
    }

    /// All entries of history that match, latest first.
    public func allHistory(
        _ filter: HistoryFilter
    ) async throws(StoreError) -> WholeList<HistoryEntry> {
        let numbers = try await reading.search {
            try HistoryList(transaction: $0, filter: filter).places().map(\.id)
        }
        return WholeList(numbers: numbers) { numbers throws(StoreError) in
            try await reading.search {
                try HistoryList(transaction: $0, filter: filter).entries(numbers)
            }
        }
    }

    static func bounded(_ limit: Int) -> Int {
        min(max(limit, 1), StoreLimits.operatorPage)
    }
}

/// All elements of a list that match a filter, which are read in parts: which ones those are is known at once,
/// and each is as it is when its part is read. So no transaction stays open while a slow reader takes them.
public struct WholeList<Element: Sendable>: Sendable {
    /// The numbers of the elements, in their order.
    public let numbers: [Int64]
    /// Reads the elements with these numbers, at most ``StoreLimits/operatorPage``, in their order. Those that
    /// are gone are left out.
    public let read: @Sendable ([Int64]) async throws(StoreError) -> [Element]
}
