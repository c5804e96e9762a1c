public import Backend
public import TablesProtocol

/// Why rows of another backend cannot be taken: a sentence.
public struct MoveProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The sentence.
    public let description: String
}

// Moving in: rows of another backend.
extension TablesBackend {
    /// Takes rows of another backend, each as it was there, in one transaction. The same call again changes
    /// nothing.
    ///
    /// - Parameters:
    ///   - rows: at most some hundred, since the table is locked meanwhile.
    ///   - table: where to; it is made with its first rows.
    ///   - idKind: what its ids are at the other backend.
    ///   - source: where the rows come from.
    ///   - isInUse: whether clients sync with the table already. A table that clients have written to is
    ///     taken so in any case. Its rows get new stamps, since a client asks for later ones alone.
    /// - Returns: what came of each row.
    /// - Throws: ``MoveProblem`` where the table has ids of another kind, or a row is one that no storage can
    ///   take, or the storage's error.
    public func move(
        _ rows: [MovedRow], into table: TableName, idKind: IDKind, from source: MoveSource,
        isInUse: Bool
    ) async throws -> [MoveOutcome] {
        if rows.isEmpty { return [] }
        try Self.check(rows, idKind, table)
        let move = Move(at: clock(), source: source, isInUse: isInUse)
        return try await onStorageThread { storage in
            try Self.check(idKind, table, storage.table(table)?.options.idKind)
            return try storage.move(rows, into: table, creating: TableOptions(idKind: idKind), move)
        }
    }

    /// The outcomes that ``move(_:into:idKind:from:isInUse:)`` would have, after the moves that the
    /// rehearsal has noted.
    public func rehearse(
        _ rows: [MovedRow], into table: TableName, idKind: IDKind, from source: MoveSource,
        _ rehearsal: inout MoveRehearsal
    ) async throws -> [MoveOutcome] {
        if rows.isEmpty { return [] }
        try Self.check(rows, idKind, table)
        let ids = rows.map(\.itemID)
        let (options, knownRows) = try await onStorageThread { storage in
            (try storage.table(table)?.options, try storage.knownRows(of: ids, in: table))
        }
        try Self.check(
            idKind, table, rehearsal.idKind(of: table, orFirst: options?.idKind ?? idKind))
        return rows.map {
            rehearsal.take(
                $0, of: table, over: knownRows[$0.itemID] ?? KnownRow(), from: source,
                deletesForGood: options?.softDelete == false)
        }
    }

    /// Whether a row's stamp is so far ahead of the clock that it is not taken over.
    public func isAhead(_ row: MovedRow) -> Bool {
        guard let stamp = row.updatedAt else { return false }
        return stamp > Move.latestStamp(at: clock())
    }

    /// Whether there is a table.
    public func has(_ table: TableName) async throws -> Bool {
        try await onStorageThread { try $0.table(table) != nil }
    }

    /// Whether a table keeps nothing of a deleted row.
    public func deletesForGood(_ table: TableName) async throws -> Bool {
        try await onStorageThread { try $0.table(table)?.options.softDelete == false }
    }

    private static func check(
        _ rows: [MovedRow], _ kind: IDKind, _ table: TableName
    ) throws(MoveProblem) {
        for row in rows {
            if let fault = row.fault(kind) {
                throw MoveProblem(description: "The row \(row.id) of the table \(table) \(fault).")
            }
        }
    }

    private static func check(
        _ kind: IDKind, _ table: TableName, _ known: IDKind?
    ) throws(MoveProblem) {
        guard let known, known != kind else { return }
        let words: [IDKind: String] = [.string: "texts", .integer: "integers"]
        throw MoveProblem(
            description:
                "The ids of the table \(table) are \(words[known] ?? "") here and "
                + "\(words[kind] ?? "") there.")
    }

    /// A page of the rows, tombstones too, in the order of the ids' bytes. A row that came from another backend
    /// and that no client has changed has the stamp that it had there.
    public func storedRows(
        in table: TableName, after id: String, limit: Int
    ) async throws -> [MovedRow] {
        try await onStorageThread { storage in
            let rows = try storage.rows(in: table, after: id, limit: limit)
            let ids = rows.map { ItemID(stored: $0.id, kind: .string) }
            let knownRows = try storage.knownRows(of: ids, in: table)
            return zip(rows, ids).map { row, id in
                let knownRow = KnownRow(row: row, arrival: knownRows[id]?.arrival)
                let own = knownRow.isUntouched ? knownRow.arrival?.updatedAt : nil
                return MovedRow(
                    id: row.id, columns: row.columns, createdAt: row.createdAt,
                    updatedAt: own ?? row.updatedAt, version: row.version, deleted: row.deleted)
            }
        }
    }
}

/// The rows that a move which is only tried would have written so far.
public struct MoveRehearsal: Sendable {
    private struct Place: Hashable {
        let table: String
        let id: ItemID
    }
    private var knownRows: [Place: KnownRow] = [:]
    private var idKinds: [String: IDKind] = [:]

    /// Nothing was tried yet.
    public init() {}

    /// The kind of a table's ids. A table that does not exist gets the kind of its first rows.
    mutating func idKind(of table: TableName, orFirst kind: IDKind) -> IDKind {
        let known = idKinds[table.key] ?? kind
        idKinds[table.key] = known
        return known
    }

    mutating func take(
        _ row: MovedRow, of table: TableName, over stored: KnownRow, from source: MoveSource,
        deletesForGood: Bool
    ) -> MoveOutcome {
        let place = Place(table: table.key, id: row.itemID)
        let knownRow = knownRows[place] ?? stored
        let outcome = MoveOutcome.decide(row, over: knownRow, from: source)
        if outcome.isWritten {
            // What is decided next does not depend on the stamp that the row gets here.
            let stamp = row.updatedAt ?? .earliest
            knownRows[place] = KnownRow(
                Moving.Placed(
                    row: row, createdAt: row.createdAt ?? stamp, stamp: stamp,
                    isKept: !(row.deleted && deletesForGood)))
        }
        return outcome
    }
}

/// Rows that move in one transaction: so many that neither the database nor this process holds much at once.
public struct MoveBatch: Sendable {
    /// The rows in their order.
    public private(set) var rows: [MovedRow] = []
    private var bytes = 0
    private let limit: (rows: Int, bytes: Int)

    /// No rows.
    /// - Parameters:
    ///   - rows: how many rows it takes.
    ///   - bytes: after how many bytes it takes no further row. One row may be larger.
    public init(rows: Int, bytes: Int) { limit = (rows, bytes) }

    /// Whether the next row belongs to the next batch.
    public var isFull: Bool { rows.count >= limit.rows || bytes >= limit.bytes }

    /// Adds a row.
    /// - Parameter size: its bytes.
    public mutating func add(_ row: MovedRow, bytes size: Int) {
        rows.append(row)
        bytes += size
    }
}
