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
    /// Another writer's new row has the time of its insert, and lists have it only seconds after that.
    case lateCommits

    /// The habits of a seed: none in a third of all seeds, else each with the same probability.
    static func drawn(_ random: SeededRandom) -> Set<BackendHabit> {
        guard random.happens(0.67) else { return [] }
        return consistent(Set(allCases.filter { _ in random.happens(0.25) }))
    }

    /// The habits without those that exclude each other: ids can be given again only where the backend gives
    /// them, and a reference by an id that is still provisional is another subject.
    private static func consistent(_ habits: Set<BackendHabit>) -> Set<BackendHabit> {
        var habits = habits
        if habits.contains(.reusedIDs) { habits.insert(.integerIDs) }
        if habits.contains(.integerIDs) { habits.remove(.foreignKey) }
        // A backend that cannot sort assigns no integers, and its pages in the order of ids move no rows.
        if habits.contains(.integerIDs) { habits.remove(.unsortedLists) }
        if habits.contains(.unsortedLists) { habits.remove(.movingRows) }
        return habits
    }
}

extension BackendHabit {
    /// The flavours that have the habit.
    static func flavours(_ habits: Set<BackendHabit>) -> [BackendFlavour] {
        // The third generation's clients make every id. Rows of the first with integer ids do not say when they
        // were created, so that nothing tells a row from one that has its id again.
        if habits.contains(.reusedIDs) { return [.mobileApps, .node] }
        return habits.contains(.integerIDs)
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
        case .aliasOutlivesItem: [.reusedIDs]
        case .provisionalIDIsTaken: [.integerIDs]
        case .settledTooEarly: [.lateCommits]
        case .parametersForgotten: [.parameter]
        case .tableFailureIsBackends, .tableWaitIgnored: [.failingTable]
        case .successorOverwrites, .replaceErases, .editedResultIsWholeRow, .undoOverwrites,
            .mineRevertsTheirs, .staleDecisionIsTaken, .deleteForgetsInsert, .foldOrphansSuccessor,
            .discardKeepsRow, .mergeSendsTwice, .unusableRowStopsPull, .failedPullCompletes,
            .strayListRebinds, .ignoredFilterProves, .explicitSyncLeavesWaiting,
            .missingTableRefuses, .pushIsVisible, .signInForgetsRequest, .pullOverwrites,
            .undeleteIsUnconditional, .undeleteInserts, .updateFoldedAway,
            .undeleteForgetsUpdate, .ownVersionOutlivesOthers:
            []
        }
    }
}
