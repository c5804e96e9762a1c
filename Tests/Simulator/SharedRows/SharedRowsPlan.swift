package import Backend
package import SyncCore
import TablesProtocol

/// The parameters of a run of shared rows.
package struct SharedRowsPlan: Sendable, CustomStringConvertible {
    /// What a bug needs to show, where few seeds draw it.
    package enum Setting: String, Sendable, CaseIterable {
        /// Without what would hide some bugs: the habits that have a source of their own, actions in bulk, and
        /// the check of copies.
        case plain
        case deletesSoftly, deletesHard
        /// An update that is due is sent before the delete that follows it.
        case sendsUpdateFirst
        /// It is merged into the delete, unless the table deletes softly.
        case mergesIntoDelete
        /// Half of a client's steps delete a row and bring it back.
        case bringsBackOften
        /// Conflicts are merged.
        case merges
        /// A person decides, often about an older version of the conflict.
        case decidesLate
        /// Requests fail after they were sent, and the sign-in ends.
        case losesSignIn
        /// Requests arrive late.
        case arrivesLate
    }

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
    /// Whether the person also acts on all operations of a state at once.
    private(set) var actsInBulk = true
    /// Whether the store looks by itself whether its copies have drifted. What it mends would hide some bugs.
    private(set) var checksCopies = true
    /// Whether clients also wait for the backend's verdict on their writes.
    ///
    /// Known fault: a row that another writer has deleted, read back from a replica that lags behind a change of a
    /// third one, is taken for one that the backend refuses to change (seed 16).
    var sendsLive: Bool {
        checksCopies && seed.isMultiple(of: 2) && !habits.contains(.laggingReplica)
    }
    /// The faults of requests.
    var faults = SharedRowsTransport.Fault.simple

    /// The plan of a seed: every flavour, policy and habit, one or two proxies.
    /// - Parameters:
    ///   - habits: the habits instead of those that the seed draws.
    ///   - settings: what is set beside the habits, whatever the seed draws.
    package init(
        _ seed: UInt64, habits: Set<BackendHabit>? = nil, settings: Set<Setting> = []
    ) {
        let random = SeededRandom(seed &* 7919)
        self.seed = seed
        let drawn = BackendHabit.drawn(
            random, settings.contains(.plain) ? nil : SeededRandom(seed &* 7919 &+ 1))
        self.habits = habits.map(BackendHabit.consistent) ?? drawn
        flavour = random.pick(BackendHabit.flavours(self.habits))
        proxies = random.happens(0.4) ? 2 : 1
        let asks = random.happens(0.6)
        // Two proxies that insert a row again after another writer deleted it would make two rows.
        if self.habits.contains(.integerIDs) { proxies = 1 }
        conflictPolicy = asks ? .ask : random.pick(ConflictPolicy.allCases)
        // Known fault: an undelete that became an insert, met another writer's row and was refused writes all
        // columns of its old row under this policy.
        if conflictPolicy == .client { self.habits.remove(.refusals) }
        unconditionalPolicy = random.happens(0.1) ? .client : .ask
        preservesHistory = random.happens(0.3)
        deletesSoftly = random.happens(0.8)
        for setting in Setting.allCases where settings.contains(setting) { set(setting) }
        // What comes twice or late changes a row that has no version again, and a backend that assigns the ids
        // inserts it again: no client could prevent that.
        if !hasVersions || self.habits.contains(.integerIDs) {
            faults.removeAll { $0 == .sentTwice || $0 == .arrivesLate }
        }
        // What arrived without an answer cannot be read back there.
        if self.habits.contains(.insertOnly) { faults = [.notSent] }
        if self.habits.contains(.emptyLists) { faults += [.emptyAnswer, .emptyAnswer] }
    }

    private mutating func set(_ setting: Setting) {
        switch setting {
        case .plain: (actsInBulk, checksCopies) = (false, false)
        case .deletesSoftly: deletesSoftly = true
        case .deletesHard: deletesSoftly = false
        case .sendsUpdateFirst: preservesHistory = true
        case .mergesIntoDelete: preservesHistory = false
        case .bringsBackOften: bringsBackOften = true
        case .merges: conflictPolicy = .merge
        case .decidesLate: (conflictPolicy, decidesLater) = (.ask, 0.6)
        case .losesSignIn: faults = [.failsAfter, .requiresSignIn]
        case .arrivesLate: faults = [.arrivesLate]
        }
    }

    /// Whether rows have a version. A first generation table with integer ids has none.
    var hasVersions: Bool {
        !habits.contains(.noVersions)
            && !(habits.contains(.integerIDs) && flavour == .mobileServices)
    }

    /// The generation of the backend.
    var generation: Generation {
        switch flavour {
        case .mobileServices: .mobileServices
        case .mobileApps, .node, .express, .dotnet: .mobileApps
        case .datasync, .toolkit: .datasync
        }
    }

    /// Whether there is a second table.
    var hasNotes: Bool { !habits.isDisjoint(with: [.foreignKey, .failingTable]) }

    /// Whether the backend assigns the ids of a table.
    func hasIntegerIDs(_ table: TableName) -> Bool {
        habits.contains(.integerIDs) && table == Simulation.table
    }

    /// The name of a row, which stays when its id changes.
    func name(of item: Item, in table: TableName) -> String {
        guard hasIntegerIDs(table) else { return name(ofID: item.id.text) }
        return item.columns["t"]?.string ?? item.id.text
    }

    /// The name of the row with an id that is not assigned: the one spelling of all ids that are one.
    func name(ofID id: String) -> String { hasSpellings ? EqualIDs.folded(id) : id }

    /// Whether a row's id has several spellings.
    var hasSpellings: Bool { !habits.isDisjoint(with: [.equalIDs, .lowerCaseIDs]) }

    /// Whether a pull by times may bring less than the backend has.
    var isStale: Bool { !habits.isDisjoint(with: [.laggingReplica, .silentChanges]) }

    /// Whether a row cannot be read by its id.
    func isUnreadable(_ name: String) -> Bool {
        guard habits.contains(.unreadableRows), let digit = name.utf8.last else { return false }
        return digit % 3 == 0
    }

    /// Whether a script refuses a write of these columns.
    func isRefused(_ body: [UInt8]) -> Bool {
        habits.contains(.refusals) && String(decoding: body, as: UTF8.self).contains("\"no")
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
        // The clock that repeats an hour gives times again.
        if habits.contains(.silentChanges) { options.stamps = .ties(everyMilliseconds: 1) }
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
