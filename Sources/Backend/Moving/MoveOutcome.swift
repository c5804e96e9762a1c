package import TablesProtocol

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
    /// Another one is here, and nothing says which of the two is newer. The one that is here stays. Or none is
    /// here, and it may have been deleted so long ago that no trace is kept. It stays away.
    case undecided

    /// Whether the row is written.
    package var isWritten: Bool { self == .added || self == .replaced }
}

extension MoveOutcome {
    /// Decides about a moved row. Pure.
    ///
    /// 1. A row that a client has deleted here for good stays away. A deletion that came into a table that
    ///    deletes for good, or whose tombstone is no longer kept, is compared as a row would be. An export's row
    ///    that a client may have deleted here before that is kept is undecided.
    /// 2. A row that came from another backend and that a client has changed here stays.
    /// 3. A row that came from another backend and that no client has changed here is replaced by what a
    ///    backend that answers has now. Rows of exports are compared by the stamps that they had there.
    /// 4. A row that did not come from another backend is compared by its own stamp: this database may be an
    ///    older copy of the other backend's.
    /// 5. After a restore the exports are of this database, so rows are compared by their own stamps, and those
    ///    that came since by the stamps that they had before. A row that was lost, and that a client has
    ///    changed here since, stays.
    /// 6. Without two different stamps there is no order: the outcome is undecided, unless the two rows are
    ///    the same.
    package static func decide(
        _ moved: MovedRow, over knownRow: KnownRow, from source: MoveSource
    ) -> MoveOutcome {
        guard let row = knownRow.row else { return decide(moved, without: knownRow, from: source) }
        let known = knownRow.stamp(for: source)
        let isSameContent =
            row.deleted == moved.deleted && moved.columns.hasSameContent(as: row.columns)
        if isSameContent, moved.version == nil || moved.version == row.version,
            moved.updatedAt == nil || moved.updatedAt == known
        {
            return .same
        }
        let isNewer = isNewer(moved, than: known)
        if case .exportOfRestored(let moment) = source {
            let known = max(moment, knownRow.takenIn(after: moment) ?? moment)
            let isLost = moved.updatedAt.map { $0 > known } ?? false
            let isChanged = row.updatedAt > moment && !knownRow.isUntouched
            if isLost, isChanged, !isSameContent { return .changedHere }
        } else if knownRow.arrival != nil, !knownRow.isUntouched {
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
        guard let deletion = knownRow.arrival else {
            return mayBeDeleted(moved, knownRow, from: source) ? .undecided : .added
        }
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

    /// Whether a row may be one that clients inserted and deleted here, of which no trace is kept. A backend that
    /// answers has its rows, and a write that a restore lost came after all that is known here.
    private static func mayBeDeleted(
        _ moved: MovedRow, _ knownRow: KnownRow, from source: MoveSource
    ) -> Bool {
        guard !moved.deleted, let times = knownRow.rowsWithoutTrace else { return false }
        switch source {
        case .backend: return false
        case .exportOfRestored(let moment) where moved.updatedAt.map { $0 > moment } ?? false:
            return false
        case .export, .exportOfRestored: return moved.updatedAt.map { times.contains($0) } ?? true
        }
    }

    /// Whether a moved row is later than a stamp; nil without two different stamps.
    private static func isNewer(_ moved: MovedRow, than known: Instant?) -> Bool? {
        guard let stamp = moved.updatedAt, let known, stamp != known else { return nil }
        return stamp > known
    }
}

/// One move while its transaction is open. It decides, and gives rows their stamps; the storage writes them.
package struct Moving {
    package private(set) var record: TableRecord
    private let move: Move
    private let isInUse: Bool
    private let write: Write

    /// A row that is to be written.
    package struct Placed {
        package var row: MovedRow
        package var createdAt: Instant
        package var stamp: Instant
        /// Whether there is a row afterwards. If not, only its arrival is kept: it is a deletion, and the
        /// table deletes for good.
        package var isKept = true

        package init(row: MovedRow, createdAt: Instant, stamp: Instant, isKept: Bool = true) {
            self.row = row
            self.createdAt = createdAt
            self.stamp = stamp
            self.isKept = isKept
        }
    }

    /// - Parameter hasEffects: whether clients have written to the table.
    package init(_ record: TableRecord, _ move: Move, hasEffects: Bool) {
        self.record = record
        self.move = move
        isInUse = move.isInUse || hasEffects
        write = Write(at: move.at, stamps: .increasing, method: "")
    }

    /// Decides about a row.
    /// - Returns: what came of it, and what is to be written; nil for nothing.
    package mutating func take(_ row: MovedRow, over knownRow: KnownRow) -> (MoveOutcome, Placed?) {
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
    package func hasSameContent(as other: Columns) -> Bool {
        if changedNames(from: other).isEmpty { return true }
        let (mine, theirs) = (folded, other.folded)
        return mine.names.count == names.count && theirs.names.count == other.names.count
            && mine.changedNames(from: theirs).isEmpty
    }

    private var folded: Columns { Columns(all.map { Column($0.name.lowercased(), $0.value) }) }
}
