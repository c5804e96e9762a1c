import Storage
import Synchronization
public import TablesProtocol

extension Store {
    /// Lists a table on the calling server worker's own connection.
    /// - Parameters:
    ///   - generation: whose page size holds.
    ///   - pageRows: another page size.
    ///   - worker: the caller's number; two threads never use the same at once.
    @available(*, noasync)
    public func list(
        _ table: TableName, _ query: TableQuery, generation: Generation, pageRows: Int? = nil,
        worker: Int
    ) -> ListOutcome {
        list(
            table, query, PageSize(generation, rows: pageRows), on: reader(of: worker),
            steps: StoreLimits.readBudgetSteps, into: ItemPage(items: []))
    }

    /// The same as text, written row by row.
    /// - Parameter page: the empty page of the answer.
    @available(*, noasync)
    public func list(
        _ table: TableName, _ query: TableQuery, into page: PageText, generation: Generation,
        worker: Int
    ) -> ListAnswer<PageText> {
        list(
            table, query, PageSize(generation), on: reader(of: worker),
            steps: StoreLimits.readBudgetSteps, into: page)
    }

    /// As ``list``, for a thread that may take its time: with a budget that only a runaway query exceeds.
    /// - Parameter isLeft: whether no one wants the rows any more; asked while the list runs, to end it.
    @available(*, noasync)
    public func listUnhurried(
        _ table: TableName, _ query: TableQuery, generation: Generation, pageRows: Int? = nil,
        worker: Int, isLeft: @escaping @Sendable () -> Bool = { false }
    ) -> ListOutcome {
        list(
            table, query, PageSize(generation, rows: pageRows), on: reader(of: worker),
            steps: StoreLimits.longReadBudgetSteps, isLeft: isLeft, into: ItemPage(items: []))
    }

    @available(*, noasync)
    private func list<Page: PageOfRows>(
        _ name: TableName, _ query: TableQuery, _ size: PageSize, on reader: ClientReader,
        steps: Int, isLeft: @escaping @Sendable () -> Bool = { false }, into empty: Page
    ) -> ListAnswer<Page> {
        do {
            if let view = SDKView(name) {
                let compiled = ItemQuery(
                    query, view: view, pageRows: size.most(query, of: nil), now: clock.now())
                return .page(try page(compiled, .string, reader, steps, isLeft, empty))
            }
            guard let table = try known(name, reader) else { return .unknownTable }
            let compiled = ItemQuery(
                query, table: table, pageRows: size.most(query, of: table), now: clock.now())
            let page = try page(compiled, table.idKind, reader, steps, isLeft, empty)
            return table.isComplete ? .page(page) : .partial(page)
        } catch {
            if case .interrupted = StorageError(error) { return .overBudget }
            return .failed(StoreError(error))
        }
    }

    /// Page and count see the same state.
    @available(*, noasync)
    private func page<Page: PageOfRows>(
        _ query: ItemQuery, _ idKind: IDKind, _ reader: ClientReader, _ steps: Int,
        _ isLeft: @escaping @Sendable () -> Bool, _ empty: Page
    ) throws -> Page {
        try reader.read(steps: steps, isLeft: isLeft) { connection in
            guard let counting = query.count else {
                return try filled(empty, connection, query, idKind)
            }
            return try connection.transaction(.deferred) {
                var page = try filled(empty, connection, query, idKind)
                try connection.query(counting.text, counting.arguments) { row in
                    page.count = row[0]
                    return false
                }
                return page
            }
        }
    }

    /// The page with its rows, whose cost the store remembers.
    private func filled<Page: PageOfRows>(
        _ empty: Page, _ connection: Connection, _ query: ItemQuery, _ idKind: IDKind
    ) throws -> Page {
        let filled = try empty.filled(from: connection, query, idKind)
        costlyLists.note(query, steps: filled.steps, rows: filled.rows)
        return filled.page
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
            return table.isComplete ? .missing : .unknownWhilePartial
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

extension ItemState {
    /// The state that an item has by its first open operation's; nil for none.
    init(pending state: String?) {
        switch state.flatMap(OperationState.init) {
        case .conflict: self = .conflict
        case .quarantined: self = .quarantined
        case .queued, .sending, .waiting, .unknown: self = .pending
        case .done, .discarded, .collapsed, nil: self = .synced
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
