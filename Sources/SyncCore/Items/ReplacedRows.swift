import TablesProtocol

/// What pushes of this store have lately replaced of an item at the backend, or found replaced there.
///
/// A backend may answer reads from a copy that lags behind. A row that is as it was before such a push is older
/// than what is here. It is remembered for ``SyncLimits/replicaLagSeconds`` only: a backend that is restored from
/// a backup has the row again.
struct ReplacedRows: Sendable, Hashable {
    /// The backend's own texts. Both are nil before an insert: there was no row.
    private struct Row: Sendable, Hashable {
        var version: String?
        var updatedAt: String?
        var at: Instant

        /// Whether the push was within the last seconds before a time. False after the clock went back.
        func isWithin(_ seconds: Int64, of now: Instant) -> Bool {
            (0..<seconds * 1000).contains(now.milliseconds - at.milliseconds)
        }
    }
    private var rows: [Row] = []

    init() {}

    /// Reads ``text``. What is not readable, since the store is damaged, is left out.
    init(stored text: String) {
        rows = JSONList.lists(text).compactMap { texts in
            guard texts.count == 3, let at = Int64(texts[2]) else { return nil }
            return Row(
                version: texts[0].isEmpty ? nil : texts[0],
                updatedAt: texts[1].isEmpty ? nil : texts[1], at: Instant(milliseconds: at))
        }
    }

    /// A JSON array of arrays of strings; nil if there is nothing to keep.
    var text: String? {
        guard !rows.isEmpty else { return nil }
        return JSONList.text(
            rows.map { [$0.version ?? "", $0.updatedAt ?? "", String($0.at.milliseconds)] })
    }

    /// Adds a row that a push has replaced; no texts before an insert.
    mutating func add(version: String?, updatedAt: String?, at now: Instant) {
        self = recent(at: now)
        rows.append(Row(version: version, updatedAt: updatedAt, at: now))
        rows = rows.suffix(StoreLimits.replacedRows)
    }

    /// Those that still count.
    func recent(at now: Instant) -> ReplacedRows {
        var recent = self
        recent.rows.removeAll { !$0.isWithin(SyncLimits.replicaLagSeconds, of: now) }
        return recent
    }

    /// Whether a push inserted the item a moment ago, so that a backend without it is doubted.
    func hasInsert(_ now: Instant) -> Bool {
        rows.contains {
            $0.version == nil && $0.updatedAt == nil
                && $0.isWithin(SyncLimits.doubtedAbsenceSeconds, of: now)
        }
    }

    /// Whether a row of the backend is one of them. Backends that make versions of a row's columns give one again,
    /// so the time has to be the same too, as far as it is known.
    func contains(version: String?, updatedAt: String?) -> Bool {
        guard version != nil || updatedAt != nil else { return false }
        return rows.contains { row in
            guard row.version == version else { return false }
            guard let before = row.updatedAt, let updatedAt else { return version != nil }
            return before == updatedAt || Instant(parsing: before) == Instant(parsing: updatedAt)
        }
    }
}

extension ItemRow {
    /// Remembers the backend's row that an operation has replaced, unless the backend left it unchanged.
    mutating func noteReplaced(
        by operation: TableOperation, with server: ServerSide, at now: Instant
    ) {
        if operation.kind == .insert { return replaced.add(version: nil, updatedAt: nil, at: now) }
        let version = operation.baseVersion ?? serverVersion
        let updatedAt = version == serverVersion ? serverUpdatedAt : nil
        let isSame = version == nil ? updatedAt == server.updatedAt : version == server.version
        if !isSame { replaced.add(version: version, updatedAt: updatedAt, at: now) }
    }
}
