import GRDB
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
            table, query, pageRows ?? generation.pageRows(top: query.top),
            on: readers[worker % readers.count], steps: StoreLimits.readBudgetSteps)
    }

    /// As ``list``, for a thread that may take its time: on a connection of its own and with a budget
    /// that only a runaway query exceeds.
    @available(*, noasync)
    public func listUnhurried(
        _ table: TableName, _ query: TableQuery, generation: Generation, pageRows: Int? = nil
    ) -> ListOutcome {
        list(
            table, query, pageRows ?? generation.pageRows(top: query.top), on: unhurried,
            steps: StoreLimits.longReadBudgetSteps)
    }

    @available(*, noasync)
    private func list(
        _ name: TableName, _ query: TableQuery, _ pageRows: Int, on reader: Reader, steps: Int
    ) -> ListOutcome {
        do {
            return try reader.read(steps: steps) { db in
                if let view = SDKView(name) {
                    let compiled = ItemQuery(query, view: view, pageRows: pageRows)
                    return .page(try page(compiled, .string, db, reader))
                }
                guard let table = try known(name, db) else { return .unknownTable }
                let compiled = ItemQuery(query, table: table, pageRows: pageRows)
                let page = try page(compiled, table.idKind, db, reader)
                return table.isComplete ? .page(page) : .partial(page)
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            return .overBudget
        } catch {
            return .failed(StoreError(error).description)
        }
    }

    /// Page and count see the same state.
    private func page(
        _ query: ItemQuery, _ idKind: IDKind, _ db: Database, _ reader: Reader
    ) throws -> ItemPage {
        guard let counting = query.count else {
            return try rows(query, idKind, db, reader)
        }
        var page = ItemPage(items: [])
        try db.inTransaction(.deferred) {
            page = try rows(query, idKind, db, reader)
            let statement = try reader.statement(db, counting.text)
            page.count = try Int.fetchOne(statement, arguments: counting.bound)
            return .commit
        }
        return page
    }

    private func rows(
        _ query: ItemQuery, _ idKind: IDKind, _ db: Database, _ reader: Reader
    ) throws -> ItemPage {
        let statement = try reader.statement(db, query.page.text)
        var items = try StatementRows.items(
            statement, query.page.bound, idKind: idKind,
            reserving: min(query.rows, StoreLimits.operatorPage) + 1)
        watch.note(query, steps: StatementSteps.take(statement), rows: items.count)
        let hasMore = items.count > query.rows
        if hasMore { items.removeLast() }
        return ItemPage(items: items, hasMore: hasMore)
    }

    /// Looks an item up by its id on the calling server worker's own connection.
    /// - Parameter includeDeleted: whether a tombstone counts as the item.
    @available(*, noasync)
    public func get(
        _ name: TableName, _ id: ItemID, includeDeleted: Bool, worker: Int
    ) -> GetOutcome {
        let reader = readers[worker % readers.count]
        do {
            return try reader.read(steps: StoreLimits.readBudgetSteps) { db in
                if let view = SDKView(name) { return try get(view, id, db) }
                guard let table = try known(name, db) else { return .unknownTable }
                return try get(id, table, includeDeleted: includeDeleted, db)
            }
        } catch {
            return .failed(StoreError(error).description)
        }
    }

    private func get(_ view: SDKView, _ id: ItemID, _ db: Database) throws -> GetOutcome {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT id, columns, created_at, stamp, version, deleted
                    FROM \(view.itemsView) WHERE id = ?
                    """), arguments: [id.text])
        return row.map { .item(Item($0, idKind: .string), state: .synced) } ?? .missing
    }

    private func get(
        _ id: ItemID, _ table: TableRecord, includeDeleted: Bool, _ db: Database
    ) throws -> GetOutcome {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, columns, created_at, stamp, version, deleted,
                  (SELECT state FROM operations WHERE seq = items.pending)
                FROM items WHERE table_id = ? AND id = ?
                """)
        var found = try StatementRows.item(statement, table.id, id.text, idKind: table.idKind)
        if found?.0.deleted ?? true, let other = try transaction(db).row(table, id)?.id {
            found = try StatementRows.item(statement, table.id, other.text, idKind: table.idKind)
        }
        guard let (item, pending) = found else {
            return table.isComplete ? .missing : .unknownWhilePartial
        }
        if item.deleted, !includeDeleted { return .gone(item) }
        return .item(item, state: ItemState(pending: pending))
    }

    /// What is known of a table, for the routes: from memory after the first time.
    @available(*, noasync)
    public func table(_ name: TableName, worker: Int) -> TableSettings? {
        if let record = catalog.remembered(name) { return TableSettings(record) }
        let reader = readers[worker % readers.count]
        let record = try? reader.read(steps: StoreLimits.readBudgetSteps) { try known(name, $0) }
        return record.flatMap { $0 }.map(TableSettings.init)
    }

    private func known(_ name: TableName, _ db: Database) throws -> TableRecord? {
        try catalog.table(name) { try transaction(db).table(name) }
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

extension Generation {
    /// Rows in one answer: the first generation gives as many as asked for up to a thousand, the
    /// others never more than a page.
    func pageRows(top: Int?) -> Int {
        switch self {
        case .mobileServices: min(top ?? pageRows, StoreLimits.firstGenerationRows)
        case .mobileApps, .datasync: pageRows
        }
    }
}

extension SQLFragment {
    /// The arguments as GRDB binds them.
    var bound: StatementArguments { StatementArguments(arguments.map { $0.databaseValue }) }
}

extension Item {
    /// Takes the columns id, columns, created_at, stamp, version, deleted.
    init(_ row: Row, idKind: IDKind) {
        self.init(
            id: ItemID(stored: row[0], kind: idKind), columns: Columns(stored: row[1]),
            createdAt: (row[2] as Int64?).map { Instant(milliseconds: $0) },
            updatedAt: Instant(milliseconds: row[3]), version: row[4], deleted: row[5])
    }
}
