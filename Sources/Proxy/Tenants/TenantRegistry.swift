import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import Synchronization
import TablesProtocol

/// The tenants of all identities. A request is answered by one of them, without access to the others.
///
/// A store is opened for a request, for due work, or for the operator. ``Limits/openStores`` stay open.
/// Beyond that the least recently used one is closed as soon as it is not in use
/// (`StoreOpening.swift`). The summaries of the closed stores are in the index.
final class TenantRegistry: Sendable {
    /// Functions that make tenants.
    struct Factory: Sendable {
        let tenantState: @Sendable (String) -> TenantState
        /// Opens the store of an identity, and makes its engine; blocks.
        let tenant: @Sendable (String, TenantState, EngineMemory?) throws(StartProblem) -> Tenant
        /// Forwards the events of a tenant that was opened.
        let opened: @Sendable (Tenant) -> Void
        /// Writes the configured policies of tables to a store.
        let prepare: @Sendable (Tenant) async throws(StartProblem) -> Void
    }

    let stores: Mutex<OpenStores>
    let tenantStates = Mutex<[String: TenantState]>([:])
    /// The requests to the backend of the engines that have ended, so that no counter goes back.
    let endedRequestTimes = Mutex(RequestTimes())
    /// Whether the engines run. They do not for a command without a server.
    let isRunning = Atomic(false)
    let isTrimming = Atomic(false)
    let tokens: KnownTokens
    let owners: StoreOwners
    /// Writes the files of ``tokens`` and ``owners``.
    private let tokenExecutor: BlockingExecutor
    /// Opens and closes stores, one after another.
    let executor = BlockingExecutor(worker: 0)
    let index: StoreIndex
    let factory: Factory
    let work: BackgroundWork
    let clock: SystemClock
    /// Seconds for which a token is accepted that the backend does not confirm.
    private let graceSeconds: Int64
    /// The time of the last verification of each token in use.
    private let recheckedAt = Mutex<[String: Instant]>([:])
    /// The tenant of requests without a credential, and of public tables.
    let anonymous: Tenant
    let anonymousLoop = EngineLoop()
    /// Whether what was written without a sign-in is given to the next user who signs in.
    let adoptsUnsigned: Bool
    /// What was last given to a user.
    let adopted = Mutex<UnsignedChanges?>(nil)
    /// One handover is under way at a time.
    let handovers = Permits(1)

    /// Makes the registry.
    /// - Parameters:
    ///   - anonymous: the tenant of requests without a credential.
    ///   - others: the other identities that have a store, with their index entries.
    init(
        anonymous: Tenant, others: [String: OpenStores.Closed], index: StoreIndex,
        tokens: KnownTokens, owners: StoreOwners,
        tokenExecutor: BlockingExecutor, work: BackgroundWork, graceSeconds: Int64,
        adoptsUnsigned: Bool, clock: SystemClock,
        factory: Factory
    ) {
        self.adoptsUnsigned = adoptsUnsigned
        self.anonymous = anonymous
        self.index = index
        self.tokens = tokens
        self.owners = owners
        self.tokenExecutor = tokenExecutor
        self.work = work
        self.graceSeconds = graceSeconds
        self.clock = clock
        self.factory = factory
        var stores = OpenStores()
        stores.closed = others
        self.stores = Mutex(stores)
    }

    /// The state of an identity; made if there is none.
    func tenantState(_ identity: String) -> TenantState {
        tenantStates.withLock { tenantStates in
            if let tenantState = tenantStates[identity] { return tenantState }
            let tenantState = factory.tenantState(identity)
            tenantStates[identity] = tenantState
            return tenantState
        }
    }

    /// The backend's generation; nil while no engine knows it.
    var backendGeneration: Generation? {
        anonymous.backendStatus.generation
            ?? tenantStates.withLock { $0.values.lazy.compactMap(\.backendStatus.generation).first }
    }

    /// The result of ``resolve(_:_:worker:)``.
    enum TokenResolution {
        case tenant(Tenant, TokenConfirmation)
        /// An identity whose store is closed.
        case closed(String, Token, TokenConfirmation)
        case unknown(Token)
        /// The token of an identity has to be verified again. If the backend cannot be reached, the token is
        /// valid until `until`.
        case doubtful(Token, String, until: Instant)
        /// The token has expired, was refused by the backend, or its user has signed out.
        case ended
    }

    /// How a valid token was confirmed.
    struct TokenConfirmation: Sendable, Hashable {
        /// If the backend could not confirm the token: until when it is valid.
        var unconfirmed: Instant?
        /// A token to verify again in the background.
        var check: Token?
    }

    /// Finds the tenant of a request for a table:
    /// 1. without a token, or for a public table: the anonymous one;
    /// 2. with a confirmed and valid token (``TokenStanding``): that of its owner;
    /// 3. otherwise none: the token has to be verified, unless it has expired.
    func resolve(_ token: Token?, _ table: TableName, worker: Int) -> TokenResolution {
        guard let token, !anonymous.store.isPublic(table, worker: worker) else {
            return .tenant(anonymous, TokenConfirmation())
        }
        guard let (known, expiresAt) = tokens.find(token) else {
            let isExpired = TokenStanding.isExpired(token.expiresAt, at: clock.now())
            return isExpired ? .ended : .unknown(token)
        }
        let identity = known.identity.key
        guard stores.withLock({ $0.knows(identity) }) else { return .unknown(token) }
        switch standing(known, expiresAt: expiresAt) {
        case .ended: return .ended
        case .doubtful:
            return .doubtful(
                token, identity, until: known.confirmedAt.adding(seconds: graceSeconds))
        case .good(let isDue):
            return resolved(identity, token, TokenConfirmation(check: isDue ? token : nil))
        case .unconfirmed(let until):
            return resolved(identity, token, TokenConfirmation(unconfirmed: until))
        }
    }

    /// The end of an unconfirmed token's validity, while the backend cannot be reached. Nil if the backend can be
    /// reached, and for a token without an identity.
    ///
    /// Call it when the answer is given, because the state may have changed since the request. The anonymous
    /// engine and that of the identity notice a lost backend at different times; it is lost if either says so.
    func unconfirmed(_ token: Token) -> Instant? {
        guard let (known, _) = tokens.find(token), !known.isSignedOut else { return nil }
        let identity = known.identity.key
        let isAway = reach(identity) != .reachable || anonymous.backendStatus.reach == .away
        return isAway ? known.confirmedAt.adding(seconds: graceSeconds) : nil
    }

    /// Whether a token still belongs to an identity: it has not expired, the backend has not refused it, and its
    /// user has not signed out.
    func holds(_ token: Token, _ identity: String) -> Bool {
        guard let (known, expiresAt) = tokens.find(token), known.identity.key == identity else {
            return false
        }
        return standing(known, expiresAt: expiresAt) != .ended
    }

    private func standing(_ known: KnownToken, expiresAt: Instant?) -> TokenStanding {
        TokenStanding.of(
            known, expiresAt: expiresAt, backend: reach(known.identity.key), at: clock.now(),
            graceSeconds: graceSeconds)
    }

    private func resolved(_ identity: String, _ token: Token, _ confirmation: TokenConfirmation)
        -> TokenResolution
    {
        guard let tenant = tenant(identity) else { return .closed(identity, token, confirmation) }
        tenant.signedIn(token, isFresh: false)
        return .tenant(tenant, confirmation)
    }

    /// Whether the backend can be reached, by the identity's engine and the anonymous one.
    private func reach(_ identity: String) -> BackendStatusCache.Reach {
        guard let backendStatus = tenantStates.withLock({ $0[identity]?.backendStatus }) else {
            return anonymous.backendStatus.reach
        }
        if backendStatus.isOnline { return .reachable }
        // An engine without a token may say `reachable` without having asked, so only its `away` counts.
        return backendStatus.reach == .away ? .away : anonymous.backendStatus.reach
    }

    /// Whether a token is to be verified now. Of several requests with it, one gets true.
    func shouldRecheck(_ token: Token) -> Bool {
        let now = clock.now()
        let due = now.adding(seconds: -Limits.tokenRetrySeconds)
        return recheckedAt.withLock { recheckedAt in
            if let last = recheckedAt[token.text], last > due { return false }
            if recheckedAt.count >= Limits.recentTokens { recheckedAt = [:] }
            recheckedAt[token.text] = now
            return true
        }
    }

    /// Records that the backend accepts a known token.
    func confirmed(_ token: Token) async {
        guard let owner = tokens.owner(of: token) else { return }
        tokens.learn(token, of: owner)
        _ = await keepTokens()
    }

    /// Removes a token that the backend refuses or that has expired. If the file cannot be written, the removal
    /// lasts until the process ends.
    func refused(_ token: Token) async {
        let owner = tokens.owner(of: token)
        tokens.end(token)
        if let owner { tenantState(owner.key).signIn.refuse(token) }
        _ = await keepTokens()
    }

    /// Records a token that the backend has accepted, and adds it to the tokens of its owner's engine.
    /// - Parameters:
    ///   - byLogin: whether it came with a login's answer.
    ///   - userID: the user's id in a login's answer.
    ///   - earlier: the token that this one renews.
    /// - Returns: the tenant of its owner, which may be new.
    /// - Throws: ``StartProblem`` if the tenant cannot be opened, or the token cannot be written.
    func verified(
        _ token: Token, byLogin: Bool = false, userID: String? = nil,
        renewing earlier: Token? = nil
    ) async throws(StartProblem) -> Tenant {
        // A renewed token that does not name its owner has the owner of the earlier one.
        let isUnnamed = token.claims == nil && userID == nil
        let renewed = isUnnamed ? earlier.flatMap(tokens.owner(of:)) : nil
        let own = renewed ?? Identity(token, userID: userID)
        let user = renewed == nil ? Identity.user(token, userID: userID) : nil
        let identity = owners.identity(of: own, user: user, hasStore: knows(own.key))
        let tenant = try await open(identity.key)
        if let user, identity != own {
            do { try await tenant.engine.belong(to: user) } catch { throw StartProblem("\(error)") }
        }
        owners.signedIn(identity.key)
        tokens.learn(token, of: identity, byLogin: byLogin)
        tenant.signedIn(token, isFresh: true)
        // The token is known after a restart too, before the client gets the answer.
        if let failure = await keepTokens() { throw StartProblem("\(failure)") }
        return tenant
    }

    /// Removes all tokens of a user who has signed out. The user's queue waits for a sign-in. If the file cannot
    /// be written, the removal lasts until the process ends.
    func signedOut(_ token: Token) async {
        guard let owner = tokens.owner(of: token) else { return }
        tokens.signOut(owner)
        tenantState(owner.key).signIn.removeTokens()
        _ = await keepTokens()
    }

    /// Returns when ``owners`` and ``tokens`` are on disk, and all earlier work of the executor is done.
    /// Concurrent callers share a write.
    /// - Returns: why a file cannot be written; the changes then last until the process ends. Nil on success.
    func keepTokens() async -> FileFailure? {
        await tokenExecutor.value { [owners, tokens] () -> FileFailure? in
            do throws(FileFailure) {
                try owners.save()
                try tokens.save()
                return nil
            } catch {
                return error
            }
        }
    }
}

extension TenantRegistry {
    /// Makes a durable test write to each open store.
    func proveWritable() async -> Readiness.Finding {
        var finding = Readiness.Finding()
        for tenant in all {
            finding.stores += 1
            do throws(StoreError) {
                try await tenant.store.health.proveWritable()
            } catch {
                finding.failed += 1
                finding.reason = finding.reason ?? error.description
            }
        }
        return finding
    }
}

// Every identity with the state of its store, for the operator's list.
extension TenantRegistry {
    /// An identity that has a store.
    struct Known: Sendable {
        /// Whether the store is open, and what is known of it.
        enum State: Sendable {
            case open(Tenant)
            case closed(StoreSummary)
            /// Closed, and not examined since the start.
            case unexamined
            /// Closed, because it could not be opened when that was last tried.
            case failed
        }

        let identity: String
        let state: State

        /// The state in the operator API and in the metrics.
        var word: Answers.KnownIdentity.State {
            switch state {
            case .open: .open
            case .closed: .closed
            case .unexamined: .unexamined
            case .failed: .failed
            }
        }
    }

    /// Every identity, `anonymous` first, the others in the order of their keys.
    var overview: [Known] {
        let stores = stores.withLock { $0 }
        return identities.map { identity in
            let state: Known.State
            if identity == anonymous.identity {
                state = .open(anonymous)
            } else if let tenant = tenant(identity, isInspection: true) {
                state = .open(tenant)
            } else if stores.failed.contains(identity) {
                state = .failed
            } else if case .known(let entry) = stores.closed[identity] {
                state = .closed(entry.summary)
            } else {
                state = .unexamined
            }
            return Known(identity: identity, state: state)
        }
    }

    /// Warnings about stores with open operations that were bound to another backend, and whose users have
    /// not signed in there.
    func waitingWarnings() async -> [String] {
        let waiting = owners.waiting
        if waiting.isEmpty { return [] }
        // The number is nil for a store that was not examined.
        var found: [(store: String, open: Int?)] = []
        for known in overview where waiting.contains(known.identity) {
            let open: Int?
            switch known.state {
            case .open(let tenant): open = (try? await tenant.engine.status())?.queue.open
            case .closed(let summary): open = summary.ledger.queue.open
            case .unexamined, .failed: open = nil
            }
            if open != 0 { found.append((known.identity, open)) }
        }
        guard let first = found.first else { return [] }
        let all = found.reduce(0) { $0 + ($1.open ?? 0) }
        let names = found.prefix(Limits.namedStores).map { one in
            "\(one.store) (\(one.open.map { "\($0)" } ?? "not looked at"))"
        }
        let more = found.count > names.count ? " and others" : ""
        let changes = all > 0 ? "\(all) changes wait" : "Changes may wait"
        return [
            "\(changes) until their users sign in at this backend: "
                + "\(names.joined(separator: ", "))\(more). A user who gets another identity there "
                + "needs your word: start once with --rebind --identity \(first.store)=USER, where USER "
                + "is the user's id at this backend, or the identity that the user already has here."
        ]
    }
}
