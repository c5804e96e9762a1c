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

/// One move while its transaction is open. It decides, and gives rows their stamps; the storage writes them.
struct Moving {
    private(set) var record: TableRecord
    private let move: Move
    private let isInUse: Bool
    private let write: Write

    /// A row that is to be written.
    struct Placed {
        var row: MovedRow
        var createdAt: Instant
        var stamp: Instant
        /// Whether there is a row afterwards. If not, only its arrival is kept: it is a deletion, and the
        /// table deletes for good.
        var isKept = true
    }

    /// - Parameter hasEffects: whether clients have written to the table.
    init(_ record: TableRecord, _ move: Move, hasEffects: Bool) {
        self.record = record
        self.move = move
        isInUse = move.isInUse || hasEffects
        write = Write(at: move.at, stamps: .increasing, method: "")
    }

    /// Decides about a row.
    /// - Returns: what came of it, and what is to be written; nil for nothing.
    mutating func take(_ row: MovedRow, over knownRow: KnownRow) -> (MoveOutcome, Placed?) {
        let outcome = MoveOutcome.decide(row, over: knownRow, from: move.source)
        guard outcome.isWritten else { return (outcome, nil) }
        var row = row
        row.columns = record.table.learn(row.columns)
        let stamp: Instant
        if !isInUse, let own = row.updatedAt, own <= move.latestStamp {
            stamp = own
            record.lastStamp = max(record.lastStamp, own.ticks)
        } else {
            stamp = record.nextStamp(write)
        }
        if record.table.options.idKind == .integer, let number = Int64(row.id) {
            record.lastNumber = max(record.lastNumber, number)
        }
        let createdAt = row.createdAt ?? knownRow.row?.createdAt ?? row.updatedAt ?? stamp
        let isKept = !row.deleted || record.table.options.softDelete
        return (outcome, Placed(row: row, createdAt: createdAt, stamp: stamp, isKept: isKept))
    }
}

extension Columns {
    /// Whether both have the same values. A table knows each column in one spelling, so two of them name one
    /// column, unless a row has both.
    func hasSameContent(as other: Columns) -> Bool {
        if changedNames(from: other).isEmpty { return true }
        let (mine, theirs) = (folded, other.folded)
        return mine.names.count == names.count && theirs.names.count == other.names.count
            && mine.changedNames(from: theirs).isEmpty
    }

    private var folded: Columns { Columns(all.map { Column($0.name.lowercased(), $0.value) }) }
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

/// The outcome of a moved row.
public enum MoveOutcome: String, Sendable, Hashable, CaseIterable {
    /// It was not here.
    case added
    /// It was here, and this one is newer.
    case replaced
    /// It was here as it is.
    case same
    /// A newer one is here. It stays.
    case older
    /// A client has changed the row here, and this one is newer than what it was changed from. The row stays.
    case changedHere
    /// A client has deleted the row here for good. It stays away.
    case deletedHere
    /// Another one is here, and nothing says which of the two is newer. The one that is here stays.
    case undecided

    /// Whether the row is written.
    var isWritten: Bool { self == .added || self == .replaced }
}

extension MoveOutcome {
    /// Decides about a moved row. Pure.
    ///
    /// 1. A row that a client has deleted here for good stays away. A deletion that came into a table that
    ///    deletes for good is compared as a row would be.
    /// 2. A row that came from another backend and that a client has changed here stays.
    /// 3. A row that came from another backend and that no client has changed here is replaced by what a
    ///    backend that answers has now. Rows of exports are compared by the stamps that they had there.
    /// 4. A row that did not come from another backend is compared by its own stamp: this database may be an
    ///    older copy of the other backend's.
    /// 5. Without two different stamps there is no order: the outcome is undecided, unless the two rows are
    ///    the same.
    static func decide(
        _ moved: MovedRow, over knownRow: KnownRow, from source: MoveSource
    ) -> MoveOutcome {
        guard let row = knownRow.row else { return decide(moved, without: knownRow, from: source) }
        let known = knownRow.arrival == nil ? row.updatedAt : knownRow.arrival?.updatedAt
        let isSameContent =
            row.deleted == moved.deleted && moved.columns.hasSameContent(as: row.columns)
        if isSameContent, moved.version == nil || moved.version == row.version,
            moved.updatedAt == nil || moved.updatedAt == known
        {
            return .same
        }
        let isNewer = isNewer(moved, than: known)
        if knownRow.arrival != nil, !knownRow.isUntouched {
            let isNews = isNewer ?? (known == nil || moved.updatedAt == nil)
            return isNews && !isSameContent ? .changedHere : .older
        }
        if source == .backend, knownRow.isUntouched { return .replaced }
        switch isNewer {
        case true?: return .replaced
        case false?: return .older
        case nil where !isSameContent: return .undecided
        // A version and a stamp are more than none.
        case nil: return known == nil && moved.updatedAt != nil ? .replaced : .same
        }
    }

    /// Decides about a moved row where none is here.
    private static func decide(
        _ moved: MovedRow, without knownRow: KnownRow, from source: MoveSource
    ) -> MoveOutcome {
        if knownRow.isDeletedForGood { return .deletedHere }
        guard let deletion = knownRow.arrival else { return .added }
        if moved.deleted, moved.updatedAt == nil || moved.updatedAt == deletion.updatedAt {
            return .same
        }
        let written: MoveOutcome = moved.deleted ? .replaced : .added
        if source == .backend { return written }
        switch isNewer(moved, than: deletion.updatedAt) {
        case true?: return written
        case false?: return .older
        // A deletion with a stamp is more than one without.
        case nil: return moved.deleted ? written : .undecided
        }
    }

    /// Whether a moved row is later than a stamp; nil without two different stamps.
    private static func isNewer(_ moved: MovedRow, than known: Instant?) -> Bool? {
        guard let stamp = moved.updatedAt, let known, stamp != known else { return nil }
        return stamp > known
    }
}
