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
    var itemID: ItemID { ItemID(stored: id, kind: .string) }

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
    /// A backend that answers: its present rows.
    case backend
}

/// The values that all rows of one move share.
package struct Move: Sendable {
    /// The time of the move, by this backend's clock. Versions that the storage gives to these rows
    /// later begin with these milliseconds, so that they differ from those of the other backend.
    var at: Instant
    /// The source of the rows.
    var source: MoveSource
    /// Whether clients sync with the table already, so that they learn only of rows with later stamps.
    var isInUse: Bool

    /// The latest stamp that a row keeps. After a later one the table could hardly give another, and
    /// clients would miss rows.
    var latestStamp: Instant { Self.latestStamp(at: at) }

    static func latestStamp(at now: Instant) -> Instant {
        Instant(milliseconds: now.milliseconds + Limits.stampAheadSeconds * 1000)
    }
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

/// The row, arrival and deletion that are known for an id.
package struct KnownRow: Sendable, Hashable {
    /// The row; nil when there is none.
    var row: Row?
    /// The arrival of the row from another backend; nil where it did not come from one. An arrival
    /// without a row that no client has deleted is a deletion that came into a table that deletes for
    /// good.
    var arrival: Arrival?
    /// Whether its last effect here is a delete. The storage looks this up only for an id without a row.
    var isDeletedForGood = false

    /// Makes the value after a row was moved. A version that the row did not bring is not known.
    init(_ placed: Moving.Placed) {
        let moved = placed.row
        let version = moved.version ?? ""
        arrival = Arrival(updatedAt: moved.updatedAt, version: version, stamp: placed.stamp)
        guard placed.isKept else { return }
        row = Row(
            id: moved.id, columns: moved.columns, createdAt: placed.createdAt,
            updatedAt: placed.stamp, version: version, deleted: moved.deleted)
    }

    init(row: Row? = nil, arrival: Arrival? = nil, isDeletedForGood: Bool = false) {
        (self.row, self.arrival, self.isDeletedForGood) = (row, arrival, isDeletedForGood)
    }

    /// Whether the row is as it came from another backend.
    var isUntouched: Bool {
        guard let row, let arrival else { return false }
        return row.version == arrival.version && row.updatedAt == arrival.stamp
    }
}

/// The differences of a row here from the same row at another backend.
public struct RowDifference: Sendable, Hashable {
    /// What differs.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It is not here.
        case missing
        /// It is not there.
        case onlyHere
        case columns, version, deleted, createdAt, updatedAt
    }

    /// The row's id.
    public var id: String
    /// The differences, in the order of the cases.
    public var kinds: [Kind]
}

/// Compares two lists of rows, page by page. Both are in the order of the ids' bytes.
public struct RowComparison: Sendable {
    /// The number of rows at the other backend.
    public private(set) var there = 0
    /// The number of rows here.
    public private(set) var here = 0
    /// The rows that differ.
    public private(set) var differences: [RowDifference] = []
    private var waitingThere: ArraySlice<MovedRow> = []
    private var waitingHere: ArraySlice<MovedRow> = []
    private var hasAllThere = false
    private var hasAllHere = false

    private let deletesForGood: Bool

    /// Nothing was compared yet.
    /// - Parameter deletesForGood: whether the table here keeps nothing of a deleted row. Then a row that is
    ///   deleted counts as none on both sides.
    public init(deletesForGood: Bool = false) { self.deletesForGood = deletesForGood }

    /// Whether the next page of the other backend is needed.
    public var needsThere: Bool { waitingThere.isEmpty && !hasAllThere }
    /// Whether the next page of this one is needed.
    public var needsHere: Bool { waitingHere.isEmpty && !hasAllHere }

    /// Adds a page of the other backend.
    public mutating func addThere(_ rows: [MovedRow], isLast: Bool) {
        let rows = counted(rows)
        there += rows.count
        waitingThere += rows
        hasAllThere = isLast
    }

    /// Adds a page of this one.
    public mutating func addHere(_ rows: [MovedRow], isLast: Bool) {
        let rows = counted(rows)
        here += rows.count
        waitingHere += rows
        hasAllHere = isLast
    }

    private func counted(_ rows: [MovedRow]) -> [MovedRow] {
        deletesForGood ? rows.filter { !$0.deleted } : rows
    }

    /// Compares as far as the pages go.
    public mutating func advance() {
        while let theirs = waitingThere.first, let ours = waitingHere.first {
            if theirs.id.utf8.elementsEqual(ours.id.utf8) {
                let kinds = Self.kinds(theirs, ours)
                if !kinds.isEmpty {
                    differences.append(RowDifference(id: theirs.id, kinds: kinds))
                }
                waitingThere.removeFirst()
                waitingHere.removeFirst()
            } else if theirs.id.utf8.lexicographicallyPrecedes(ours.id.utf8) {
                differences.append(RowDifference(id: theirs.id, kinds: [.missing]))
                waitingThere.removeFirst()
            } else {
                differences.append(RowDifference(id: ours.id, kinds: [.onlyHere]))
                waitingHere.removeFirst()
            }
        }
        if hasAllHere, waitingHere.isEmpty {
            differences += waitingThere.map { RowDifference(id: $0.id, kinds: [.missing]) }
            waitingThere = []
        }
        if hasAllThere, waitingThere.isEmpty {
            differences += waitingHere.map { RowDifference(id: $0.id, kinds: [.onlyHere]) }
            waitingHere = []
        }
    }

    /// The differences of two rows. A property that the other backend does not name does not count.
    private static func kinds(_ theirs: MovedRow, _ ours: MovedRow) -> [RowDifference.Kind] {
        var kinds: [RowDifference.Kind] = []
        if !theirs.columns.hasSameContent(as: ours.columns) { kinds.append(.columns) }
        if let version = theirs.version, version != ours.version { kinds.append(.version) }
        if theirs.deleted != ours.deleted { kinds.append(.deleted) }
        if let createdAt = theirs.createdAt, createdAt != ours.createdAt {
            kinds.append(.createdAt)
        }
        if let updatedAt = theirs.updatedAt, updatedAt != ours.updatedAt {
            kinds.append(.updatedAt)
        }
        return kinds
    }
}
