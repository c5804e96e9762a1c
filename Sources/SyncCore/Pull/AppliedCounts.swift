/// What the rows of a page did to the store.
struct AppliedCounts: Sendable {
    var applied = 0
    var deleted = 0
    var skippedDirty = 0

    /// Counts one row.
    mutating func add(_ row: AppliedRow) {
        switch row {
        case .inserted, .updated: applied += 1
        case .deleted: deleted += 1
        case .shadowed: skippedDirty += 1
        case .unchanged, .skipped: break
        }
    }
}

extension PullReport {
    /// Adds what a page did.
    mutating func add(_ counts: AppliedCounts) {
        applied += counts.applied
        deleted += counts.deleted
        skippedDirty += counts.skippedDirty
    }
}
