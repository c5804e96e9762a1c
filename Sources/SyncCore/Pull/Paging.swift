/// How a pull pages through the backend's table.
public enum Paging: String, Sendable, Hashable, CaseIterable {
    /// By a condition on `(updatedAt, id)`.
    case keyset
    /// By a condition on `updatedAt`, with `$skip` among rows of the same time.
    case skipInTies = "skip-in-ties"
    /// By `$skip` alone, for rows without `updatedAt`. Every pull is a full one.
    case full
}

/// The position of a pull that pages by `$skip`. A page begins with the last row of the page before. If it
/// does not, rows before it were removed and later rows moved up.
struct SkipPosition: Sendable {
    /// The number of rows received: those with the cursor's time, or those of the whole table.
    private(set) var taken = 0
    /// How many rows the next step back goes.
    private var stride = 1
    /// The number of steps back since the last new row.
    private var stepsBack = 0
    /// Whether the table's order is not stable, so that going back does not help. Pages are then taken as
    /// they come.
    private(set) var isUnsure = false
    /// Whether the next page begins after the last row, because the overlapping page had no other row.
    private var skipsOverlap = false

    /// Starts after `taken` rows.
    init(taken: Int = 0) { self.taken = taken }

    /// The number of rows of the next page that were received before.
    var overlap: Int {
        taken == 0 || skipsOverlap || isUnsure ? 0 : 1
    }

    /// The `$skip` of the next page.
    var skip: Int { taken - overlap }

    /// Moves past rows that were received.
    /// - Parameter isNew: whether any of them was not received before.
    mutating func advance(by rows: Int, isNew: Bool) {
        if isNew { stepsBack = 0 }
        taken += rows
        stride = 1
        skipsOverlap = rows == 0
    }

    /// Starts at a new time, with the number of rows received with it.
    mutating func begin(with rows: Int) {
        taken = rows
        (stride, stepsBack, skipsOverlap) = (1, 0, false)
    }

    /// Goes back to the first row of the present time.
    mutating func restart() {
        countStep()
        taken = 0
    }

    /// Goes back one row, then twice as many at each call, until a page begins with a known row.
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
