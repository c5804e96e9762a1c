import Storage
import Synchronization
public import TablesProtocol

/// A list query compiled for one table.
struct ItemQuery {
    /// The page, with one row more than asked for, to know whether more follow.
    let page: SQLFragment
    /// The number that match; nil when not asked for.
    private(set) var count: SQLFragment?
    /// Rows on the page at most.
    let rows: Int

    /// Compiles a query over the items of a table.
    /// - Parameters:
    ///   - pairs: if given, only items that a list with these pairs had, and new items that wait to be sent.
    ///   - columns: the columns that are read of each row.
    init(
        _ query: TableQuery, table: TableRecord, pageRows: Int, within pairs: OwnPairs? = nil,
        selecting columns: String = StatementRow.itemColumns
    ) {
        let schema = ItemSQLSchema(hasIntegerIDs: table.idKind == .integer)
        let spellings = table.spellings
        let compiler = SQLCompiler(
            schema, nulls: query.nulls, spelling: { spellings.spelling(of: $0) })
        let scope = SQLFragment("table_id = ?", [.integer(table.id)])
        let constants = Self.indexedConstants(of: query, table)
        let indexed = constants.map { constants in
            let terms = constants.map { compiler.indexCondition($0.column, equals: $0.value) }
            return SQLFragment(
                ([TableIndex.scope(table.id)] + terms.map(\.text)).joined(separator: " AND "),
                terms.flatMap(\.arguments))
        }
        let isHeld = constants?.isEmpty == false
        // A count looks at every row of an index of which no column must equal one value.
        let countScope = isHeld ? indexed : nil
        let text = isHeld ? nil : query.filter.flatMap { compiler.textCondition($0) }
        self.init(
            query, source: SQLFragment("items", []), scope: indexed ?? scope,
            countScope: countScope ?? scope,
            within: [pairs.map { Self.given(by: $0, table) }, text].compactMap(\.self),
            offset: Self.offset(query, table),
            compiler: compiler, pageRows: pageRows, columns: columns)
        // Without a condition the count is kept already.
        guard pairs == nil, query.count, query.filter == nil, !query.includeDeleted else { return }
        count = SQLFragment(
            "SELECT live_items FROM table_counters WHERE table_id = ?", [.integer(table.id)])
    }

    /// The condition for items that a list with a client's own pairs had, or that were made here and wait.
    private static func given(by pairs: OwnPairs, _ table: TableRecord) -> SQLFragment {
        SQLFragment(
            """
            (id IN (SELECT item_id FROM members WHERE token =
                (SELECT id FROM tokens WHERE table_id = ? AND query_id = ?))
              OR pending IS NOT NULL AND server_updated_at IS NULL AND server_version IS NULL)
            """, [.integer(table.id), .text(pairs.queryID)])
    }

    /// The constants to which the query holds the first columns of the index that returns the page in its order;
    /// nil where no index does.
    static func indexedConstants(
        of query: TableQuery, _ table: TableRecord
    ) -> [(column: Expression.Column, value: Expression.Literal)]? {
        guard !table.indexes.isEmpty,
            let list = query.indexedList(spelling: { table.spellings.spelling(of: $0) })
        else { return nil }
        return table.indexes.compactMap { list.constants(in: $0.shape) }
            .max { $0.count < $1.count }
    }

    /// What an index must have to return the page in its order; nil where there is one, or none would.
    static func missingIndex(for query: TableQuery, _ table: TableRecord) -> IndexedList? {
        guard indexedConstants(of: query, table) == nil,
            let list = query.indexedList(spelling: { table.spellings.spelling(of: $0) }),
            list.shape != nil
        else { return nil }
        return list
    }

    /// How many rows are left out before the page.
    ///
    /// A client that syncs asks for rows that changed at T or later, where T is the last change that it saw. It
    /// leaves out that one row with `$skip`. If the row has changed since, it has moved to the end, and `$skip`
    /// would leave out a row that the client has not seen. So one row less is left out then. A client that has
    /// seen no change yet asks since 1970, and its `$skip` is taken as it is.
    private static func offset(_ query: TableQuery, _ table: TableRecord) -> SQLFragment {
        if query.after != nil { return SQLFragment("0") }
        let skip = SQLValue.integer(Int64(query.skip))
        guard query.skip > 0, query.includeDeleted, query.isInOrderOfChange,
            let since = query.changedSince, since.milliseconds > 0
        else { return SQLFragment("?", [skip]) }
        return SQLFragment(
            "? - NOT EXISTS (SELECT 1 FROM items WHERE table_id = ? AND stamp = ?)",
            [skip, .integer(table.id), .integer(since.milliseconds)])
    }

    /// Compiles a query over one of the SDKs' system tables.
    init(_ query: TableQuery, view: SDKView, pageRows: Int) {
        self.init(
            query, source: SQLFragment(view.itemsView), scope: SQLFragment("1"),
            countScope: SQLFragment("1"), within: [],
            offset: SQLFragment("?", [.integer(Int64(query.skip))]),
            compiler: SQLCompiler(ItemSQLSchema(), nulls: query.nulls),
            pageRows: pageRows, columns: StatementRow.itemColumns)
    }

    private init(
        _ query: TableQuery, source: SQLFragment, scope: SQLFragment, countScope: SQLFragment,
        within: [SQLFragment], offset: SQLFragment, compiler: SQLCompiler, pageRows: Int,
        columns: String
    ) {
        rows = min(query.top ?? .max, pageRows)
        var conditions = within
        if !query.includeDeleted { conditions.append(SQLFragment("deleted = 0")) }
        if let filter = query.filter { conditions.append(compiler.filter(filter)) }
        func matching(_ scope: SQLFragment) -> SQLFragment {
            let all = [scope] + conditions
            return SQLFragment(
                "FROM \(source.text) WHERE \(all.map(\.text).joined(separator: " AND "))",
                all.flatMap(\.arguments))
        }
        let page = matching(scope)
        let order = compiler.ordering(query.orderBy)
        let after = query.after.map { SQLFragment(" AND stamp > ?", [.integer($0.milliseconds)]) }
        self.page = SQLFragment(
            """
            SELECT \(columns) \(page.text)\
            \(after?.text ?? "") ORDER BY \(order.text) LIMIT ? OFFSET \(offset.text)
            """,
            page.arguments + (after?.arguments ?? []) + order.arguments
                + [.integer(Int64(rows) + 1)] + offset.arguments)
        let counted = query.count ? matching(countScope) : nil
        count = counted.map { SQLFragment("SELECT count(*) \($0.text)", $0.arguments) }
    }
}

/// Of each table the last list that looked through so many rows that it left the server's thread, and that an index
/// would have served.
final class SlowLists: Sendable {
    private let missing = Mutex<[Int64: IndexedList]>([:])

    /// - Parameter list: nil for a list that no index would have served.
    func note(_ list: IndexedList?, in table: TableRecord) {
        if let list { missing.withLock { $0[table.id] = list } }
    }

    /// What the operator is told; nil where there is nothing to tell, or the index is there.
    func sentence(on table: TableRecord) -> String? {
        guard let list = missing.withLock({ $0[table.id] }), let index = list.shape,
            !table.indexes.contains(where: { list.constants(in: $0.shape) != nil })
        else { return nil }
        return "A list of it looked through many rows. An index by \(index.text) would serve it."
    }
}

/// How many rows one answer to a client has at most.
struct PageSize {
    let generation: Generation
    /// What the caller takes instead, such as an operator's page.
    let rows: Int?

    init(_ generation: Generation, rows: Int? = nil) {
        (self.generation, self.rows) = (generation, rows)
    }

    /// The most rows for a query.
    ///
    /// 1. A client that names a number gets so many, up to a thousand, where the backend's pages are that
    ///    large too: the first generation's servers always gave them.
    /// 2. One that names none gets its generation's page, and a larger one where the backend was seen to
    ///    give larger ones; the first generation's servers never did.
    func most(_ query: TableQuery, of table: TableRecord?) -> Int {
        if let rows { return rows }
        let cut = generation == .mobileServices ? nil : table?.pageRows
        let most = min(
            cut.map { max($0, generation.pageRows) } ?? StoreLimits.pageRows, StoreLimits.pageRows)
        if let top = query.top { return min(top, most) }
        let isLarge = table?.largestPageRows ?? 0 > generation.pageRows
        return generation != .mobileServices && isLarge ? most : generation.pageRows
    }
}

/// The SDKs' system tables, which are shown read-only under their own names.
enum SDKView: String, Sendable, CaseIterable {
    case operations = "MS_TableOperations"
    case errors = "MS_TableOperationErrors"
    case config = "MS_TableConfig"

    /// The view that a table's name means; nil for a user's table.
    init?(_ table: TableName) {
        guard let view = Self.byKey[table.key] else { return nil }
        self = view
    }

    private static let byKey = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

    /// The view that has the columns of an item, so that it is queried as every table is.
    var itemsView: String { rawValue + "_items" }
}

public enum ListOutcome: Sendable {
    case page(ItemPage)
    /// What is here so far: the table's first pull has not completed.
    case partial(ItemPage)
    /// Only a part of the table is copied (``TablePart``), and the list may have other rows.
    case beyondPart
    case unknownTable
    /// The query names what this table cannot be asked for.
    case invalid(ODataError)
    /// The query was cut: by its budget of steps, by ``StoreLimits/readMilliseconds``, or because no one
    /// wants the rows any more. After the short budget it can run again where it may take its time.
    case overBudget
    /// The store failed, for this reason.
    case failed(StoreError)

    /// The same rows as a part of those that there are.
    public var asPart: ListOutcome {
        if case .page(let page) = self { .partial(page) } else { self }
    }

    public var asWhole: ListOutcome {
        if case .partial(let page) = self { .page(page) } else { self }
    }
}

/// What a look-up by id gives.
public enum GetOutcome: Sendable, Hashable {
    case item(Item, state: ItemState)
    case missing
    /// Only the tombstone is left.
    case gone(Item)
    case unknownTable
    /// Not here, and it is not known whether it exists: before the first pull, and beyond the part of a table.
    case unknownWhilePartial
    /// The store failed, for this reason.
    case failed(StoreError)
}

/// How an item stands to the backend.
public enum ItemState: String, Codable, Sendable, Hashable, CaseIterable {
    case synced, pending, conflict, quarantined
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

/// Why a list could not be read: an outcome without a page.
public struct NoList: Error, Sendable {
    public let outcome: ListOutcome

    init(_ outcome: ListOutcome) { self.outcome = outcome }
}
