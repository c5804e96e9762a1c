public import TablesProtocol

/// A row as another backend had it.
public struct MovedRow: Sendable, Hashable {
    /// Its id; decimal digits in a table with integer ids.
    public var id: String
    /// The user's columns.
    public var columns: Columns
    /// The time of its insert at the other backend; nil where that backend does not tell it.
    public var createdAt: Instant?
    /// The time of its last change at the other backend; nil where that backend does not tell it.
    public var updatedAt: Instant?
    /// Its version there; nil where that backend has none.
    public var version: String?
    /// Whether it is softly deleted at the other backend.
    public var deleted: Bool

    /// Makes a row from its parts.
    public init(
        id: String, columns: Columns, createdAt: Instant? = nil, updatedAt: Instant? = nil,
        version: String? = nil, deleted: Bool = false
    ) {
        self.id = id
        self.columns = columns
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
        self.deleted = deleted
    }

    /// The id, which is compared byte for byte.
    package var itemID: ItemID { ItemID(stored: id, kind: .string) }

    /// The names of its columns that clients of a flavour do not see, because the id or a system column of
    /// the flavour has the name.
    /// - Parameter idKind: what the ids of its table are.
    public func hiddenColumns(in flavour: BackendFlavour, _ idKind: IDKind) -> [String] {
        let profile = Profile(BackendOptions(flavour: flavour))
        return columns.names.filter { profile.hides($0, idKind) }
    }

    /// Why no storage can take the row, as the end of a sentence that begins with it; nil where they can.
    /// - Parameter idKind: what the ids of its table are.
    public func fault(_ idKind: IDKind) -> String? {
        if idKind == .integer, let number = Int64(id), number > Limits.numberedID {
            return "has the id \(id), and the greatest integer id is \(Limits.numberedID)"
        }
        // PostgreSQL's texts have no U+0000.
        if version?.utf8.contains(0) == true { return "has a version with U+0000" }
        return nil
    }
}

/// The source of moved rows.
public enum MoveSource: Sendable, Hashable {
    /// The rows that a client last knew of a backend that does not answer any more. Others may know
    /// newer rows.
    case export
    /// The rows that a client knew of this database before it was restored to a moment.
    case exportOfRestored(to: Instant)
    /// A backend that answers: its present rows.
    case backend
}

/// The values that all rows of one move share.
package struct Move: Sendable {
    /// The time of the move, by this backend's clock. Versions that the storage gives to these rows
    /// later begin with these milliseconds, so that they differ from those of the other backend.
    package var at: Instant
    /// The source of the rows.
    package var source: MoveSource
    /// Whether clients sync with the table already, so that they learn only of rows with later stamps.
    package var isInUse: Bool

    package init(at: Instant, source: MoveSource, isInUse: Bool) {
        (self.at, self.source, self.isInUse) = (at, source, isInUse)
    }

    /// The latest stamp that a row keeps. After a later one the table could hardly give another, and
    /// clients would miss rows.
    package var latestStamp: Instant { Self.latestStamp(at: at) }

    package static func latestStamp(at now: Instant) -> Instant {
        Instant(milliseconds: now.milliseconds + Limits.stampAheadSeconds * 1000)
    }
}

/// A row as it came from another backend.
package struct Arrival: Sendable, Hashable {
    /// The other backend's `updatedAt`; nil where it had none.
    package var updatedAt: Instant?
    /// The version with which it was stored here.
    package var version: String
    /// The `updatedAt` with which it was stored here.
    package var stamp: Instant

    package init(updatedAt: Instant?, version: String, stamp: Instant) {
        (self.updatedAt, self.version, self.stamp) = (updatedAt, version, stamp)
    }
}

/// The row, arrival and deletion that are known for an id.
package struct KnownRow: Sendable, Hashable {
    /// The row; nil when there is none.
    package var row: Row?
    /// The arrival of the row from another backend; nil where it did not come from one. An arrival
    /// without a row that no client has deleted is a deletion that came into a table that deletes for
    /// good.
    package var arrival: Arrival?
    /// Whether a client has deleted it here. The storage looks this up only for an id without a row.
    package var isDeletedForGood = false
    /// Without a row, see ``ForgottenPast/rowsWithoutTrace``.
    package var rowsWithoutTrace: ClosedRange<Instant>?

    /// Makes the value after a row was moved. A version that the row did not bring is not known.
    package init(_ placed: Moving.Placed) {
        let moved = placed.row
        let version = moved.version ?? ""
        arrival = Arrival(updatedAt: moved.updatedAt, version: version, stamp: placed.stamp)
        guard placed.isKept else { return }
        row = Row(
            id: moved.id, columns: moved.columns, createdAt: placed.createdAt,
            updatedAt: placed.stamp, version: version, deleted: moved.deleted)
    }

    package init(
        row: Row? = nil, arrival: Arrival? = nil, isDeletedForGood: Bool = false,
        rowsWithoutTrace: ClosedRange<Instant>? = nil
    ) {
        (self.row, self.arrival, self.isDeletedForGood) = (row, arrival, isDeletedForGood)
        self.rowsWithoutTrace = rowsWithoutTrace
    }

    /// The stamp with which a moved row is compared; nil where the other backend had none.
    package func stamp(for source: MoveSource) -> Instant? {
        guard let arrival else { return row?.updatedAt }
        guard case .exportOfRestored(let moment) = source else { return arrival.updatedAt }
        return isUntouched ? takenIn(after: moment) ?? row?.updatedAt : row?.updatedAt
    }

    /// The stamp that the row had where it was taken from after a moment; nil where none was taken since.
    package func takenIn(after moment: Instant) -> Instant? {
        guard let arrival, arrival.stamp > moment else { return nil }
        return arrival.updatedAt
    }

    /// Whether the row is as it came from another backend.
    package var isUntouched: Bool {
        guard let row, let arrival else { return false }
        return row.version == arrival.version && row.updatedAt == arrival.stamp
    }
}
