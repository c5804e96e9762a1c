import Storage
import TablesProtocol

/// What comparisons of a table with the backend have found, and how far the present one is. Schema.sql explains
/// the fields.
struct CopyCheck: Sendable, Hashable {
    private(set) var tableID: Int64
    var checkedAt: Instant
    var comparedAt: Instant?
    var surplus = 0
    var begun: Int64?
    var lastID: String?
    var found: String?
    var mended = 0
    var faults = 0
    var objection: String?

    init(tableID: Int64, at time: Instant) { (self.tableID, checkedAt) = (tableID, time) }

    /// Whether all ids and versions are to be compared now, and not the numbers of rows alone.
    func comparesIDs(every period: Duration, at now: Instant) -> Bool {
        guard begun == nil, let comparedAt, comparedAt <= now else { return true }
        return comparedAt.advanced(by: SyncLimits.betweenComparisons(period)) <= now
    }

    /// Ends the comparison under way.
    /// - Parameter objection: why the backend's answers are of no use; nil if all was compared. The second in a row
    ///   ends the checks of the table. A first one may be due to a change at that moment, unless it is certain.
    mutating func end(_ objection: String? = nil, isSure: Bool = false, at now: Instant) {
        (begun, lastID) = (nil, nil)
        guard let objection else {
            (comparedAt, faults, self.objection) = (now, 0, nil)
            return
        }
        faults += 1
        if isSure || faults >= SyncLimits.faultyComparisons { self.objection = objection }
    }
}

extension CopyCheck: Stored {
    static let stored = StoredColumns<CopyCheck>(
        "copy_checks", blank: CopyCheck(tableID: 0, at: .earliest),
        [
            .init("table_id", \.tableID, .key), .init("checked_at", \.checkedAt),
            .init("compared_at", \.comparedAt), .init("surplus", \.surplus),
            .init("begun", \.begun), .init("last_id", \.lastID), .init("found", \.found),
            .init("mended", \.mended), .init("faults", \.faults), .init("objection", \.objection),
        ])
}

/// How many rows differed that no pull would have shown, by what was wrong with them here.
struct CopyDrift: Sendable, Hashable {
    var missing = 0
    var changed = 0
    var gone = 0

    var rows: Int { missing + changed + gone }

    mutating func add(_ effect: AppliedRow, wasHere: Bool) {
        switch effect {
        case .inserted: missing += 1
        case .updated: if wasHere { changed += 1 } else { missing += 1 }
        case .deleted: gone += 1
        case .unchanged, .shadowed, .skipped, .older, .lagging: break
        }
    }

    /// What was found and done: a sentence for each kind.
    func sentences(ofPart: Bool, at time: Instant) -> String {
        [
            (missing, "missing here, fetched"), (changed, "older here, fetched"),
            (gone, "no longer \(ofPart ? "in the part" : "at the backend"), removed"),
        ].filter { $0.0 > 0 }.map { count, words in
            "\(count == 1 ? "1 row was" : "\(count) rows were") \(words) at \(time.text)."
        }.joined(separator: " ")
    }
}

/// `copy_checks` and `listed_ids`.
struct CopyChecks: InTransaction {
    let transaction: Transaction

    /// What is known of a table; nothing before its first check.
    func check(of table: TableRecord) throws -> CopyCheck {
        let known = try transaction.first(
            "SELECT \(CopyCheck.stored.names) FROM copy_checks WHERE table_id = ?", [table.id],
            CopyCheck.init)
        return known ?? CopyCheck(tableID: table.id, at: transaction.now)
    }

    func save(_ check: CopyCheck) throws {
        try transaction.run(CopyCheck.stored.replace, CopyCheck.stored.inserted(check))
        if check.begun == nil {
            try transaction.run("DELETE FROM listed_ids WHERE table_id = ?", [check.tableID])
        }
    }

    /// Notes that a pull has compared all rows of a table.
    func noteCompared(_ table: TableRecord) throws {
        var check = try check(of: table)
        check.checkedAt = transaction.now
        check.end(at: transaction.now)
        try save(check)
    }

    /// The tables that are checked, and when, the first one first. Left out are those that each pull compares as a
    /// whole, that were never pulled to their end, and whose pulls fail or are paused or put off.
    func due(every period: Duration) throws -> [(table: TableName, at: Instant)] {
        let rest = min(period, .seconds(SyncLimits.betweenPartsOfComparison))
        return try transaction.all(
            """
            SELECT name, CASE WHEN begun IS NULL THEN ?2 ELSE ?3 END
                + CASE WHEN checked_at <= ?1 THEN checked_at ELSE 0 END AS due
            FROM tables LEFT JOIN copy_checks ON table_id = tables.id
            WHERE is_complete AND pull_error IS NULL AND pause NOT IN ('pulls', 'all')
              AND objection IS NULL AND (paging IN ('keyset', 'skip-in-ties') OR is_unsorted)
              AND NOT EXISTS (SELECT 1 FROM table_waits
                WHERE table_waits.name_key = tables.name_key AND kind = 'pull' AND until > ?1)
            ORDER BY due, tables.name_key
            """,
            [transaction.now.milliseconds, period.wholeMilliseconds, rest.wholeMilliseconds]
        ) { row in
            TableName(row[0] as String).map { ($0, Instant(milliseconds: row[1])) }
        }
    }

    /// How many live rows the backend has as far as this store knows: what waits to be inserted does not count,
    /// and what waits to be deleted does.
    func knownRows(of table: TableRecord) throws -> Int {
        let rows = try transaction.integer(
            """
            SELECT live_items + coalesce((
              SELECT sum((shadow_columns IS NOT NULL AND server_deleted = 0) - (deleted = 0))
              FROM operations JOIN items ON items.table_id = operations.table_id
                AND items.id = item_id AND pending = seq
              WHERE operations.table_id = ?1 AND state IN (\(OperationState.openInSQL))), 0)
            FROM table_counters WHERE table_id = ?1
            """, [table.id])
        return Int(rows ?? 0)
    }

    /// The rows of a page of ids that are missing here, or have another version. One that a push has replaced
    /// (``ReplacedRows``) is no difference.
    func differing(_ page: RemotePage, in table: TableRecord) throws -> [ItemID] {
        try page.rows.filter { row in
            guard let known = try items.row(table, exactly: row.id) else { return true }
            let replaced = known.replaced.recent(at: transaction.now)
            if replaced.contains(version: row.version, updatedAt: nil) { return false }
            return known.pending == nil && known.deleted
                || row.version != nil && row.version != known.serverVersion
        }.map(\.id)
    }

    /// Notes the ids of a page.
    /// - Returns: whether any of them was not listed before.
    func note(_ page: RemotePage, of table: TableRecord) throws -> Bool {
        try transaction.run(
            "INSERT OR IGNORE INTO listed_ids SELECT ?1, value FROM json_each(?2)",
            [table.id, JSONList.text(page.elements.compactMap(\.idText))])
        return transaction.db.changedRows > 0
    }

    /// How many ids were listed, and the unchanged items that were not and that no push has brought since.
    func listed(in table: TableRecord, asOf change: Int64) throws -> (count: Int, others: [ItemID])
    {
        let count = try transaction.integer(
            "SELECT count(*) FROM listed_ids WHERE table_id = ?", [table.id])
        let others: [String] = try transaction.column(
            """
            SELECT id FROM items WHERE table_id = ?1 AND deleted = 0 AND pending IS NULL
              AND settled_at <= ?2
              AND NOT EXISTS (SELECT 1 FROM listed_ids WHERE table_id = ?1 AND item_id = items.id)
            """, [table.id, change])
        return (Int(count ?? 0), others.map { ItemID(stored: $0, kind: table.idKind) })
    }
}
