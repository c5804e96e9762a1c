import Platform
import SyncCore
import TablesProtocol

/// The open stores, and the index entries of the closed ones. A pure value: ``TenantRegistry`` opens and
/// closes the stores, and keeps this value under one lock.
struct OpenStores: Sendable {
    struct Slot: Sendable {
        let tenant: Tenant
        let loop: EngineLoop
        let entry: StoreIndex.Entry?
        /// The number of leases.
        var uses = 0
        /// The number of its last use, in the order of all uses.
        var usedAt: Int
        /// Whether it is being closed; then no use begins.
        var isClosing = false
    }

    enum Closed: Sendable {
        case known(StoreIndex.Entry)
        /// The index has no entry for it, or its file has changed since the entry was made.
        case unexamined
    }

    private(set) var open: [String: Slot] = [:]
    /// The identities whose store is being opened.
    private(set) var opening: Set<String> = []
    var closed: [String: Closed] = [:]
    /// The closed stores that could not be opened at the last attempt.
    private(set) var failed: Set<String> = []
    /// The settings that were changed for all identities. They are under the same lock, so that no store
    /// opens or closes without them.
    var settingsForAll = SettingsForAll()
    private var uses = 0

    /// The result of ``claim(_:bound:hasTried:)``.
    enum Claim: Sendable {
        /// The store is open; the use is counted.
        case open(Tenant)
        /// The caller has to open it, and then call ``opened(_:loop:appliedNumber:)`` or ``didFail(_:)``.
        case begin
        /// The caller has to close an idle store first, if there is one.
        case makeRoom
        /// The caller has to wait: another caller opens or closes it, or too many are in use.
        case wait
    }

    /// Claims a store for a use.
    /// - Parameters:
    ///   - bound: how many stores may be open, the anonymous one included.
    ///   - hasTried: whether the caller has just found no idle store to close.
    mutating func claim(_ identity: String, bound: Int, hasTried: Bool) -> Claim {
        if let tenant = use(identity) { return .open(tenant) }
        if open[identity] != nil || opening.contains(identity) { return .wait }
        if count >= Limits.openStores, !hasTried { return .makeRoom }
        if count >= bound { return .wait }
        opening.insert(identity)
        return .begin
    }

    /// The number of stores that are open or being opened, the anonymous one included.
    var count: Int { open.count + opening.count + 1 }

    /// Counts a use of an open store; nil if it is not open.
    /// - Parameter isInspection: whether the use only reads its state. Such a use does not make it more
    ///   recently used.
    mutating func use(_ identity: String, isInspection: Bool = false) -> Tenant? {
        guard let slot = open[identity], !slot.isClosing else { return nil }
        open[identity]?.uses += 1
        if !isInspection { touch(identity) }
        return slot.tenant
    }

    /// Ends a use.
    /// - Returns: whether a store can be closed now.
    mutating func endUse(_ identity: String) -> Bool {
        open[identity]?.uses -= 1
        return open[identity]?.uses == 0 && count > Limits.openStores
    }

    private mutating func touch(_ identity: String) {
        uses += 1
        open[identity]?.usedAt = uses
    }

    /// Records that a store is open, and used by the caller that opened it.
    /// - Parameter appliedNumber: the number of the ``settingsForAll`` that its engine has applied.
    /// - Returns: false, with nothing recorded, if there are newer ones to apply first.
    mutating func opened(_ tenant: Tenant, loop: EngineLoop, appliedNumber: Int) -> Bool {
        guard appliedNumber == settingsForAll.number else { return false }
        let entry: StoreIndex.Entry? =
            if case .known(let entry) = closed[tenant.identity] { entry } else { nil }
        opening.remove(tenant.identity)
        failed.remove(tenant.identity)
        closed[tenant.identity] = nil
        open[tenant.identity] = Slot(tenant: tenant, loop: loop, entry: entry, uses: 1, usedAt: 0)
        touch(tenant.identity)
        return true
    }

    /// Records that a store could not be opened. A new store that could not be made does not count as failed.
    mutating func didFail(_ identity: String) {
        opening.remove(identity)
        if closed[identity] != nil { failed.insert(identity) }
    }

    /// The stores that can be closed now, the least recently used first: all that are not in use, if more
    /// than ``Limits/openStores`` are open.
    /// - Parameter reservesOne: whether another store will be opened, and counts.
    func idle(reservesOne: Bool) -> [String] {
        guard count + (reservesOne ? 1 : 0) > Limits.openStores else { return [] }
        return open.filter { $0.value.uses == 0 && !$0.value.isClosing }
            .sorted { $0.value.usedAt < $1.value.usedAt }.map(\.key)
    }

    /// Begins to close a store that is not in use.
    mutating func beginClosing(_ identity: String) -> Slot? {
        guard let slot = open[identity], slot.uses == 0, !slot.isClosing else { return nil }
        open[identity]?.isClosing = true
        return slot
    }

    /// Records that a store stays open, since it could not be closed.
    /// - Parameter appliedNumber: the number of the ``settingsForAll`` that its engine has applied.
    /// - Returns: false, with nothing recorded, if there are newer ones to apply first.
    mutating func stayOpen(_ identity: String, appliedNumber: Int) -> Bool {
        guard appliedNumber == settingsForAll.number else { return false }
        open[identity]?.isClosing = false
        return true
    }

    /// Records that a store is closed.
    mutating func didClose(_ identity: String, _ closed: Closed) {
        open[identity] = nil
        self.closed[identity] = closed
    }

    /// Begins to read a store for the index. Until the end it counts as being opened.
    /// - Returns: false if the store is open, or its entry is known.
    mutating func beginExamination(_ identity: String) -> Bool {
        guard open[identity] == nil, !opening.contains(identity),
            case .unexamined = closed[identity]
        else { return false }
        opening.insert(identity)
        return true
    }

    /// Records the entry of a store that was read and closed again; nil if it could not be opened.
    mutating func endExamination(_ identity: String, _ entry: StoreIndex.Entry?) {
        guard let entry else { return didFail(identity) }
        opening.remove(identity)
        failed.remove(identity)
        closed[identity] = .known(entry)
    }

    /// The closed stores with due work, the one with the oldest operation first.
    func due(_ now: Instant) -> [String] {
        let waiting = closed.compactMap { identity, store -> (identity: String, at: Instant)? in
            guard case .known(let entry) = store, entry.summary.due.isDue(now) else { return nil }
            return (identity, entry.summary.oldestAt ?? now)
        }
        return waiting.sorted { ($0.at, $0.identity) < ($1.at, $1.identity) }.map(\.identity)
    }

    /// The stores of one moment, each once.
    struct Census: Sendable {
        /// The open stores by identity, each with a use that is counted.
        var open: [Tenant] = []
        var closed = ClosedTotal()
        /// The stores that are being closed. They are in neither of the others.
        var closing: Set<String> = []
    }

    /// Counts the stores.
    /// - Parameter identities: those to count; nil for all.
    mutating func census(of identities: Set<String>? = nil) -> Census {
        func counts(_ identity: String) -> Bool { identities?.contains(identity) ?? true }
        var census = Census()
        for identity in open.keys.sorted() where counts(identity) {
            if let tenant = use(identity, isInspection: true) {
                census.open.append(tenant)
            } else {
                census.closing.insert(identity)
            }
        }
        for (identity, store) in closed where counts(identity) {
            census.closed.add(store, hasFailed: failed.contains(identity))
        }
        return census
    }

    var closedTotal: ClosedTotal {
        var total = ClosedTotal()
        for (identity, store) in closed {
            total.add(store, hasFailed: failed.contains(identity))
        }
        return total
    }

    func knows(_ identity: String) -> Bool {
        open[identity] != nil || opening.contains(identity) || closed[identity] != nil
    }

    /// All identities that have a store, by name.
    var identities: [String] { Set(open.keys).union(opening).union(closed.keys).sorted() }
}

struct ClosedTotal: Sendable, Hashable {
    /// The sum of the known summaries; nil if there is none.
    var sum: StoreSummary?
    /// Bytes of the files of the stores in the sum.
    var bytes: Int64 = 0
    /// The number of stores in the sum that have not failed to open.
    var known = 0
    /// The number of stores that were not read since the start. They are not in the sum.
    var unexamined = 0
    /// The number of stores that could not be opened at the last attempt. They may be in the sum.
    var failed = 0

    mutating func add(_ store: OpenStores.Closed, hasFailed: Bool) {
        if hasFailed { failed += 1 }
        switch store {
        case .known(let entry):
            add(entry.summary)
            bytes += entry.file?.bytes ?? 0
            if !hasFailed { known += 1 }
        case .unexamined: if !hasFailed { unexamined += 1 }
        }
    }

    mutating func add(_ other: ClosedTotal) {
        if let summary = other.sum { add(summary) }
        bytes += other.bytes
        known += other.known
        unexamined += other.unexamined
        failed += other.failed
    }

    private mutating func add(_ summary: StoreSummary) {
        var total = sum ?? .empty
        total.add(summary)
        sum = total
    }

    /// Warnings for the operator. No user is named.
    var warnings: [String] {
        var warnings: [String] = []
        if unexamined > 0 {
            warnings.append(
                "\(unexamined) store\(unexamined == 1 ? " was" : "s were") not looked at since the "
                    + "start; the numbers leave \(unexamined == 1 ? "it" : "them") out.")
        }
        if failed > 0 {
            warnings.append(
                "\(failed) store\(failed == 1 ? "" : "s") could not be opened, so the changes in "
                    + "\(failed == 1 ? "it" : "them") wait. `understudy doctor` says which and why."
            )
        }
        return warnings
    }
}
