import SyncCore
import TablesProtocol

/// What needs a person now, in all stores.
struct PersonNeeded: Sendable, Hashable {
    /// The sum of the stores in which operations are in conflict or refused.
    var decisions = StoreSummary.empty
    /// How often operations came into conflict or were refused, by identity, where one is so now. It only
    /// grows, so a new one is seen however many there are.
    var occurrences: [String: Int64] = [:]
    /// How many changes wait for a sign-in that has been missing for ``Limits/signInNeededSeconds``, by
    /// identity.
    var unsigned: [String: Int] = [:]
    /// Stores that take no write, or cannot be opened.
    var brokenStores = 0

    var unsignedChanges: Int { unsigned.values.reduce(0, +) }

    var isAny: Bool { !occurrences.isEmpty || !unsigned.isEmpty || brokenStores > 0 }

    mutating func add(
        _ store: StoreSummary, of identity: String, isSignedOut: Bool, at now: Instant
    ) {
        let (ledger, queue) = (store.ledger, store.ledger.queue)
        let forPerson = queue.conflict + queue.quarantined
        if forPerson > 0 {
            decisions.add(store)
            occurrences[identity] = ledger.conflicts + ledger.refusals
        }
        let isOld = store.oldestAt.map { $0.adding(seconds: Limits.signInNeededSeconds) <= now }
        if isSignedOut, isOld == true { unsigned[identity] = queue.open - forPerson }
    }
}

/// What messages have told. It is in memory, so after a start what needs a person is told again.
struct ToldNeeds: Sendable, Hashable {
    /// When a message was last delivered; nil before the first.
    var at: Instant?
    var needs = PersonNeeded()

    /// Whether there is something that was not told, or nothing was told for ``Limits/reminderSeconds``.
    func lacks(_ now: PersonNeeded, at time: Instant) -> Bool {
        guard now.isAny, let at, at <= time else { return now.isAny }
        return at.adding(seconds: Limits.reminderSeconds) <= time
            || now.brokenStores > needs.brokenStores
            || now.unsigned.keys.contains { needs.unsigned[$0] == nil }
            || now.occurrences.contains { $0.value > needs.occurrences[$0.key] ?? -1 }
    }

    /// Takes out what is over, so that it is told when it comes again.
    mutating func forget(exceptFor now: PersonNeeded) {
        needs.unsigned = needs.unsigned.filter { now.unsigned[$0.key] != nil }
        needs.brokenStores = min(needs.brokenStores, now.brokenStores)
    }

    /// Adds what a message told. A store that could not be read then keeps what was told of it.
    mutating func add(_ now: PersonNeeded, at time: Instant) {
        let earlier = needs.occurrences
        (at, needs) = (time, now)
        needs.occurrences.merge(earlier) { max($0, $1) }
    }
}

extension TenantRegistry {
    /// Reads from the stores what needs a person.
    func personNeeded(at now: Instant) async -> PersonNeeded {
        var needed = PersonNeeded()
        for known in overview {
            switch known.state {
            case .open(let tenant):
                guard let summary = try? await tenant.store.currentSummary() else { continue }
                let isSignedOut = await tenant.engine.backendStatus.state == .signedOut
                needed.add(summary, of: known.identity, isSignedOut: isSignedOut, at: now)
            case .closed(let summary):
                let isSignedOut = tenantState(known.identity).signIn.credential == .missing
                needed.add(summary, of: known.identity, isSignedOut: isSignedOut, at: now)
            case .unexamined: continue
            case .failed: needed.brokenStores += 1
            }
        }
        return needed
    }
}
