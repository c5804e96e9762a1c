package import Backend
package import SyncCore
import TablesProtocol

/// The parameters of a run of shared rows.
package struct SharedRowsPlan: Sendable, CustomStringConvertible {
    /// The seed of all random choices.
    package var seed: UInt64
    /// The flavour of the backend.
    package var flavour: BackendFlavour
    /// The number of proxies.
    package var proxies: Int
    /// The policy for conflicts of writes with a condition.
    package var conflictPolicy: ConflictPolicy
    /// The policy for conflicts of writes without a condition.
    package var unconditionalPolicy: ConflictPolicy
    /// Whether an update that is due is sent before the delete that follows it.
    package var preservesHistory: Bool
    /// Whether the tables delete softly.
    package var deletesSoftly: Bool
    /// The habits of the backend.
    package var habits: Set<BackendHabit>
    /// The probability that the person decides later about an older version of a conflict.
    package var decidesLater = 0.3
    /// Whether half of a client's steps delete a row and bring it back.
    private(set) var bringsBackOften = false
    /// The faults of requests.
    var faults = SharedRowsTransport.Fault.allCases

    /// The plan of a seed: every flavour, policy and habit, one or two proxies.
    /// - Parameter bug: a planted bug that shows only with some settings gets these settings.
    package init(_ seed: UInt64, lookingFor bug: ProductBug? = nil) {
        let random = SeededRandom(seed &* 7919)
        self.seed = seed
        habits = BackendHabit.drawn(random)
        flavour = random.pick(BackendHabit.flavours(habits))
        proxies = random.happens(0.4) ? 2 : 1
        let asks = random.happens(0.6)
        // Two proxies that insert a row again after another writer deleted it would make two rows.
        if habits.contains(.integerIDs) { proxies = 1 }
        conflictPolicy = asks ? .ask : random.pick(ConflictPolicy.allCases)
        unconditionalPolicy = random.happens(0.1) ? .client : .ask
        preservesHistory = random.happens(0.3)
        deletesSoftly = random.happens(0.8)
        switch bug {
        case .foldOrphansSuccessor: preservesHistory = true
        case .mergeSendsTwice: conflictPolicy = .merge
        case .staleDecisionIsTaken: (conflictPolicy, decidesLater) = (.ask, 0.6)
        case .signInForgetsRequest: faults = [.failsAfter, .requiresSignIn]
        case .undeleteIsUnconditional:
            (deletesSoftly, bringsBackOften, faults) = (true, true, [.arrivesLate])
        case .undeleteInserts, .aliasOutlivesItem: deletesSoftly = false
        case .updateFoldedAway: (deletesSoftly, preservesHistory) = (true, false)
        case .undeleteForgetsUpdate:
            (deletesSoftly, bringsBackOften, preservesHistory) = (true, true, false)
        default: break
        }
        // What comes twice or late changes a row that has no version again, and a backend that assigns the ids
        // inserts it again: no client could prevent that.
        if !hasVersions || habits.contains(.integerIDs) {
            faults.removeAll { $0 == .sentTwice || $0 == .arrivesLate }
        }
    }

    /// Whether rows have a version. A first generation table with integer ids has none.
    var hasVersions: Bool {
        !habits.contains(.noVersions)
            && !(habits.contains(.integerIDs) && flavour == .mobileServices)
    }

    /// Whether there is a second table.
    var hasNotes: Bool { !habits.isDisjoint(with: [.foreignKey, .failingTable]) }

    /// Whether the backend assigns the ids of a table.
    func hasIntegerIDs(_ table: TableName) -> Bool {
        habits.contains(.integerIDs) && table == Simulation.table
    }

    /// The name of a row, which stays when its id changes.
    func name(of item: Item, in table: TableName) -> String {
        guard hasIntegerIDs(table) else { return item.id.text }
        return item.columns["t"]?.string ?? item.id.text
    }

    /// The most rows in a page that a proxy requests.
    var pageRows: Int { habits.contains(.movingRows) ? 5 : 60 }

    /// The columns that no client changes: the name, and what the backend's scripts set.
    var scriptedColumns: Set<String> {
        habits.contains(.scripts) ? ["t", "owner", "changes"] : ["t"]
    }

    /// A value of a client as the backend stores it.
    func stored(_ value: String) -> String {
        habits.contains(.scripts)
            ? value.replacing("\" ", with: "\"").replacing(" \"", with: "\"") : value
    }

    /// The backend's options.
    func backendOptions(_ tables: [TableName]) -> BackendOptions {
        var options = BackendOptions(flavour: flavour)
        for table in tables {
            var one = TableOptions(softDelete: deletesSoftly)
            if hasIntegerIDs(table) { one.idKind = .integer }
            one.reusesIDs = habits.contains(.reusedIDs)
            if habits.contains(.parameter) { one.readParameter = "region" }
            one.hasVersions = !habits.contains(.noVersions)
            if habits.contains(.uniqueColumn), table == Simulation.table {
                one.uniqueColumns = ["u"]
            }
            if habits.contains(.foreignKey), table != Simulation.table {
                one.references = ["p": Simulation.table]
            }
            if habits.contains(.scripts) { one.scripts = Set(TableOptions.Script.allCases) }
            options.tables[table] = one
        }
        if habits.contains(.shortPages) { options.pageRows = 4 }
        if habits.contains(.unsortedLists) { options.lists = .linked }
        // A counter would start again for a row that was deleted hard, and give another row the same
        // version.
        options.versions = .random
        return options
    }

    /// Whether a policy resends an operation that may have taken effect.
    var repeatsLocal: Bool { conflictPolicy == .client || unconditionalPolicy == .client }

    /// Whether a policy lets the local change win over a value that its client has not seen.
    var letsLocalWin: Bool {
        conflictPolicy == .client || conflictPolicy == .merge || unconditionalPolicy == .client
    }
}

extension SharedRowsPlan {
    package var description: String {
        let words = habits.map(\.rawValue).sorted().joined(separator: "+")
        return "\(flavour), \(conflictPolicy), \(unconditionalPolicy), "
            + "\(deletesSoftly ? "soft" : "hard")\(preservesHistory ? ", history" : "")"
            + (words.isEmpty ? "" : ", \(words)")
    }
}

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
