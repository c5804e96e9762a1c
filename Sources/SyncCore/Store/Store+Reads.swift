import Storage
import Synchronization
public import TablesProtocol

extension Store {
    /// Lists a table on the calling server worker's own connection.
    /// - Parameters:
    ///   - generation: whose page size holds.
    ///   - pageRows: another page size.
    ///   - pairs: leaves only items that a list with a client's own pairs had, see ``OwnPairs``.
    ///   - beyondPart: whether a list that is not within the part of a table gives what is here.
    ///   - worker: the caller's number; two threads never use the same at once.
    @available(*, noasync)
    public func list(
        _ table: TableName, _ query: TableQuery, generation: Generation, pageRows: Int? = nil,
        within pairs: OwnPairs? = nil, beyondPart: Bool = false, worker: Int
    ) -> ListOutcome {
        list(
            table, query, PageSize(generation, rows: pageRows), pairs, beyondPart: beyondPart,
            reader(of: worker), steps: StoreLimits.readBudgetSteps, isAbandoned: { false })
    }

    /// As ``list``, for a thread that may take its time: with a budget that only a runaway query exceeds.
    /// - Parameter isAbandoned: whether the caller has no use for the rows any more; asked while the list
    ///   runs, to end it.
    @available(*, noasync)
    public func listUnhurried(
        _ table: TableName, _ query: TableQuery, generation: Generation, pageRows: Int? = nil,
        within pairs: OwnPairs? = nil, beyondPart: Bool = false, worker: Int,
        isAbandoned: @escaping @Sendable () -> Bool = { false }
    ) -> ListOutcome {
        list(
            table, query, PageSize(generation, rows: pageRows), pairs, beyondPart: beyondPart,
            reader(of: worker), steps: StoreLimits.longReadBudgetSteps, isAbandoned: isAbandoned)
    }

    @available(*, noasync)
    private func list(
        _ name: TableName, _ query: TableQuery, _ size: PageSize, _ pairs: OwnPairs?,
        beyondPart: Bool, _ reader: ClientReader, steps: Int,
        isAbandoned: @escaping @Sendable () -> Bool
    ) -> ListOutcome {
        do {
            let table = try SDKView(name) == nil ? known(name, reader) : nil
            var (query, isWithin) = (query, true)
            // Which rows a list with pairs of the client's own has is known apart from the part.
            if let table, let part = table.part, pairs == nil {
                let asked = part.asked(query, from: table.partGeneration)
                isWithin = asked != nil
                guard isWithin || beyondPart else { return .beyondPart }
                query = asked ?? query
            }
            let most = size.most(query, of: table)
            let compiled: ItemQuery
            if let view = SDKView(name) {
                compiled = ItemQuery(query, view: view, pageRows: most, now: clock.now())
            } else if let table {
                compiled = ItemQuery(
                    query, table: table, pageRows: most,
                    within: has(.parametersForgotten) ? nil : pairs, now: clock.now())
            } else {
                return .unknownTable
            }
            let found = try reader.read(steps: steps, isAbandoned: isAbandoned) {
                try page(compiled, table?.idKind ?? .string, $0)
            }
            return isWithin && table?.isComplete ?? true ? .page(found) : .partial(found)
        } catch {
            if case .interrupted = StorageError(error) { return .overBudget }
            return .failed(StoreError(error))
        }
    }

    /// Page and count see the same state.
    private func page(
        _ query: ItemQuery, _ idKind: IDKind, _ connection: Connection
    ) throws -> ItemPage {
        guard let counting = query.count else { return try rows(query, idKind, connection) }
        return try connection.transaction(.deferred) {
            var page = try rows(query, idKind, connection)
            try connection.query(counting.text, counting.arguments) { row in
                page.count = row[0]
                return false
            }
            return page
        }
    }

    /// The page without the count.
    private func rows(
        _ query: ItemQuery, _ idKind: IDKind, _ connection: Connection
    ) throws -> ItemPage {
        var page = ItemPage(items: [])
        page.items.reserveCapacity(min(query.rows, StoreLimits.operatorPage))
        try connection.query(query.page.text, query.page.arguments) { row in
            // The query gives one row more than the page has.
            page.hasMore = page.items.count == query.rows
            if !page.hasMore { page.items.append(row.item(idKind)) }
            return !page.hasMore
        }
        return page
    }

    /// Looks an item up by its id on the calling server worker's own connection.
    /// - Parameter includeDeleted: whether a tombstone counts as the item.
    @available(*, noasync)
    public func get(
        _ name: TableName, _ id: ItemID, includeDeleted: Bool, worker: Int
    ) -> GetOutcome {
        let reader = reader(of: worker)
        do {
            if let view = SDKView(name) {
                return try reader.read(steps: StoreLimits.readBudgetSteps) {
                    try transaction($0).items.get(id, from: view)
                }
            }
            guard let table = try known(name, reader) else { return .unknownTable }
            return try get(id, table, includeDeleted: includeDeleted, reader)
        } catch {
            return .failed(StoreError(error))
        }
    }

    @available(*, noasync)
    private func get(
        _ id: ItemID, _ table: TableRecord, includeDeleted: Bool, _ reader: ClientReader
    ) throws -> GetOutcome {
        var found = try item(table, id.text, reader)
        if found?.item.deleted ?? true,
            let other = try reader.read(
                steps: StoreLimits.readBudgetSteps, { try transaction($0).items.row(table, id)?.id }
            )
        {
            found = try item(table, other.text, reader)
        }
        guard let (item, pending) = found else {
            return table.isWholeHere ? .missing : .unknownWhilePartial
        }
        if item.deleted, table.part != nil,
            try reader.read(
                steps: StoreLimits.readBudgetSteps,
                { try transaction($0).items.row(table, exactly: item.id)?.mayHaveLeft ?? false })
        {
            return .unknownWhilePartial
        }
        if item.deleted, !includeDeleted { return .gone(item) }
        return .item(item, state: ItemState(pending: pending))
    }

    /// The backend's version of an item that has no changes of its own here: a client may know it from
    /// an answer that was passed on. Nil where there is none.
    @available(*, noasync)
    public func backendVersion(_ name: TableName, _ id: ItemID, worker: Int) -> String? {
        let reader = reader(of: worker)
        let row = try? known(name, reader).flatMap { table in
            try reader.read(steps: StoreLimits.readBudgetSteps) {
                try transaction($0).items.row(table, id)
            }
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

    /// The item of exactly this id, and the state of its first open operation.
    @available(*, noasync)
    private func item(
        _ table: TableRecord, _ id: String, _ reader: ClientReader
    ) throws -> (item: Item, pending: String?)? {
        try reader.read(steps: StoreLimits.readBudgetSteps) { connection in
            try connection.first(Self.itemQuery, [table.id, id]) { row in
                (row.item(table.idKind), row[StatementRow.itemColumnCount] as String?)
            }
        }
    }

    private static let itemQuery = """
        SELECT \(StatementRow.itemColumns), (SELECT state FROM operations WHERE seq = items.pending)
        FROM items WHERE table_id = ? AND id = ?
        """

    /// What is known of a table, for the routes: from memory after the first time.
    @available(*, noasync)
    public func table(_ name: TableName, worker: Int) -> TableSettings? {
        let reader = reader(of: worker)
        if let record = reader.catalog.remembered(name) { return TableSettings(record) }
        let record = try? known(name, reader)
        return record.flatMap { $0 }.map(TableSettings.init)
    }

    /// The connection of a server worker, which is used now.
    private func reader(of worker: Int) -> ClientReader {
        let reader = readers[worker % readers.count]
        reader.isUsed.store(true, ordering: .relaxed)
        return reader
    }

    @available(*, noasync)
    private func known(_ name: TableName, _ reader: ClientReader) throws -> TableRecord? {
        try reader.catalog.table(name) {
            try reader.read(steps: StoreLimits.readBudgetSteps) {
                try transaction($0).tables.table(name)
            }
        }
    }
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
