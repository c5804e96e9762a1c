public import TablesProtocol

/// A row as another backend had it.
public struct MovedRow: Sendable, Hashable {
    /// Its id; decimal digits in a table with integer ids.
    public var id: String
    /// The user's columns.
    public var columns: Columns
    /// When it was inserted there; nil where that backend does not say it.
    public var createdAt: Instant?
    /// When it last changed there; nil where that backend does not say it.
    public var updatedAt: Instant?
    /// Its version there; nil where that backend has none.
    public var version: String?
    /// Whether it was softly deleted there.
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
    var itemID: ItemID { ItemID(stored: id, kind: .string) }
}

/// Where moved rows come from.
public enum MoveSource: Sendable, Hashable {
    /// What a client last knew of a backend that does not answer any more. Others may know newer rows.
    case export
    /// A backend that answers: its present rows.
    case backend
}

/// What is the same for all rows of one move.
package struct Move: Sendable {
    /// When, by this backend's clock. Versions that the storage gives to these rows later begin with these
    /// milliseconds, so that none is one that the other backend has given.
    var at: Instant
    /// Where the rows come from.
    var source: MoveSource
    /// Whether clients sync with the table already, so that they learn only of rows with later stamps.
    var isInUse: Bool
}

/// A row as it came from another backend.
package struct Arrival: Sendable, Hashable {
    /// The other backend's `updatedAt`; nil where it had none.
    var updatedAt: Instant?
    /// The version with which it was stored here.
    var version: String
    /// The `updatedAt` with which it was stored here.
    var stamp: Instant
}

/// What there is of an id.
package struct Standing: Sendable, Hashable {
    /// The row; nil when there is none.
    var row: Row?
    /// How it came here; nil where it did not come from another backend.
    var arrival: Arrival?
    /// Whether clients have written it here. The storage looks this up only for an id without a row and
    /// without an arrival.
    var hasEffects = false

    /// What there is after a row was moved. A version or stamp that the row did not bring is not known.
    init(moved row: MovedRow) {
        let stamp = row.updatedAt ?? .earliest
        let version = row.version ?? ""
        self.row = Row(
            id: row.id, columns: row.columns, createdAt: row.createdAt ?? stamp, updatedAt: stamp,
            version: version, deleted: row.deleted)
        arrival = Arrival(updatedAt: row.updatedAt, version: version, stamp: stamp)
    }

    init(row: Row? = nil, arrival: Arrival? = nil, hasEffects: Bool = false) {
        (self.row, self.arrival, self.hasEffects) = (row, arrival, hasEffects)
    }

    /// Whether there was a row, and a client has deleted it for good.
    var isDeletedForGood: Bool { row == nil && (arrival != nil || hasEffects) }

    /// Whether the row is as it came from another backend.
    var isUntouched: Bool {
        guard let row, let arrival else { return false }
        return row.version == arrival.version && row.updatedAt == arrival.stamp
    }
}
