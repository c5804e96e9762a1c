import SyncCore
import TablesProtocol

/// Which stores are open, and what is known of those that are not. Pure: the registry carries out what it
/// says, and asks it under one lock.
struct OpenStores: Sendable {
    /// An open store.
    struct Slot: Sendable {
        /// Without a use of its own.
        let tenant: Tenant
        let loop: EngineLoop
        /// What the index says of it.
        let entry: StoreIndex.Entry?
        /// Requests, runs of a command and views that hold it.
        var uses = 0
        /// Its place in the order of use.
        var usedAt: Int
        /// It is about to be closed: no use begins any more.
        var isClosing = false
    }

    /// A store that is closed.
    enum Closed: Sendable {
        case known(StoreIndex.Entry)
        /// The index does not know it, or its file is another one than when it was closed.
        case unexamined
    }

    private(set) var open: [String: Slot] = [:]
    /// Identities whose store is being opened.
    private(set) var opening: Set<String> = []
    var closed: [String: Closed] = [:]
    /// Closed ones that could not be opened when that was last tried.
    private(set) var failed: Set<String> = []
    /// What was said to all identities; under the same lock, so that no store opens or closes past it.
    var forAll = SettingsForAll()
    private var uses = 0

    /// What a caller that wants a store has to do.
    enum Claim: Sendable {
        /// It is open, and counted as in use.
        case open(Tenant)
        /// It is the caller's to open; then ``opened(_:_:loop:)`` or ``failed(_:)`` follows.
        case begin
        /// One that is idle has to be closed first, where there is one.
        case makeRoom
        /// Another caller opens or closes it, or too many are in use.
        case wait
    }

    /// Comes to a store.
    /// - Parameters:
    ///   - bound: how many may be open, the anonymous one counted.
    ///   - hasTried: no idle one could be closed just now.
    mutating func claim(_ identity: String, bound: Int, hasTried: Bool) -> Claim {
        if let tenant = use(identity) { return .open(tenant) }
        if open[identity] != nil || opening.contains(identity) { return .wait }
        if count >= Limits.openStores, !hasTried { return .makeRoom }
        if count >= bound { return .wait }
        opening.insert(identity)
        return .begin
    }

    /// Open stores, those that are being opened and the anonymous one.
    var count: Int { open.count + opening.count + 1 }

    /// Counts a use of a store that is open; nil where it is not.
    /// - Parameter isLook: only looks at how it stands, which keeps it open no longer.
    mutating func use(_ identity: String, isLook: Bool = false) -> Tenant? {
        guard let slot = open[identity], !slot.isClosing else { return nil }
        open[identity]?.uses += 1
        if !isLook { touch(identity) }
        return slot.tenant
    }

    /// A use is over.
    /// - Returns: whether a store may be closed now.
    mutating func endUse(_ identity: String) -> Bool {
        open[identity]?.uses -= 1
        return open[identity]?.uses == 0 && count > Limits.openStores
    }

    private mutating func touch(_ identity: String) {
        uses += 1
        open[identity]?.usedAt = uses
    }

    /// A store is open, and in use by the caller that opened it.
    /// - Parameter heard: the number of what its engine took in of ``forAll``.
    /// - Returns: false where there is more to be taken in first.
    mutating func opened(_ tenant: Tenant, loop: EngineLoop, heard: Int) -> Bool {
        guard heard == forAll.number else { return false }
        let entry: StoreIndex.Entry? =
            if case .known(let entry) = closed[tenant.identity] { entry } else { nil }
        opening.remove(tenant.identity)
        failed.remove(tenant.identity)
        closed[tenant.identity] = nil
        open[tenant.identity] = Slot(tenant: tenant, loop: loop, entry: entry, uses: 1, usedAt: 0)
        touch(tenant.identity)
        return true
    }

    /// A store could not be opened. One that could not be made is none.
    mutating func didFail(_ identity: String) {
        opening.remove(identity)
        if closed[identity] != nil { failed.insert(identity) }
    }

    /// The stores that may be closed now, the one that was not used for longest first: all that are not
    /// in use, where there are too many.
    /// - Parameter isOneComing: another one is to be opened.
    func idle(isOneComing: Bool) -> [String] {
        guard count + (isOneComing ? 1 : 0) > Limits.openStores else { return [] }
        return open.filter { $0.value.uses == 0 && !$0.value.isClosing }
            .sorted { $0.value.usedAt < $1.value.usedAt }.map(\.key)
    }

    /// Begins to close a store that is not in use.
    mutating func beginClosing(_ identity: String) -> Slot? {
        guard let slot = open[identity], slot.uses == 0, !slot.isClosing else { return nil }
        open[identity]?.isClosing = true
        return slot
    }

    /// A store stays open after all.
    /// - Parameter heard: the number of what its engine took in of ``forAll``.
    /// - Returns: false where there is more to be taken in first.
    mutating func stayOpen(_ identity: String, heard: Int) -> Bool {
        guard heard == forAll.number else { return false }
        open[identity]?.isClosing = false
        return true
    }

    /// A store is closed.
    mutating func didClose(_ identity: String, _ closed: Closed) {
        open[identity] = nil
        self.closed[identity] = closed
    }

    /// Takes the place of a store that is looked at for the index, unless it is open.
    mutating func beginExamination(_ identity: String) -> Bool {
        guard open[identity] == nil, !opening.contains(identity),
            case .unexamined = closed[identity]
        else { return false }
        opening.insert(identity)
        return true
    }

    /// A store was looked at and closed again; nil where it could not be opened.
    mutating func endExamination(_ identity: String, _ entry: StoreIndex.Entry?) {
        guard let entry else { return didFail(identity) }
        opening.remove(identity)
        failed.remove(identity)
        closed[identity] = .known(entry)
    }

    /// The closed stores with work that is due, the one with the oldest operation first.
    func due(_ now: Instant) -> [String] {
        let waiting = closed.compactMap { identity, store -> (identity: String, at: Instant)? in
            guard case .known(let entry) = store, entry.summary.due.isDue(now) else { return nil }
            return (identity, entry.summary.oldestAt ?? now)
        }
        return waiting.sorted { ($0.at, $0.identity) < ($1.at, $1.identity) }.map(\.identity)
    }

    /// What the closed stores hold together, and how many there are.
    var closedTotal: ClosedTotal {
        var total = ClosedTotal()
        var sum = StoreSummary.empty
        var isKnown = false
        for (identity, store) in closed {
            let hasFailed = failed.contains(identity)
            if hasFailed { total.failed += 1 }
            switch store {
            case .known(let entry):
                sum.add(entry.summary)
                isKnown = true
                if !hasFailed { total.known += 1 }
            case .unexamined: if !hasFailed { total.unexamined += 1 }
            }
        }
        if isKnown { total.sum = sum }
        return total
    }

    /// Whether an identity has a store.
    func knows(_ identity: String) -> Bool {
        open[identity] != nil || opening.contains(identity) || closed[identity] != nil
    }

    /// All identities that have a store, by name.
    var identities: [String] { Set(open.keys).union(opening).union(closed.keys).sorted() }
}
