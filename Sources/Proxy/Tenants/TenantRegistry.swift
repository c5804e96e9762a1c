import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// Every identity's tenant. A request is led to one of them and sees nothing of the others.
///
/// A store opens when its user comes: with a request, with work that is due, or when the operator looks
/// at it. ``Limits/openStores`` stay open; beyond that the one that was not used for longest is closed
/// as soon as nothing uses it (`TenantRegistry+Opening.swift`). What must be known of the others is in
/// the index.
final class TenantRegistry: Sendable {
    /// How tenants are made.
    struct Factory: Sendable {
        /// Makes what is kept of an identity while the process lives.
        let tenantState: @Sendable (String) -> TenantState
        /// Opens the store of an identity, and makes the engine over it; blocks.
        let tenant: @Sendable (String, TenantState, EngineMemory?) throws(StartProblem) -> Tenant
        /// Told of a tenant that was opened: leads its events on.
        let opened: @Sendable (Tenant) -> Void
        /// Writes what the start says of tables into a store.
        let prepare: @Sendable (Tenant) async throws(StartProblem) -> Void
    }

    let stores: Mutex<OpenStores>
    let tenantStates = Mutex<[String: TenantState]>([:])
    /// Whether engines run, which those of a command without a server do not.
    let isRunning = Atomic(false)
    let isTrimming = Atomic(false)
    let tokens: KnownTokens
    /// Where what is known of tokens is written.
    private let tokenExecutor: BlockingExecutor
    /// Opens and closes stores, one after another: a store has one owner.
    let executor = BlockingExecutor(worker: 0)
    let index: StoreIndex
    let factory: Factory
    let work: BackgroundWork
    let clock: SystemClock
    /// How long a token is taken that the backend does not confirm.
    private let graceSeconds: Int64
    /// When the backend was last asked about tokens in use.
    private let recheckedAt = Mutex<[String: Instant]>([:])
    /// The tenant of requests without a credential, and of public tables.
    let anonymous: Tenant
    let anonymousLoop = EngineLoop()

    /// Makes the registry.
    /// - Parameters:
    ///   - anonymous: the tenant of requests without a credential.
    ///   - others: the identities that have a store, with what the index says of them.
    init(
        anonymous: Tenant, others: [String: OpenStores.Closed], index: StoreIndex,
        tokens: KnownTokens,
        tokenExecutor: BlockingExecutor, work: BackgroundWork, graceSeconds: Int64,
        clock: SystemClock,
        factory: Factory
    ) {
        self.anonymous = anonymous
        self.index = index
        self.tokens = tokens
        self.tokenExecutor = tokenExecutor
        self.work = work
        self.graceSeconds = graceSeconds
        self.clock = clock
        self.factory = factory
        var stores = OpenStores()
        stores.closed = others
        self.stores = Mutex(stores)
    }

    /// What is kept of an identity.
    func tenantState(_ identity: String) -> TenantState {
        tenantStates.withLock { tenantStates in
            if let tenantState = tenantStates[identity] { return tenantState }
            let tenantState = factory.tenantState(identity)
            tenantStates[identity] = tenantState
            return tenantState
        }
    }

    /// The generation that the backend is known to be; nil until one of the engines found out.
    var backendGeneration: Generation? {
        anonymous.backendStatus.generation
            ?? tenantStates.withLock { $0.values.lazy.compactMap(\.backendStatus.generation).first }
    }

    /// Where a request belongs.
    enum Resolution {
        case tenant(Tenant, TokenConfirmation)
        /// To the tenant of an identity whose store is closed.
        case closed(String, Token, TokenConfirmation)
        /// Its token names no identity yet.
        case unknown(Token)
        /// Its token named an identity; the backend has to be asked whether it still does. Where the
        /// backend is away, it does until then.
        case doubtful(Token, String, until: Instant)
        /// Its token is no longer good.
        case ended
    }

    /// What the answer to a request with a good token adds.
    struct TokenConfirmation: Sendable, Hashable {
        /// The backend could not confirm the token; it is good until then.
        var unconfirmed: Instant?
        /// The token that the backend is to be asked about beside the answer.
        var check: Token?
    }

    /// Where a request for a table belongs:
    /// 1. without a token, or for a public table, to the anonymous tenant;
    /// 2. with a token that the backend has confirmed and that is good, to its owner's
    ///    (``TokenStanding``);
    /// 3. otherwise nowhere: the backend has to be asked, unless the token's time is over.
    func resolve(_ token: Token?, _ table: TableName, worker: Int) -> Resolution {
        guard let token, anonymous.store.table(table, worker: worker)?.isPublic != true else {
            return .tenant(anonymous, TokenConfirmation())
        }
        let now = clock.now()
        guard let (known, expiresAt) = tokens.find(token) else {
            return TokenStanding.isExpired(token.expiresAt, at: now) ? .ended : .unknown(token)
        }
        let identity = known.identity.key
        guard stores.withLock({ $0.knows(identity) }) else { return .unknown(token) }
        let standing = TokenStanding.of(
            known, expiresAt: expiresAt, backend: reach(identity), at: now,
            graceSeconds: graceSeconds)
        switch standing {
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

    /// Until when a token is accepted that the backend cannot confirm now; nil where the backend can, and
    /// for a token that belongs to no identity. Ask when the answer is given: the backend may have gone
    /// since the request came.
    ///
    /// The anonymous engine and the identity's own learn of it at different moments. Where either says
    /// that the backend is away, the answer says so.
    func unconfirmed(_ token: Token) -> Instant? {
        guard let (known, _) = tokens.find(token), !known.isSignedOut else { return nil }
        let identity = known.identity.key
        let isAway = reach(identity) != .reachable || anonymous.backendStatus.reach == .away
        return isAway ? known.confirmedAt.adding(seconds: graceSeconds) : nil
    }

    private func resolved(_ identity: String, _ token: Token, _ confirmation: TokenConfirmation)
        -> Resolution
    {
        guard let tenant = tenant(identity) else { return .closed(identity, token, confirmation) }
        tenant.signedIn(token, isFresh: false)
        return .tenant(tenant, confirmation)
    }

    /// Whether the backend can be reached, as far as the identity's engine and the anonymous one know.
    private func reach(_ identity: String) -> BackendStatusCache.Reach {
        guard let backendStatus = tenantStates.withLock({ $0[identity]?.backendStatus }) else {
            return anonymous.backendStatus.reach
        }
        if backendStatus.isOnline { return .reachable }
        // Of an engine without its token `reachable` is no news.
        return backendStatus.reach == .away ? .away : anonymous.backendStatus.reach
    }

    /// Whether the backend is to be asked about a token now. Of many requests with it one asks.
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

    /// Records that the backend takes a token which is known already.
    func confirmed(_ token: Token) async {
        guard let owner = tokens.owner(of: token) else { return }
        tokens.learn(token, of: owner)
        _ = await keepTokens()
    }

    /// Records that the backend refuses a token, or that its time is over: it names no identity any
    /// more. Where that cannot be kept, it holds until the process ends.
    func refused(_ token: Token) async {
        let owner = tokens.owner(of: token)
        tokens.end(token)
        if let owner { tenantState(owner.key).signIn.refuse(token) }
        _ = await keepTokens()
    }

    /// Records that the backend has confirmed a token: its owner gets a tenant, and the tenant's engine
    /// sends the token.
    /// - Parameters:
    ///   - byLogin: it came with a login's answer.
    ///   - userID: what a login's answer calls the user.
    ///   - earlier: the token that this one renews.
    /// - Throws: the reason why the tenant cannot be opened.
    func verified(
        _ token: Token, byLogin: Bool = false, userID: String? = nil,
        renewing earlier: Token? = nil
    ) async throws(StartProblem) -> Tenant {
        // A renewed token that says nothing of its owner belongs to whom the earlier one did.
        let saysNothing = token.claims == nil && userID == nil
        let renewed = saysNothing ? earlier.flatMap(tokens.owner(of:)) : nil
        let identity = renewed ?? Identity(token, userID: userID)
        let tenant = try await open(identity.key)
        tokens.learn(token, of: identity, byLogin: byLogin)
        tenant.signedIn(token, isFresh: true)
        // Where sign-ins are remembered, this one is as well before its client gets the answer.
        if let failure = await keepTokens() { throw StartProblem("\(failure)") }
        return tenant
    }

    /// Records that a user has signed out: all tokens of the user end, and what waits in the queue waits
    /// for a sign-in. Where that cannot be kept, it holds until the process ends.
    func signedOut(_ token: Token) async {
        guard let owner = tokens.owner(of: token) else { return }
        tokens.signOut(owner)
        tenantState(owner.key).signIn.drop()
        _ = await keepTokens()
    }

    /// Returns when what is known of tokens is on disk, and what was handed to the executor before is done.
    /// Those that come at once share a write.
    /// - Returns: the reason where it cannot be kept; it holds all the same until the process ends.
    func keepTokens() async -> FileFailure? {
        await tokenExecutor.value { [tokens] () -> FileFailure? in
            do throws(FileFailure) {
                try tokens.save()
                return nil
            } catch {
                return error
            }
        }
    }
}

extension TenantRegistry {
    /// Writes to each store, to see whether it can take a durable write.
    func proveWritable() async -> Readiness.Finding {
        var finding = Readiness.Finding()
        for tenant in all {
            finding.stores += 1
            do throws(StoreError) {
                try await tenant.store.proveWritable()
            } catch {
                finding.failed += 1
                finding.reason = finding.reason ?? error.description
            }
        }
        return finding
    }
}
