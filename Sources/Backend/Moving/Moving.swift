import TablesProtocol

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
