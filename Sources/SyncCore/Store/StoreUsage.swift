import Storage

public enum StoreUsageKind: String, Codable, Sendable, Hashable, CaseIterable {
    /// Rows of the tables, with tombstones.
    case items
    /// Operations, open and closed.
    case operations
    case attempts
    /// History, and what undoing its entries brings back.
    case history
    /// What pulls know: tokens, which rows a query brought, rows that are set aside.
    case pulls
    /// Events of the dashboard, runs and samples.
    case reports
    /// All other tables.
    case other
    /// Pages without content, which later rows use.
    case free
    case log
}

/// The bytes of one kind, indexes included.
public struct StoragePart: Codable, Sendable, Hashable {
    public let kind: StoreUsageKind
    public let rows: Int?
    public let bytes: Int64
}

/// The bytes of a store on disk, by what they are for.
public struct StoreUsage: Sendable, Hashable {
    /// All kinds, in the order of ``StoreUsageKind``.
    public let parts: [StoragePart]
    /// Rows that were deleted, which are kept for clients that sync; part of the items.
    public let tombstones: Int

    /// The bytes of all parts.
    public var bytes: Int64 { parts.reduce(0) { $0 + $1.bytes } }

    /// The bytes of one kind.
    public func bytes(_ kind: StoreUsageKind) -> Int64 {
        parts.first { $0.kind == kind }?.bytes ?? 0
    }
}

/// Counts the pages of a store, by SQLite's `dbstat`. Reads every page of the file.
struct UsageReport {
    let transaction: Transaction

    /// The tables of each kind; the first one is counted by rows.
    private static let tables: [(StoreUsageKind, [String])] = [
        (.items, ["items", "aliases"]), (.operations, ["operations"]), (.attempts, ["attempts"]),
        (.history, ["history", "undo_points"]),
        (
            .pulls,
            ["set_aside_rows", "members", "tokens", "part_doubts", "copy_checks", "listed_ids"]
        ),
        (.reports, ["events", "runs", "samples"]),
    ]

    /// - Parameter logBytes: the size of the write-ahead log.
    func usage(logBytes: Int64) throws -> StoreUsage {
        var bytes = try pageBytes()
        var parts = try Self.tables.map { kind, tables in
            let size = tables.reduce(0) { $0 + (bytes.removeValue(forKey: $1) ?? 0) }
            let rows = try transaction.integer("SELECT count(*) FROM \(tables[0])")
            return StoragePart(kind: kind, rows: rows.map { Int($0) }, bytes: size)
        }
        parts.append(.init(kind: .other, rows: nil, bytes: bytes.values.reduce(0, +)))
        let freePages = try transaction.integer("PRAGMA freelist_count") ?? 0
        let pageSize = try transaction.integer("PRAGMA page_size") ?? 0
        parts.append(.init(kind: .free, rows: nil, bytes: freePages * pageSize))
        parts.append(.init(kind: .log, rows: nil, bytes: logBytes))
        let tombstones = try transaction.integer(
            "SELECT count(*) FROM items INDEXED BY items_tombstones WHERE deleted = 1")
        return StoreUsage(parts: parts, tombstones: Int(tombstones ?? 0))
    }

    /// The bytes of each table with its indexes.
    private func pageBytes() throws -> [String: Int64] {
        let sizes = try transaction.all(
            """
            SELECT coalesce(schema.tbl_name, stat.name), sum(stat.pgsize)
            FROM dbstat AS stat LEFT JOIN sqlite_schema AS schema ON schema.name = stat.name
            WHERE stat.aggregate = TRUE GROUP BY 1
            """, []
        ) { (name: $0[0] as String, bytes: $0[1] as Int64) }
        return Dictionary(sizes.map { ($0.name, $0.bytes) }, uniquingKeysWith: +)
    }
}

extension StoreHealth {
    /// What the store takes on disk. Reads every page of the file, beside the writes.
    /// - Parameter logBytes: the size of the write-ahead log.
    public func usage(logBytes: Int64) async throws(StoreError) -> StoreUsage {
        try await reading.search { try UsageReport(transaction: $0).usage(logBytes: logBytes) }
    }
}
