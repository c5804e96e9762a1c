public import Backend
import TablesProtocol

/// What differs.
public enum DifferenceKind: String, Sendable, Hashable, CaseIterable {
    /// It is not here.
    case missing
    /// It is not there.
    case onlyHere
    case columns, version, deleted, createdAt, updatedAt
}

/// The differences of a row here from the same row at another backend.
public struct RowDifference: Sendable, Hashable {
    /// The row's id.
    public var id: String
    /// The differences, in the order of the cases.
    public var kinds: [DifferenceKind]
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
    private static func kinds(_ theirs: MovedRow, _ ours: MovedRow) -> [DifferenceKind] {
        var kinds: [DifferenceKind] = []
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
