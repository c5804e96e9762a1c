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
    mutating func take(_ row: MovedRow, over standing: Standing) -> (MoveOutcome, Placed?) {
        let outcome = MoveOutcome.decide(row, over: standing, from: move.source)
        guard outcome.isWritten else { return (outcome, nil) }
        learnColumns(of: row)
        let stamp: Instant
        if !isInUse, let own = row.updatedAt {
            stamp = own
            record.lastStamp = max(record.lastStamp, own.ticks)
        } else {
            stamp = record.nextStamp(write)
        }
        if record.table.options.idKind == .integer, let number = Int64(row.id) {
            record.lastNumber = max(record.lastNumber, number)
        }
        let createdAt = row.createdAt ?? standing.row?.createdAt ?? row.updatedAt ?? stamp
        return (outcome, Placed(row: row, createdAt: createdAt, stamp: stamp))
    }

    /// Queries know columns by how they were first spelled.
    private mutating func learnColumns(of row: MovedRow) {
        var rules = ColumnRules(
            known: record.table.knownColumns, isFixed: false, profile: Profile(BackendOptions()))
        // This flavour refuses no column and changes none.
        _ = try? rules.keep(row.columns)
        _ = record.table.add(rules.new)
    }
}
