import TablesProtocol

/// A list query compiled for one table.
struct ItemQuery {
    /// The page, with one row more than asked for, to know whether more follow.
    let page: SQLFragment
    /// The number that match; nil when not asked for.
    private(set) var count: SQLFragment?
    /// Rows on the page at most.
    let rows: Int

    /// Compiles a query over the items of a table.
    init(_ query: TableQuery, table: TableRecord, pageRows: Int) {
        let schema = ItemSQLSchema(hasIntegerIDs: table.idKind == .integer)
        let spellings = table.spellings
        self.init(
            query, source: SQLFragment("items", []),
            scope: SQLFragment("table_id = ?", [.integer(table.id)]),
            offset: Self.offset(query, table),
            compiler: SQLCompiler(schema, spelling: { spellings.spelling(of: $0) }),
            pageRows: pageRows)
        // Without a condition the count is kept already.
        guard query.count, query.filter == nil, !query.includeDeleted else { return }
        count = SQLFragment(
            "SELECT live_items FROM table_counters WHERE table_id = ?", [.integer(table.id)])
    }

    /// How many rows are left out before the page.
    ///
    /// A client that syncs asks for what changed at T or later, T being the last change it saw, and
    /// passes that one row over with `$skip`. When that row has changed meanwhile it is at the end,
    /// and another one would be passed over, never to be seen: then one row less is left out.
    private static func offset(_ query: TableQuery, _ table: TableRecord) -> SQLFragment {
        if query.after != nil { return SQLFragment("0") }
        let skip = SQLValue.integer(Int64(query.skip))
        guard query.skip > 0, query.includeDeleted, query.isInOrderOfChange,
            let since = query.changedSince
        else { return SQLFragment("?", [skip]) }
        return SQLFragment(
            "? - NOT EXISTS (SELECT 1 FROM items WHERE table_id = ? AND stamp = ?)",
            [skip, .integer(table.id), .integer(since.milliseconds)])
    }

    /// Compiles a query over one of the SDKs' system tables.
    init(_ query: TableQuery, view: SDKView, pageRows: Int) {
        self.init(
            query, source: SQLFragment(view.itemsView), scope: SQLFragment("1"),
            offset: SQLFragment("?", [.integer(Int64(query.skip))]),
            compiler: SQLCompiler(ItemSQLSchema()), pageRows: pageRows)
    }

    private init(
        _ query: TableQuery, source: SQLFragment, scope: SQLFragment, offset: SQLFragment,
        compiler: SQLCompiler, pageRows: Int
    ) {
        rows = min(query.top ?? .max, pageRows)
        var conditions = [scope]
        if !query.includeDeleted { conditions.append(SQLFragment("deleted = 0")) }
        if let filter = query.filter { conditions.append(compiler.filter(filter)) }
        let matching = SQLFragment(
            "FROM \(source.text) WHERE \(conditions.map(\.text).joined(separator: " AND "))",
            conditions.flatMap(\.arguments))
        let order = compiler.ordering(query.orderBy)
        let after = query.after.map { SQLFragment(" AND stamp > ?", [.integer($0.milliseconds)]) }
        page = SQLFragment(
            """
            SELECT id, columns, created_at, stamp, version, deleted \(matching.text)\
            \(after?.text ?? "") ORDER BY \(order.text) LIMIT ? OFFSET \(offset.text)
            """,
            matching.arguments + (after?.arguments ?? []) + order.arguments
                + [.integer(Int64(rows) + 1)] + offset.arguments)
        count =
            query.count
            ? SQLFragment("SELECT count(*) \(matching.text)", matching.arguments) : nil
    }
}
