import Backend
package import SyncCore

/// A habit of real backends that a run's backend may have. Each can be there alone or with others.
package enum BackendHabit: String, Sendable, Hashable, CaseIterable {
    /// The backend assigns integer ids.
    case integerIDs
    /// It gives the integer id of a deleted row again.
    case reusedIDs
    /// Its rows have no version.
    case noVersions
    /// The column `u` is unique; another row's value is answered 409.
    case uniqueColumn
    /// The column `p` of the table of notes names a row of the first table; any other value is answered 409.
    case foreignKey
    /// One of two tables fails for a while.
    case failingTable
    /// Scripts set an owner and a counter, and trim texts.
    case scripts
    /// Its read script filters by a query pair.
    case parameter
    /// It refuses `$orderby` and pages by links.
    case unsortedLists
    /// Its pages have few rows.
    case shortPages
    /// Rows change while they are pulled, page by page.
    case movingRows

    /// The habits of a seed: none in a third of all seeds, else each with the same probability.
    /// - Parameter excluded: habits that no run has.
    static func drawn(
        _ random: SeededRandom, without excluded: Set<BackendHabit>
    ) -> Set<BackendHabit> {
        guard random.happens(0.67) else { return [] }
        return consistent(
            Set(allCases.filter { _ in random.happens(0.25) }).subtracting(excluded))
    }

    /// The habits that only runs with a planted bug have: no run has shown yet that the product stands them.
    static let notYet: Set<BackendHabit> = [
        .scripts, .integerIDs, .reusedIDs, .noVersions, .uniqueColumn, .foreignKey, .failingTable,
        .parameter, .unsortedLists, .movingRows,
    ]

    /// The habits without those that exclude each other: ids can be given again only where the backend gives
    /// them, and a reference by an id that is still provisional is another subject.
    private static func consistent(_ habits: Set<BackendHabit>) -> Set<BackendHabit> {
        var habits = habits
        if habits.contains(.reusedIDs) { habits.insert(.integerIDs) }
        if habits.contains(.integerIDs) { habits.remove(.foreignKey) }
        // Pages in the order of ids move no rows.
        if habits.contains(.unsortedLists) { habits.remove(.movingRows) }
        return habits
    }
}

extension BackendHabit {
    /// The flavours that have the habit.
    static func flavours(_ habits: Set<BackendHabit>) -> [BackendFlavour] {
        // The third generation's clients make every id.
        habits.contains(.integerIDs)
            ? [.mobileServices, .mobileApps, .node] : Plan.flavours
    }
}

extension ProductBug {
    /// The habits with one of which the bug shows; empty where it shows with any backend.
    package var habits: Set<BackendHabit> {
        switch self {
        case .unversionedOverwrites: [.noVersions]
        case .refusalIsConflict: [.uniqueColumn, .foreignKey]
        case .shortPageShrinksPages: [.movingRows]
        case .unlinkedPageEnds: [.unsortedLists]
        case .updateMovesBeforeInsert, .refusedIsNotTriedAgain: [.foreignKey]
        case .ownVersionEnds: [.scripts]
        case .repeatedIDIsSentAgain: [.reusedIDs]
        case .aliasOutlivesItem, .provisionalIDIsTaken: [.integerIDs]
        case .parametersForgotten: [.parameter]
        case .tableFailureIsBackends, .tableWaitIgnored: [.failingTable]
        case .successorOverwrites, .replaceErases, .editedResultIsWholeRow, .undoOverwrites,
            .mineRevertsTheirs, .staleDecisionIsTaken, .deleteForgetsInsert, .foldOrphansSuccessor,
            .discardKeepsRow, .mergeSendsTwice, .unusableRowStopsPull, .failedPullCompletes,
            .strayListRebinds, .ignoredFilterProves, .explicitSyncLeavesWaiting,
            .missingTableRefuses, .pushIsVisible, .signInForgetsRequest, .pullOverwrites,
            .undeleteIsUnconditional, .undeleteInserts, .settledTooEarly, .updateFoldedAway,
            .undeleteForgetsUpdate, .ownVersionOutlivesOthers:
            []
        }
    }
}
