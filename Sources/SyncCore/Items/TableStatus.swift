import Storage
import Synchronization
public import TablesProtocol

/// A table's status for the operator: what the store keeps of it, which is read as the status's own, and what
/// is counted and judged.
@dynamicMemberLookup
public struct TableStatus: Sendable, Hashable {
    var record: TableRecord
    public internal(set) var items: Int
    /// The number of open operations.
    public internal(set) var pending: Int
    /// What holds where ``ReadPolicy/standard`` and ``WritePolicy/standard`` are chosen.
    public internal(set) var standard = StandardPolicies()
    /// A warning in plain words: what is paused, why its changes wait, why pulls fail, rows that are set aside, rows without a
    /// version, the backend's paging or clocks, or indexes that are not built.
    public internal(set) var warning: String?
    /// Why its operations are put off; nil while the backend takes them.
    public internal(set) var pushWait: TableWait?
    /// Why its pulls are put off; nil while the backend answers them.
    public internal(set) var pullWait: TableWait?
    /// The number of the backend's rows that are set aside, because they cannot be applied.
    public internal(set) var setAside: Int
    /// What the last comparison with the backend that found rows which no pull had shown has mended: sentences.
    public internal(set) var drift: String?
    /// How many such rows all comparisons have mended.
    public internal(set) var mendedRows: Int
    /// The indexes that its settings name, each as an `$orderby`, in alphabetical order.
    public var indexes: [String]

    /// The name as first spelled.
    public var name: String { record.name.text }
    /// The part that is copied, as it was written; nil for the whole table.
    public var part: String? { record.part?.text }

    public subscript<Value>(dynamicMember member: WritableKeyPath<TableRecord, Value>) -> Value {
        get { record[keyPath: member] }
        set { record[keyPath: member] = newValue }
    }

    public subscript<Value>(dynamicMember member: KeyPath<TableRecord, Value>) -> Value {
        record[keyPath: member]
    }
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
        let pushWait = try tableWaits.wait(.push, of: table.name)
        let check = try copyChecks.check(of: table)
        let indexes = TableIndexes(transaction)
        return TableStatus(
            record: table, items: Int(items ?? 0), pending: Int(pending ?? 0),
            warning: warning(
                table, pushWait, check, try setAsideRows.sentence(on: table.id),
                try indexes.sentences(table, indexProblems)
                    + [slowLists?.sentence(on: table)].compactMap(\.self)),
            pushWait: pushWait, pullWait: try tableWaits.wait(.pull, of: table.name),
            setAside: try setAsideRows.count(of: table.id), drift: check.found,
            mendedRows: check.mended, indexes: try indexes.settings(of: table.id))
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
    /// assigned by the backend before it has items.
    /// - Returns: the table's new status.
    public func updateTable(
        _ name: TableName, _ change: @escaping @Sendable (inout TableStatus) -> Void
    ) async throws(StoreError) -> TableStatus {
        let standard = standard.load(ordering: .relaxed)
        let (status, isIndexed) = try await write { transaction in
            let before = try transaction.tables.make(name)
            let statuses = TableStatuses(transaction: transaction)
            var status = try statuses.status(before)
            change(&status)
            var table = status.record
            table.idKind = before.idKind
            try transaction.tables.save(table)
            if table.pause != before.pause { transaction.effects.madeWork = true }
            let indexes = TableIndexes(transaction)
            let isIndexed = try indexes.settings(of: table.id) != status.indexes
            if isIndexed { try indexes.set(status.indexes, of: table.id) }
            if status.record.idKind == .integer {
                try IDKinds(transaction: transaction).adoptIntegerIDs(&table)
            }
            transaction.events.emit(.status, table: table.name)
            status = try statuses.status(table)
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
