import TablesProtocol
import Testing

@testable import Backend

/// What becomes of a moved row, over what there is.
@Suite struct MoveOutcomeTests {
    private static func instant(_ text: String) -> Instant { Instant(parsing: text) ?? .earliest }

    private static let early = instant("2026-01-02T03:04:05.1234567Z")
    private static let late = instant("2026-01-02T03:04:05.1234568Z")

    private static func moved(
        _ n: Int64, _ stamp: Instant?, version: String? = nil, deleted: Bool = false
    ) -> MovedRow {
        MovedRow(
            id: "a", columns: Columns([.init("n", .integer(n))]), updatedAt: stamp,
            version: version, deleted: deleted)
    }

    /// A row that is here.
    /// - Parameters:
    ///   - origin: the stamp that it had at the other backend.
    ///   - isTouched: whether a client has changed it since it came.
    private static func knownRow(
        _ n: Int64, at stamp: Instant = early, version: String = "v", origin: Instant? = nil,
        came: Bool = true, isTouched: Bool = false
    ) -> KnownRow {
        KnownRow(
            row: Row(
                id: "a", columns: Columns([.init("n", .integer(n))]), createdAt: early,
                updatedAt: stamp, version: version, deleted: false),
            arrival: came
                ? Arrival(updatedAt: origin, version: isTouched ? "before" : version, stamp: stamp)
                : nil)
    }

    @Test func `a row that is not here is new, and one that was deleted here stays away`() {
        let row = Self.moved(1, Self.early)
        #expect(MoveOutcome.decide(row, over: KnownRow(), from: .export) == .added)
        var gone = Self.knownRow(1)
        gone.row = nil
        gone.isDeletedForGood = true
        #expect(MoveOutcome.decide(row, over: gone, from: .export) == .deletedHere)
        #expect(MoveOutcome.decide(row, over: gone, from: .backend) == .deletedHere)
        let own = KnownRow(isDeletedForGood: true)
        #expect(MoveOutcome.decide(row, over: own, from: .export) == .deletedHere)
        #expect(MoveOutcome.decide(row, over: own, from: .backend) == .deletedHere)
    }

    @Test func `the newer of two versions wins by 100 ns, in whichever order they come`() {
        let older = Self.moved(1, Self.early, version: "1")
        let newer = Self.moved(2, Self.late, version: "2")
        let first = Self.knownRow(1, version: "1", origin: Self.early)
        let second = Self.knownRow(2, version: "2", origin: Self.late)
        #expect(MoveOutcome.decide(newer, over: first, from: .export) == .replaced)
        #expect(MoveOutcome.decide(older, over: second, from: .export) == .older)
        #expect(MoveOutcome.decide(older, over: first, from: .export) == .same)
    }

    @Test func `the stamp that a row had there counts, and not the one that it got here`() {
        let here = Self.knownRow(1, at: .latest, version: "1", origin: Self.early)
        let newer = Self.moved(2, Self.late, version: "2")
        #expect(MoveOutcome.decide(newer, over: here, from: .export) == .replaced)
    }

    @Test func `a row that a client has changed here stays, whatever the stamps say`() {
        let here = Self.knownRow(9, origin: Self.early, isTouched: true)
        #expect(
            MoveOutcome.decide(Self.moved(2, Self.late), over: here, from: .export) == .changedHere)
        #expect(
            MoveOutcome.decide(Self.moved(2, Self.late), over: here, from: .backend)
                == .changedHere)
        #expect(MoveOutcome.decide(Self.moved(2, Self.early), over: here, from: .export) == .older)
        #expect(
            MoveOutcome.decide(Self.moved(2, nil), over: here, from: .export) == .changedHere)
    }

    /// The backup is of `early`; `late` is after it.
    @Test func `after a restore a row that was changed on both sides stays, and is named`() {
        let source = MoveSource.exportOfRestored(to: Self.early)
        let decide = { (moved: MovedRow, here: KnownRow) in
            MoveOutcome.decide(moved, over: here, from: source)
        }
        let lost = Self.moved(2, Self.late, version: "2")
        // As the backup has it, whether it came from another backend once or not.
        #expect(decide(lost, Self.knownRow(1, came: false)) == .replaced)
        #expect(decide(lost, Self.knownRow(1, origin: .latest)) == .replaced)
        #expect(decide(lost, Self.knownRow(1, origin: Self.early, isTouched: true)) == .replaced)
        // Not here: inserted after the backup, or deleted so long before it that no trace is kept.
        let none = KnownRow(rowsWithoutTrace: Self.early...Self.late)
        #expect(decide(lost, none) == .added)
        #expect(decide(Self.moved(2, Self.early), none) == .undecided)
        // Changed here after the restore.
        let changed = Self.knownRow(3, at: .latest, version: "3", came: false)
        #expect(decide(lost, changed) == .changedHere)
        #expect(decide(Self.moved(3, Self.late, version: "2"), changed) == .older)
        #expect(decide(Self.moved(1, Self.early, version: "1"), changed) == .older)
        // Taken in from another export.
        let taken = Self.knownRow(2, at: .latest, version: "2", origin: Self.late)
        #expect(decide(lost, taken) == .same)
        #expect(decide(Self.moved(3, .latest, version: "3"), taken) == .replaced)
        // Taken in, and changed here then: the import is repeated.
        let continued = Self.knownRow(
            4, at: .latest, version: "4", origin: Self.late, isTouched: true)
        #expect(decide(lost, continued) == .older)
    }

    @Test func `a row from an older copy of the same database is compared by its own stamp`() {
        let here = Self.knownRow(1, at: Self.early, version: "1", came: false)
        #expect(
            MoveOutcome.decide(Self.moved(2, Self.late), over: here, from: .export) == .replaced)
        let newer = Self.knownRow(1, at: Self.late, version: "1", came: false)
        #expect(MoveOutcome.decide(Self.moved(2, Self.early), over: newer, from: .export) == .older)
    }

    @Test func `without two different stamps two different rows are undecided`() {
        for (stamp, origin) in [
            (nil, nil), (Self.early, nil), (nil, Self.early), (Self.early, Self.early),
        ] as [(Instant?, Instant?)] {
            let here = Self.knownRow(1, origin: origin)
            let outcome = MoveOutcome.decide(Self.moved(2, stamp), over: here, from: .export)
            #expect(outcome == .undecided)
            #expect(
                MoveOutcome.decide(Self.moved(2, stamp), over: here, from: .backend) == .replaced)
        }
    }

    @Test func `equal rows need no stamp, and a stamp with a version is more than none`() {
        let here = Self.knownRow(1, version: "1")
        #expect(MoveOutcome.decide(Self.moved(1, nil), over: here, from: .export) == .same)
        let known = Self.moved(1, Self.early, version: "AAAB")
        #expect(MoveOutcome.decide(known, over: here, from: .export) == .replaced)
    }

    @Test func `a deletion that left no row is a version as any other`() {
        let wanted: [(MovedRow, Instant?, MoveOutcome, MoveOutcome)] = [
            (Self.moved(1, Self.late), Self.early, .added, .added),
            (Self.moved(1, Self.early), Self.late, .older, .added),
            (Self.moved(1, Self.early), Self.early, .undecided, .added),
            (Self.moved(1, Self.early), nil, .undecided, .added),
            (Self.moved(1, nil), Self.early, .undecided, .added),
            (Self.moved(1, Self.late, deleted: true), Self.early, .replaced, .replaced),
            (Self.moved(1, Self.early, deleted: true), Self.late, .older, .replaced),
            (Self.moved(1, Self.early, deleted: true), Self.early, .same, .same),
            (Self.moved(1, Self.early, deleted: true), nil, .replaced, .replaced),
            (Self.moved(1, nil, deleted: true), Self.early, .same, .same),
        ]
        for (row, deletion, export, backend) in wanted {
            let gone = KnownRow(
                arrival: Arrival(updatedAt: deletion, version: "", stamp: Self.early))
            #expect(MoveOutcome.decide(row, over: gone, from: .export) == export)
            #expect(MoveOutcome.decide(row, over: gone, from: .backend) == backend)
        }
    }

    @Test func `a deletion is a version as any other`() {
        let here = Self.knownRow(1, version: "1", origin: Self.early)
        let deleted = Self.moved(1, Self.late, version: "2", deleted: true)
        #expect(MoveOutcome.decide(deleted, over: here, from: .export) == .replaced)
        let tie = Self.moved(1, Self.early, version: "2", deleted: true)
        #expect(MoveOutcome.decide(tie, over: here, from: .export) == .undecided)
    }
}
