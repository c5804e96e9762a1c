/// How a table of the backend is paged.
public enum Paging: String, Sendable, Hashable, CaseIterable {
    /// By `(updatedAt, id)`.
    case keyset
    /// By `updatedAt`, with `$skip` inside ties.
    case skipInTies = "skip-in-ties"
    /// By `$skip` alone, for rows without `updatedAt`; every pull is a full one.
    case full
}

/// Where paging by `$skip` stands. A page begins with the row that came last, so that it shows when rows
/// before it have gone away and those behind moved up.
struct SkipPosition: Sendable {
    /// Rows that came: since the cursor's instant began, or of the whole table.
    private(set) var taken = 0
    /// Rows to go back when the next page does not begin with a row that came.
    private var stride = 1
    /// Steps back since rows came that were new.
    private var stepsBack = 0
    /// Pages are taken as they come: going back does not help against an order that does not keep.
    private(set) var isUnsure = false
    /// The next page begins behind the last row: one that begins with it brought nothing else.
    private var leaps = false

    /// A position behind so many rows.
    init(taken: Int = 0) { self.taken = taken }

    /// Rows of the next page that came already.
    var overlap: Int {
        taken == 0 || leaps || isUnsure ? 0 : 1
    }

    /// What the next page asks to leave out.
    var skip: Int { taken - overlap }

    /// Takes rows that came behind the others.
    /// - Parameter isNew: some of them never came before.
    mutating func advance(by rows: Int, isNew: Bool) {
        if isNew { stepsBack = 0 }
        taken += rows
        stride = 1
        leaps = rows == 0
    }

    /// Begins a new instant, of which so many rows came.
    mutating func begin(with rows: Int) {
        taken = rows
        (stride, stepsBack, leaps) = (1, 0, false)
    }

    /// Goes back to the beginning of the instant.
    mutating func restart() {
        countStep()
        taken = 0
    }

    /// Goes back a row, then twice as many each time, until a page begins with a row that came.
    mutating func stepBack() {
        countStep()
        taken = max(0, taken - stride)
        stride *= 2
    }

    private mutating func countStep() {
        stepsBack += 1
        if stepsBack >= SyncLimits.pullStepsBack { isUnsure = true }
    }
}
