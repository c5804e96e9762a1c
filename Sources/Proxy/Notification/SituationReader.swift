import SyncCore
import TablesProtocol

/// Reads what a person may have to be told of, from the stores and engines. What has not changed since the last
/// look is not read again.
struct SituationReader: Sendable {
    let tenants: TenantRegistry
    /// The data folder, whose disk is measured.
    let folder: DataFolder
    let now: @Sendable () -> Instant
    /// The open decisions of each identity, with what they were read at.
    private var decisions: [String: (mark: Mark, open: [OpenDecision])] = [:]
    /// The last test writes to stores, by identity.
    private var proofs: [String: (at: Instant, isWritable: Bool)] = [:]

    /// What changes when an operation begins or ceases to wait for a person.
    private struct Mark: Sendable, Hashable {
        let conflicts, refusals: Int64
        let openConflicts, openRefused: Int
        let hasValues: Bool

        init(_ ledger: Ledger, hasValues: Bool) {
            (conflicts, refusals) = (ledger.conflicts, ledger.refusals)
            (openConflicts, openRefused) = (ledger.queue.conflict, ledger.queue.quarantined)
            self.hasValues = hasValues
        }
    }

    /// - Parameters:
    ///   - tenants: whose stores are read.
    ///   - now: the wall clock.
    init(of tenants: TenantRegistry, folder: DataFolder, now: @escaping @Sendable () -> Instant) {
        (self.tenants, self.folder, self.now) = (tenants, folder, now)
    }

    /// Reads the present state.
    /// - Parameter plan: what is told. Texts that may hold values of rows are read only if messages have them.
    mutating func read(_ plan: NotificationPlan) async -> NotificationSituation {
        let hasValues = plan.hasValues
        let known = tenants.overview
        var situation = NotificationSituation(
            at: now(), identities: Set(known.map(\.identity)))
        decisions = decisions.filter { situation.identities.contains($0.key) }
        proofs = proofs.filter { situation.identities.contains($0.key) }
        var backends: [BackendStatus] = []
        var mayOpen = Limits.storesOpenedToLook
        for one in known {
            switch one.state {
            case .open(let tenant):
                guard let status = try? await tenant.engine.status() else { continue }
                if status.mode == .online, status.backend.isAsked {
                    backends.append(status.backend)
                }
                await readDecisions(
                    tenant, status.ledger, hasValues: hasValues, into: &situation)
                await readConditions(tenant, status, into: &situation)
                // A test write is made only if it is told what comes of it.
                if plan.events.contains(.disk) {
                    situation.findings[.storeNotWritable(one.identity)] =
                        await isWritable(tenant) ? .isOver : .holds()
                }
            case .closed(let summary):
                await readClosed(
                    one.identity, summary, hasValues: hasValues, &mayOpen, into: &situation)
            case .unexamined: continue
            case .failed: situation.findings[.storeNotWritable(one.identity)] = .holds()
            }
        }
        situation.findings[.backendAway] = Self.isAway(backends).map { $0 ? .holds() : .isOver }
        situation.findings[.diskAlmostFull] = Files.freeBytes(folder.path).flatMap {
            Self.finding(
                holds: $0 < Limits.freeBytesLow, isOver: $0 > Limits.freeBytesEnough)
        }
        return situation
    }

    /// Whether the backend is away, by the engines that have asked it; nil if none has.
    static func isAway(_ backends: [BackendStatus]) -> Bool? {
        if backends.isEmpty { return nil }
        return backends.allSatisfy { backend in
            switch backend.state {
            case .online, .degraded, .signedOut: false
            case .offline, .portal, .notTables: true
            }
        }
    }

    /// A finding with a range in between, in which nothing is said.
    private static func finding(holds: Bool, isOver: Bool) -> NotificationSituation.Finding? {
        holds ? .holds() : isOver ? .isOver : nil
    }

    private mutating func readDecisions(
        _ tenant: Tenant, _ ledger: Ledger, hasValues: Bool,
        into situation: inout NotificationSituation
    ) async {
        situation.conflicts += ledger.queue.conflict
        situation.refused += ledger.queue.quarantined
        let mark = Mark(ledger, hasValues: hasValues)
        if let read = decisions[tenant.identity], read.mark == mark {
            situation.decisions[tenant.identity] = read.open
            return
        }
        guard
            let open = try? await tenant.store.openDecisions(
                limit: Limits.lookedAtDecisions, withValues: hasValues)
        else { return }
        decisions[tenant.identity] = (mark, open)
        situation.decisions[tenant.identity] = open
    }

    private mutating func readConditions(
        _ tenant: Tenant, _ status: EngineStatus, into situation: inout NotificationSituation
    ) async {
        let identity = tenant.identity
        let queue = status.queue
        let needsSignIn =
            tenant.signIn?.credential == .missing || status.backend.state == .signedOut
        situation.findings[.signInNeeded(identity)] =
            needsSignIn && queue.forBackend > 0 ? .holds() : .isOver
        situation.findings[.changesWait(identity)] = await waits(tenant, status, needsSignIn)
        do throws(StoreError) {
            // Without a budget nothing of it is used.
            let used = try await tenant.store.usedShareOfBudget() ?? 0
            situation.findings[.budgetAlmostUsed(identity)] = Self.finding(
                holds: used >= Limits.budgetShareHigh, isOver: used < Limits.budgetShareEnough)
        } catch {
            situation.findings[.budgetAlmostUsed(identity)] = nil
        }
    }

    /// Whether operations have waited for long that could be sent now. Not known while a person works offline,
    /// and while the backend does not answer.
    private func waits(
        _ tenant: Tenant, _ status: EngineStatus, _ needsSignIn: Bool
    ) async -> NotificationSituation.Finding? {
        let triggers = await tenant.engine.settings.triggers
        if status.queue.forBackend == 0 || triggers == [.manual] || needsSignIn { return .isOver }
        guard status.mode == .online else { return nil }
        let before = now().adding(seconds: -Limits.stuckSeconds)
        guard let waits = try? await tenant.store.longWaits(acceptedBefore: before) else {
            return nil
        }
        if waits.isEmpty { return .isOver }
        switch status.backend.state {
        case .online, .degraded: return status.backend.isAsked ? .holds(waits) : nil
        case .offline, .portal, .notTables, .signedOut: return nil
        }
    }

    /// Whether the store takes writes, by a test write each minute.
    private mutating func isWritable(_ tenant: Tenant) async -> Bool {
        let at = now()
        if let proof = proofs[tenant.identity], proof.at <= at,
            at < proof.at.adding(seconds: Limits.writableProofSeconds)
        {
            return proof.isWritable
        }
        let isWritable = (try? await tenant.store.proveWritable()) != nil
        proofs[tenant.identity] = (at, isWritable)
        return isWritable
    }

    /// Whether operations of a closed store have waited for long that could be sent now. What waits behind an
    /// operation that waits for a person is not told from the others, so that is not known.
    private func closedWaits(
        _ summary: StoreSummary, isSignedOut: Bool
    ) async -> NotificationSituation.Finding? {
        let queue = summary.ledger.queue
        let triggers = await tenants.anonymous.engine.settings.triggers
        let before = now().adding(seconds: -Limits.stuckSeconds)
        guard queue.forBackend > 0, !isSignedOut, triggers != [.manual],
            let oldest = summary.oldestAt, oldest < before
        else { return .isOver }
        let isClear = queue.conflict + queue.quarantined == 0
        return isClear && tenants.anonymous.backendStatus.reach == .reachable ? .holds() : nil
    }

    /// The same for a closed store, as far as its summary says it. A change of what waits for a person is read
    /// from the store.
    private mutating func readClosed(
        _ identity: String, _ summary: StoreSummary, hasValues: Bool, _ mayOpen: inout Int,
        into situation: inout NotificationSituation
    ) async {
        let queue = summary.ledger.queue
        let isSignedOut = tenants.tenantState(identity).signIn.credential == .missing
        situation.findings[.signInNeeded(identity)] =
            isSignedOut && queue.forBackend > 0 ? .holds() : .isOver
        situation.findings[.changesWait(identity)] = await closedWaits(
            summary, isSignedOut: isSignedOut)
        let mark = Mark(summary.ledger, hasValues: hasValues)
        if queue.conflict + queue.quarantined == 0 {
            decisions[identity] = (mark, [])
        } else if decisions[identity]?.mark != mark, mayOpen > 0 {
            mayOpen -= 1
            if let tenant = try? await tenants.open(identity, for: .due) {
                return await readDecisions(
                    tenant, summary.ledger, hasValues: hasValues, into: &situation)
            }
        }
        situation.conflicts += queue.conflict
        situation.refused += queue.quarantined
        if let read = decisions[identity], read.mark == mark {
            situation.decisions[identity] = read.open
        }
    }
}

extension QueueCounts {
    fileprivate var forBackend: Int { queued + waiting + sending + unknown }
}
