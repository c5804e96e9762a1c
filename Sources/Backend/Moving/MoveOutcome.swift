import TablesProtocol

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
