import Storage
import Synchronization
public import TablesProtocol

/// A table with its latest `updatedAt` that clients see.
public struct TableStamp: Sendable, Hashable {
    public let name: TableName
    /// Whether all identities share it.
    public let isPublic: Bool
    public let stamp: Instant
}

extension Store {
    public func tableStamps() async throws(StoreError) -> [TableStamp] {
        try await read { transaction in
            try transaction.tables.all().compactMap { table in
                let stamp = try transaction.counters.lastStamp(table.id)
                return stamp.map {
                    TableStamp(name: table.name, isPublic: table.isPublic, stamp: $0)
                }
            }
        }
    }

    /// Looks a table up for a request, from memory after the first time.
    /// - Parameter worker: the number of the caller's own connection: of a server worker, or of a thread that
    ///   may take its time. Two threads never use the same at once.
    @available(*, noasync)
    public func find(_ name: TableName, worker: Int) -> FoundTable {
        let reader = worker % readers.count
        let catalog = catalog.readers[reader]
        if let known = catalog.remembered(name) { return known }
        if let view = SDKView(name) { return FoundTable(.view(view), reader: reader) }
        do {
            let loaded = try catalog.load(name) {
                try read(reader) { try transaction($0).tables.table(name) }
            }
            return loaded ?? FoundTable(.unknown, reader: reader)
        } catch {
            return FoundTable(.failed(StoreError(error)), reader: reader)
        }
    }

    /// Whether all identities share a table. It is looked up only where some table is shared.
    @available(*, noasync)
    public func isPublic(_ name: TableName, worker: Int) -> Bool {
        work.hasPublicTables.load(ordering: .acquiring)
            && find(name, worker: worker).record?.isPublic == true
    }

    /// How reads of a table are answered, also where the store has no such table.
    public func readPolicy(of table: FoundTable) -> ReadPolicy {
        (table.record?.readPolicy ?? .standard).resolved(by: standard.load(ordering: .relaxed))
    }

    /// When writes to a table are answered, also where the store has no such table.
    public func writePolicy(of table: FoundTable) -> WritePolicy {
        (table.record?.writePolicy ?? .standard).resolved(by: standard.load(ordering: .relaxed))
    }

    /// Lists a table, on the thread that found it.
    /// - Parameters:
    ///   - generation: whose page size holds.
    ///   - pageRows: another page size.
    ///   - pairs: leaves only items that a list with a client's own pairs had, see ``OwnPairs``.
    ///   - beyondPart: whether a list that is not within the part of a table gives what is here.
    @available(*, noasync)
    public func list(
        _ table: FoundTable, _ query: TableQuery, generation: Generation, pageRows: Int? = nil,
        within pairs: OwnPairs? = nil, beyondPart: Bool = false
    ) -> ListOutcome {
        list(
            table, query, PageSize(generation, rows: pageRows), pairs, beyondPart: beyondPart,
            steps: StoreLimits.readBudgetSteps, isAbandoned: { false })
    }

    /// As ``list``, for a thread that may take its time: with a budget that only a runaway query exceeds.
    /// - Parameter isAbandoned: whether the caller has no use for the rows any more; asked while the list
    ///   runs, to end it.
    @available(*, noasync)
    public func listUnhurried(
        _ table: FoundTable, _ query: TableQuery, generation: Generation, pageRows: Int? = nil,
        within pairs: OwnPairs? = nil, beyondPart: Bool = false,
        isAbandoned: @escaping @Sendable () -> Bool = { false }
    ) -> ListOutcome {
        list(
            table, query, PageSize(generation, rows: pageRows), pairs, beyondPart: beyondPart,
            steps: StoreLimits.longReadBudgetSteps, isAbandoned: isAbandoned)
    }

    @available(*, noasync)
    private func list(
        _ found: FoundTable, _ query: TableQuery, _ size: PageSize, _ pairs: OwnPairs?,
        beyondPart: Bool, steps: Int, isAbandoned: @escaping @Sendable () -> Bool
    ) -> ListOutcome {
        let asked: AskedList
        switch compiled(found, query, size, pairs, beyondPart: beyondPart) {
        case .success(let list): asked = list
        case .failure(let outcome): return outcome.outcome
        }
        let table = found.record
        do {
            var taken = 0
            let listed = try read(found.reader, steps: steps, isAbandoned: isAbandoned) {
                try page(asked.query, table?.idKind ?? .string, $0, steps: &taken)
            }
            if let table, taken > StoreLimits.readBudgetSteps, pairs == nil {
                slowLists.note(ItemQuery.missingIndex(for: query, table), in: table)
            }
            return asked.isWithin && table?.isComplete ?? true ? .page(listed) : .partial(listed)
        } catch {
            return Self.failed(error).outcome
        }
    }

    private struct AskedList {
        let query: ItemQuery
        /// Whether it is within the part of the table that is here.
        let isWithin: Bool
    }

    private func compiled(
        _ found: FoundTable, _ query: TableQuery, _ size: PageSize, _ pairs: OwnPairs?,
        beyondPart: Bool, selecting columns: String = StatementRow.itemColumns
    ) -> Result<AskedList, NoList> {
        if let beyond = query.beyond { return .failure(NoList(.invalid(beyond.reason))) }
        guard let table = found.record else {
            switch found.otherwise {
            case .unknown: return .failure(NoList(.unknownTable))
            case .failed(let error): return .failure(NoList(.failed(error)))
            case .view(let view):
                let query = ItemQuery(query, view: view, pageRows: size.most(query, of: nil))
                return .success(AskedList(query: query, isWithin: true))
            }
        }
        var query = query
        var isWithin = true
        // Which rows a list with pairs of the client's own has is known apart from the part.
        if let part = table.part, pairs == nil {
            let asked = part.asked(query, from: table.partGeneration)
            isWithin = asked != nil
            guard isWithin || beyondPart else { return .failure(NoList(.beyondPart)) }
            query = asked ?? query
        }
        let compiled = ItemQuery(
            query, table: table, pageRows: size.most(query, of: table), within: pairs,
            selecting: columns)
        return .success(AskedList(query: compiled, isWithin: isWithin))
    }

    private static func failed(_ error: any Error) -> NoList {
        if case .interrupted = StorageError(error) { return NoList(.overBudget) }
        return NoList(.failed(StoreError(error)))
    }

    /// Page and count see the same state.
    /// - Parameter steps: gets the steps of SQLite's machine that the page took.
    private func page(
        _ query: ItemQuery, _ idKind: IDKind, _ connection: Connection, steps: inout Int
    ) throws -> ItemPage {
        guard let counting = query.count else {
            return try rows(query, idKind, connection, steps: &steps)
        }
        return try connection.transaction(.deferred) {
            var page = try rows(query, idKind, connection, steps: &steps)
            try connection.query(counting.text, counting.arguments) { row in
                page.count = row[0]
                return false
            }
            return page
        }
    }

    /// The page without the count.
    private func rows(
        _ query: ItemQuery, _ idKind: IDKind, _ connection: Connection, steps: inout Int
    ) throws -> ItemPage {
        var page = ItemPage(items: [])
        page.items.reserveCapacity(min(query.rows, StoreLimits.operatorPage))
        steps = try connection.query(query.page.text, query.page.arguments) { row in
            // The query gives one row more than the page has.
            page.hasMore = page.items.count == query.rows
            if !page.hasMore { page.items.append(row.item(idKind)) }
            return !page.hasMore
        }
        return page
    }

    /// The numbers of all rows of a table that match, in their order, for a thread that may take its time; none
    /// of the SDKs' system tables.
    /// - Parameter isAbandoned: see ``listUnhurried``.
    @available(*, noasync)
    public func rowNumbers(
        _ found: FoundTable, _ query: TableQuery,
        isAbandoned: @escaping @Sendable () -> Bool = { false }
    ) -> Result<[Int64], NoList> {
        guard found.record != nil else { return .failure(NoList(.unknownTable)) }
        let size = PageSize(.mobileApps, rows: .max - 1)
        let asked: AskedList
        switch compiled(found, query, size, nil, beyondPart: true, selecting: "rowid") {
        case .success(let list): asked = list
        case .failure(let outcome): return .failure(outcome)
        }
        do {
            return .success(
                try read(
                    found.reader, steps: StoreLimits.longReadBudgetSteps, isAbandoned: isAbandoned
                ) { connection in
                    var numbers: [Int64] = []
                    try connection.query(asked.query.page.text, asked.query.page.arguments) {
                        numbers.append($0[0])
                        return true
                    }
                    return numbers
                })
        } catch {
            return .failure(Self.failed(error))
        }
    }

    /// The rows of a table with these numbers that are still there, in this order.
    @available(*, noasync)
    public func rows(
        _ found: FoundTable, numbers: [Int64]
    ) throws(StoreError) -> [Item] {
        guard let table = found.record else { return [] }
        let list = numbers.map(String.init).joined(separator: ",")
        let rows: [(Int64, Item)]
        do {
            rows = try read(found.reader, steps: StoreLimits.longReadBudgetSteps) {
                try $0.all(
                    """
                    SELECT \(StatementRow.itemColumns), rowid FROM items
                    WHERE rowid IN (\(list)) AND table_id = ?
                    """, [table.id], keep: false
                ) { ($0[StatementRow.itemColumnCount], $0.item(table.idKind)) }
            }
        } catch {
            throw StoreError(error)
        }
        let byNumber = Dictionary(rows) { first, _ in first }
        return numbers.compactMap { byNumber[$0] }
    }

    /// Looks an item up by its id, on the thread that found its table.
    /// - Parameter includeDeleted: whether a tombstone counts as the item.
    @available(*, noasync)
    public func get(_ table: FoundTable, _ id: ItemID, includeDeleted: Bool) -> GetOutcome {
        do {
            if let record = table.record {
                return try read(table.reader) {
                    try get(id, record, includeDeleted: includeDeleted, $0)
                }
            }
            switch table.otherwise {
            case .unknown: return .unknownTable
            case .failed(let error): return .failed(error)
            case .view(let view):
                return try read(table.reader) { try transaction($0).items.get(id, from: view) }
            }
        } catch {
            return .failed(StoreError(error))
        }
    }

    private func get(
        _ id: ItemID, _ table: TableRecord, includeDeleted: Bool, _ connection: Connection
    ) throws -> GetOutcome {
        var found = try item(table, id.text, connection)
        if found?.item.deleted ?? true,
            let other = try transaction(connection).items.row(table, id)?.id
        {
            found = try item(table, other.text, connection)
        }
        guard let (item, pending) = found else {
            return table.isWholeHere ? .missing : .unknownWhilePartial
        }
        if item.deleted, table.part != nil,
            try transaction(connection).items.row(table, exactly: item.id)?.mayHaveLeft ?? false
        {
            return .unknownWhilePartial
        }
        if item.deleted, !includeDeleted { return .gone(item) }
        return .item(item, state: ItemState(pending: pending))
    }

    /// The backend's version of an item that has no changes of its own here: a client may know it from
    /// an answer that was passed on. Nil where there is none.
    @available(*, noasync)
    public func backendVersion(_ table: FoundTable, _ id: ItemID) -> String? {
        guard let record = table.record else { return nil }
        let row = try? read(table.reader) {
            try transaction($0).items.row(record, id)
        }
        return row.flatMap { $0.pending == nil ? $0.serverVersion : nil }
    }

    /// The id under which the backend has an item: a client may know an earlier one, also while the item is
    /// not here.
    public func presentID(of id: ItemID, in name: TableName) async throws(StoreError) -> ItemID {
        try await read { transaction in
            guard let table = try transaction.tables.table(name) else { return id }
            return try transaction.items.presentID(table, id)
        }
    }

    /// Whether the store has an item with these values, so that writing them would change nothing.
    public func has(
        _ columns: Columns, in table: TableName, _ id: ItemID
    ) async throws(StoreError) -> Bool {
        try await read { transaction in
            guard let table = try transaction.tables.table(table),
                let row = try transaction.items.row(table, id)?.visible
            else { return false }
            return row.holds(columns)
        }
    }

    /// The item of exactly this id, and the state of its first open operation.
    private func item(
        _ table: TableRecord, _ id: String, _ connection: Connection
    ) throws -> (item: Item, pending: String?)? {
        try connection.first(Self.itemQuery, [table.id, id]) { row in
            (row.item(table.idKind), row[StatementRow.itemColumnCount] as String?)
        }
    }

    /// Reads on the calling thread's own connection.
    @available(*, noasync)
    private func read<T: Sendable>(
        _ worker: Int, steps: Int = StoreLimits.readBudgetSteps,
        isAbandoned: @escaping @Sendable () -> Bool = { false },
        _ body: (Connection) throws -> T
    ) throws -> T {
        try readers.access(worker) { connection in
            try connection.within(steps: steps, isAbandoned: isAbandoned) { try body(connection) }
        }
    }

    private static let itemQuery = """
        SELECT \(StatementRow.itemColumns), (SELECT state FROM operations WHERE seq = items.pending)
        FROM items WHERE table_id = ? AND id = ?
        """
}

extension ItemTable {
    /// A row of one of the SDKs' system tables.
    fileprivate func get(_ id: ItemID, from view: SDKView) throws -> GetOutcome {
        let item = try transaction.first(
            """
            SELECT \(StatementRow.itemColumns) FROM \(view.itemsView) WHERE id = ?
            """, [id.text]
        ) { $0.item(.string) }
        return item.map { .item($0, state: .synced) } ?? .missing
    }
}
