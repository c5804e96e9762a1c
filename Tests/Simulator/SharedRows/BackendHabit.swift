import Backend

/// A habit of real backends, and of what stands before them, that a run's backend may have. Each can be there
/// alone or with others.
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
    /// A script answers 400 to some values, after the check of the version.
    case refusals
    /// While a request is in flight, its row is written more often than others.
    case crowdedRows
    /// Something in between answers a write, or the list that reads a row back after a lost answer, with an
    /// empty list.
    case emptyLists
    /// Some rows cannot be read by their id: the answer is 200 without a usable row, for ever.
    case unreadableRows
    /// A gateway says "later" to all requests for a while, with other codes than 429 and 503.
    case quota
    /// Ids that differ in case or in blanks at their end are one.
    case equalIDs
    /// The ids are lower case, as in a column of the type uuid.
    case lowerCaseIDs
    /// Reads are answered from a state that is some writes older.
    case laggingReplica
    /// Rows come with an old time, or go without a trace, and the clock repeats an hour.
    case silentChanges
    /// A custom API changes several rows at once.
    case customAPI
    /// The one table takes inserts, and refuses all else: it stands alone.
    case insertOnly
}

extension BackendHabit {
    private static let simple: [BackendHabit] = [
        .integerIDs, .reusedIDs, .noVersions, .uniqueColumn, .foreignKey, .failingTable, .scripts,
        .parameter, .unsortedLists, .shortPages, .movingRows, .lateCommits,
    ]

    /// The habit that the product does not stand in the first generation. No seed draws it; `SHARED_HABITS`
    /// names it.
    private static let faulty = BackendHabit.insertOnly

    /// The habits of a seed: of the simple ones none in a third of all seeds, else each with the same
    /// probability; of the others one, or none in each fourth seed.
    /// - Parameter other: draws the others; nil for none of them. A source of its own, so that with and without
    ///   them a seed has the same simple ones.
    static func drawn(_ random: SeededRandom, _ other: SeededRandom?) -> Set<BackendHabit> {
        var habits: Set<BackendHabit> = []
        if random.happens(0.67) { habits = Set(simple.filter { _ in random.happens(0.25) }) }
        if let other, other.happens(0.75) {
            habits.insert(other.pick(allCases.filter { !simple.contains($0) && $0 != faulty }))
        }
        return consistent(habits)
    }

    /// The habits without those that exclude each other: ids can be given again only where the backend gives
    /// them, and a reference by an id that is still provisional is another subject.
    static func consistent(_ habits: Set<BackendHabit>) -> Set<BackendHabit> {
        if habits.contains(.insertOnly) { return [.insertOnly] }
        var habits = habits
        if habits.contains(.reusedIDs) { habits.insert(.integerIDs) }
        if habits.contains(.integerIDs) { habits.remove(.foreignKey) }
        // A backend that cannot sort assigns no integers, and its pages in the order of ids move no rows.
        if habits.contains(.integerIDs) { habits.remove(.unsortedLists) }
        if habits.contains(.unsortedLists) { habits.remove(.movingRows) }
        // Rows of assigned ids are found by their values, and their names are no ids.
        if habits.contains(.integerIDs) {
            habits.subtract([
                .unreadableRows, .equalIDs, .lowerCaseIDs, .laggingReplica, .silentChanges,
            ])
        }
        // Only its version tells an old row from a new one.
        if habits.contains(.noVersions) { habits.subtract([.laggingReplica, .silentChanges]) }
        if habits.contains(.equalIDs) { habits.remove(.lowerCaseIDs) }
        // A reference has the spelling of its writer, and a list without a row names the row.
        if !habits.isDisjoint(with: [.equalIDs, .lowerCaseIDs]) {
            habits.subtract([.foreignKey, .lateCommits, .unreadableRows])
        }
        // A row that goes without a trace leaves those that name it.
        if habits.contains(.silentChanges) { habits.remove(.foreignKey) }
        return habits
    }

    /// The flavours that have the habit.
    static func flavours(_ habits: Set<BackendHabit>) -> [BackendFlavour] {
        // The third generation's clients make every id. Rows of the first with integer ids do not say when they
        // were created, so that nothing tells a row from one that has its id again.
        if habits.contains(.reusedIDs) { return [.mobileApps, .node] }
        return habits.contains(.integerIDs)
            ? [.mobileServices, .mobileApps, .node] : Plan.flavours
    }
}
