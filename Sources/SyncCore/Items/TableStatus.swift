public import TablesProtocol

/// One table as the operator sees it.
public struct TableStatus: Sendable, Hashable {
    /// The name as first spelled.
    public var name: String
    /// Items that are not deleted.
    public var items: Int
    /// Open operations.
    public var pending: Int
    /// Whether a pull has completed once.
    public var isComplete: Bool
    /// When a pull last completed.
    public var lastPull: Instant?
    /// How reads are answered.
    public var readPolicy: ReadPolicy
    /// When writes are answered.
    public var writePolicy: WritePolicy
    /// What decides conflicts.
    public var conflictPolicy: ConflictPolicy
    /// What decides conflicts of writes without If-Match: `ask` or `client`.
    public var unconditionalPolicy: ConflictPolicy
    /// Whether all identities share the anonymous store's table.
    public var isPublic: Bool
    /// What the ids are.
    public var idKind: IDKind
    /// How the backend's table is paged.
    public var paging: Paging
    /// By which columns an item needs items of other tables: inserted after them, deleted before.
    public var parents: [ParentLink]
    /// Whether an update that is followed by a delete is sent all the same, before it.
    public var preservesHistory: Bool
    /// What a person should know, in plain words: why pulls fail, rows that are set aside, how the
    /// backend lists it.
    public var warning: String?
    /// Why its pulls fail; nil while they succeed.
    public var pullError: String?
    /// Since when they fail.
    public var pullsFailSince: Instant?
    /// Rows of the backend that are not here since they cannot be taken.
    public var setAside: Int
    /// The indexes that it has, then those that its lists asked for.
    public var indexes: [IndexStatus]
}

/// The tables as the operator sees them.
struct TableStatuses {
    let transaction: Transaction
    private var setAsideRows: SetAsideRows { transaction.setAsideRows }
    private var tables: TableRecords { transaction.tables }

    /// Every table as the operator sees it, by name.
    func all() throws -> [TableStatus] {
        try tables.all().map { try status($0) }
    }

    /// One table as the operator sees it.
    func status(_ table: TableRecord) throws -> TableStatus {
        let items = try transaction.integer(
            "SELECT live_items FROM table_counters WHERE table_id = ?", [table.id])
        let pending = try transaction.integer(
            """
            SELECT sum(count) FROM state_counts
            WHERE table_id = ? AND state NOT IN ('done', 'discarded', 'collapsed')
            """, [table.id])
        let setAside = try setAsideRows.count(of: table.id)
        return TableStatus(
            name: table.name.text, items: Int(items ?? 0), pending: Int(pending ?? 0),
            isComplete: table.isComplete, lastPull: table.lastPullAt,
            readPolicy: table.readPolicy, writePolicy: table.writePolicy,
            conflictPolicy: table.conflictPolicy, unconditionalPolicy: table.unconditionalPolicy,
            isPublic: table.isPublic, idKind: table.idKind, paging: table.paging,
            parents: table.parents, preservesHistory: table.preservesHistory,
            warning: warning(table, setAside: setAside), pullError: table.pullError,
            pullsFailSince: table.pullsFailSince, setAside: setAside,
            indexes: try TableIndexes(transaction).statuses(of: table.id))
    }

    private func warning(_ table: TableRecord, setAside: Int) -> String? {
        var sentences: [String] = []
        if let error = table.pullError { sentences.append("Its pulls fail: \(error)") }
        if setAside > 0 {
            let rows =
                setAside == 1
                ? "1 row of the backend is not here, since it"
                : "\(setAside) rows of the backend are not here, since they"
            sentences.append("\(rows) cannot be taken.")
        }
        sentences += [table.warning].compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }
}

extension Store {
    /// Changes the policies and flags of a table, which is made when it is new. That its ids are
    /// the backend's to give can be said before there are items. Names, counts and times are not
    /// changed.
    public func updateTable(
        _ name: TableName, _ change: @escaping @Sendable (inout TableStatus) -> Void
    ) async throws(StoreError) -> TableStatus {
        try await write { transaction in
            var table = try transaction.tables.make(name)
            var status = try TableStatuses(transaction: transaction).status(table)
            change(&status)
            table.readPolicy = status.readPolicy
            table.writePolicy = status.writePolicy
            table.conflictPolicy = status.conflictPolicy
            table.unconditionalPolicy = status.unconditionalPolicy
            table.isPublic = status.isPublic
            table.paging = status.paging
            table.parents = status.parents
            table.preservesHistory = status.preservesHistory
            try transaction.tables.save(table)
            if status.idKind == .integer {
                try IDKinds(transaction: transaction).adoptIntegerIDs(&table)
            }
            transaction.events.emit(.status, table: table.name)
            return try TableStatuses(transaction: transaction).status(table)
        }
    }
}
