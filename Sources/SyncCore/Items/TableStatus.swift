import Storage
import Synchronization
public import TablesProtocol

/// A table's status for the operator.
public struct TableStatus: Sendable, Hashable {
    /// The name as first spelled.
    public var name: String
    public var items: Int
    /// The number of open operations.
    public var pending: Int
    /// Whether a pull has completed once.
    public var isComplete: Bool
    /// The part that is copied, as it was written (``TablePart``); nil for the whole table.
    public var part: String?
    public var lastPull: Instant?
    /// How reads are answered, as it was chosen.
    public var readPolicy: ReadPolicy
    /// When writes are answered, as it was chosen.
    public var writePolicy: WritePolicy
    /// What holds where ``ReadPolicy/standard`` and ``WritePolicy/standard`` are chosen.
    public internal(set) var standard = StandardPolicies()
    public var conflictPolicy: ConflictPolicy
    /// For conflicts of writes whose client sent no condition: `client` lets the local change win; `ask`
    /// leaves them to ``conflictPolicy``.
    public var unconditionalPolicy: ConflictPolicy
    /// Whether all identities share the anonymous store's table.
    public var isPublic: Bool
    public var idKind: IDKind
    /// How pulls page through the backend's table.
    public var paging: Paging
    /// The columns that refer to items of other tables, which are inserted before and deleted after.
    public var parents: [ParentLink]
    /// Whether an update that is due is sent before the delete that follows it.
    public var preservesHistory: Bool
    public var pause: TablePause
    /// A warning in plain words: what is paused, why its changes wait, why pulls fail, rows that are set aside, rows without a
    /// version, the backend's paging or clocks, or indexes that are not built.
    public var warning: String?
    /// Why its pulls fail; nil if the last one succeeded. A pull that was cancelled, or that ended
    /// because the backend could not be used, does not count.
    public var pullError: String?
    public var pullsFailSince: Instant?
    /// Why its operations are put off; nil while the backend takes them.
    public var pushWait: TableWait?
    /// Why its pulls are put off; nil while the backend answers them.
    public var pullWait: TableWait?
    /// The number of the backend's rows that are set aside, because they cannot be applied.
    public var setAside: Int
    /// What the last comparison with the backend that found rows which no pull had shown has mended: sentences.
    public var drift: String?
    /// How many such rows all comparisons have mended.
    public var mendedRows: Int
    /// The indexes that its settings name, each as an `$orderby`, in alphabetical order.
    public var indexes: [String]
}

/// The status of every table, for the operator.
struct TableStatuses: InTransaction {
    let transaction: Transaction
    /// Why indexes could not be built.
    var indexProblems: [Int64: String] = [:]
    var slowLists: SlowLists?

    /// The status of every table, ordered by name.
    func all() throws -> [TableStatus] {
        try tables.all().map { try status($0) }
    }

    func status(_ table: TableRecord) throws -> TableStatus {
        let items = try transaction.integer(
            "SELECT live_items FROM table_counters WHERE table_id = ?", [table.id])
        let pending = try transaction.integer(
            """
            SELECT sum(count) FROM state_counts
            WHERE table_id = ? AND state NOT IN ('done', 'discarded', 'collapsed')
            """, [table.id])
        let setAside = try setAsideRows.count(of: table.id)
        let pushWait = try transaction.tableWaits.wait(.push, of: table.name)
        let check = try transaction.copyChecks.check(of: table)
        return TableStatus(
            name: table.name.text, items: Int(items ?? 0), pending: Int(pending ?? 0),
            isComplete: table.isComplete, part: table.part?.text, lastPull: table.lastPullAt,
            readPolicy: table.readPolicy, writePolicy: table.writePolicy,
            conflictPolicy: table.conflictPolicy, unconditionalPolicy: table.unconditionalPolicy,
            isPublic: table.isPublic, idKind: table.idKind, paging: table.paging,
            parents: table.parents, preservesHistory: table.preservesHistory, pause: table.pause,
            warning: warning(
                table, pushWait, check, try setAsideRows.sentence(on: table.id),
                try TableIndexes(transaction).sentences(table, indexProblems)
                    + [slowLists?.sentence(on: table)].compactMap(\.self)),
            pullError: table.pullError,
            pullsFailSince: table.pullsFailSince, pushWait: pushWait,
            pullWait: try transaction.tableWaits.wait(.pull, of: table.name), setAside: setAside,
            drift: check.found, mendedRows: check.mended,
            indexes: try TableIndexes(transaction).settings(of: table.id))
    }

    private static let noVersions =
        "Its rows have no version, so a row is read before it is written: what another writer changes in the "
        + "moment between is not protected."

    private func warning(
        _ table: TableRecord, _ pushWait: TableWait?, _ check: CopyCheck, _ setAside: String?,
        _ indexes: [String]
    ) -> String? {
        var sentences = [table.pause.sentence, pushWait.map { "Its changes wait: \($0.reason)" }]
            .compactMap(\.self)
        if let error = table.pullError { sentences.append("Its pulls fail: \(error)") }
        if let setAside { sentences.append(setAside) }
        if let objection = check.objection {
            sentences.append("Its copy is not compared with the backend any more: \(objection)")
            sentences.append("`understudy pull \(table.name) --reconcile` compares it.")
        }
        if table.lacksVersions { sentences.append(Self.noVersions) }
        sentences += [table.warning].compactMap(\.self) + indexes
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }
}

extension Store {
    /// Changes the policies and flags of a table, which is created if it is new. Its ids can be declared as
    /// assigned by the backend before it has items. Changes of names, counts and times are ignored.
    /// - Returns: the table's new status.
    public func updateTable(
        _ name: TableName, _ change: @escaping @Sendable (inout TableStatus) -> Void
    ) async throws(StoreError) -> TableStatus {
        let standard = standard.load(ordering: .relaxed)
        let (status, isIndexed) = try await write { transaction in
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
            if table.pause != status.pause { transaction.effects.madeWork = true }
            table.pause = status.pause
            try transaction.tables.save(table)
            let isIndexed = try TableIndexes(transaction).settings(of: table.id) != status.indexes
            if isIndexed { try TableIndexes(transaction).set(status.indexes, of: table.id) }
            if status.idKind == .integer {
                try IDKinds(transaction: transaction).adoptIntegerIDs(&table)
            }
            transaction.events.emit(.status, table: table.name)
            status = try TableStatuses(transaction: transaction).status(table)
            status.standard = standard
            return (status, isIndexed)
        }
        if isIndexed {
            indexProblems.withLock { $0 = [:] }
            try await buildIndexes()
        }
        return status
    }
}
