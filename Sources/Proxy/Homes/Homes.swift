import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// Every identity's home. A request is led to one of them and sees nothing of the others.
///
/// A store opens when its user comes: with a request, with work that is due, or when the operator looks
/// at it. ``Limits/openStores`` stay open; beyond that the one that was not used for longest is closed as
/// soon as nothing uses it (`Homes+Opening.swift`). What must be known of the others is in the index.
final class Homes: Sendable {
    /// The identity of requests without a credential.
    static let anonymous = "anonymous"

    /// How homes are made.
    struct Maker: Sendable {
        /// Makes what is kept of an identity while the process lives.
        let resident: @Sendable (String) -> Resident
        /// Opens the store of an identity, and makes the engine over it; blocks.
        let home: @Sendable (String, Resident, EngineMemory?) throws(StartProblem) -> Home
        /// Told of a home that was opened: leads its events on.
        let opened: @Sendable (Home) -> Void
        /// Writes what the start says of tables into a store.
        let prepare: @Sendable (Home) async throws(StartProblem) -> Void
    }

    let stores: Mutex<OpenStores>
    let residents = Mutex<[String: Resident]>([:])
    /// Whether engines go round, which those of a command without a server do not.
    let isRunning = Atomic(false)
    let isTrimming = Atomic(false)
    let tokens: KnownTokens
    /// Where what is known of tokens is written.
    private let tokenLane: SlowLane
    /// Opens and closes stores, one after another: a store has one owner.
    let lane = SlowLane(worker: 0)
    let index: StoreIndex
    let maker: Maker
    let work: BackgroundWork
    let clock: SystemClock
    /// How long a token is taken that the backend does not confirm.
    private let graceSeconds: Int64
    /// When the backend was last asked about tokens in use.
    private let examined = Mutex<[String: Instant]>([:])
    /// The home of requests without a credential, and of public tables.
    let nobody: Home
    let nobodysLoop = EngineLoop()

    /// Makes the registry.
    /// - Parameters:
    ///   - nobody: the home of requests without a credential.
    ///   - others: the identities that have a store, with what the index says of them.
    init(
        nobody: Home, others: [String: OpenStores.Closed], index: StoreIndex, tokens: KnownTokens,
        tokenLane: SlowLane, work: BackgroundWork, graceSeconds: Int64, clock: SystemClock,
        maker: Maker
    ) {
        self.nobody = nobody
        self.index = index
        self.tokens = tokens
        self.tokenLane = tokenLane
        self.work = work
        self.graceSeconds = graceSeconds
        self.clock = clock
        self.maker = maker
        var stores = OpenStores()
        stores.closed = others
        self.stores = Mutex(stores)
    }

    /// What is kept of an identity.
    func resident(_ identity: String) -> Resident {
        residents.withLock { residents in
            if let resident = residents[identity] { return resident }
            let resident = maker.resident(identity)
            residents[identity] = resident
            return resident
        }
    }

    /// The generation that the backend is known to be; nil until one of the engines found out.
    var backendGeneration: Generation? {
        nobody.board.generation
            ?? residents.withLock { $0.values.lazy.compactMap(\.board.generation).first }
    }

    /// Where a request belongs.
    enum Door {
        case home(Home, Entry)
        /// Into the home of an identity whose store is closed.
        case closed(String, Token, Entry)
        /// Its token names nobody yet.
        case unknown(Token)
        /// Its token named an identity; the backend has to be asked whether it still does. Where the
        /// backend is away, it does until then.
        case doubtful(Token, String, until: Instant)
        /// Its token is good no more.
        case ended
    }

    /// How a request with a good token comes in.
    struct Entry: Sendable, Hashable {
        /// The backend could not confirm the token; it is good until then.
        var unconfirmed: Instant?
        /// The token that the backend is to be asked about beside the answer.
        var check: Token?
    }

    /// Where a request for a table belongs:
    /// 1. without a token, or for a public table, to nobody's home;
    /// 2. with a token that the backend has vouched for and that is good, to its owner's
    ///    (``TokenStanding``);
    /// 3. otherwise nowhere: the backend has to be asked, unless the token's time is over.
    func door(_ token: Token?, _ table: TableName, worker: Int) -> Door {
        guard let token, nobody.store.table(table, worker: worker)?.isPublic != true else {
            return .home(nobody, Entry())
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
        case .good(let isDue): return enter(identity, token, Entry(check: isDue ? token : nil))
        case .unconfirmed(let until):
            return enter(identity, token, Entry(unconfirmed: until))
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
        let isAway = reach(identity) != .reachable || nobody.board.reach == .away
        return isAway ? known.confirmedAt.adding(seconds: graceSeconds) : nil
    }

    private func enter(_ identity: String, _ token: Token, _ entry: Entry) -> Door {
        guard let home = home(identity) else { return .closed(identity, token, entry) }
        home.signedIn(token, isFresh: false)
        return .home(home, entry)
    }

    /// Whether the backend can be reached, as far as the identity's engine and the anonymous one know.
    private func reach(_ identity: String) -> BackendBoard.Reach {
        guard let board = residents.withLock({ $0[identity]?.board }) else {
            return nobody.board.reach
        }
        if board.isOnline { return .reachable }
        // Of an engine without its token `reachable` is no news.
        return board.reach == .away ? .away : nobody.board.reach
    }

    /// Whether the backend is to be asked about a token now. Of many requests with it one asks.
    func beginsExamination(of token: Token) -> Bool {
        let now = clock.now()
        let due = now.adding(seconds: -Limits.tokenRetrySeconds)
        return examined.withLock { examined in
            if let last = examined[token.text], last > due { return false }
            if examined.count >= Limits.recentTokens { examined = [:] }
            examined[token.text] = now
            return true
        }
    }

    /// Takes in that the backend takes a token which is known already.
    func confirmed(_ token: Token) async {
        guard let owner = tokens.owner(of: token) else { return }
        tokens.learn(token, of: owner)
        _ = await keepTokens()
    }

    /// Takes in that the backend refuses a token, or that its time is over: it names nobody any more.
    /// Where that cannot be kept, it holds until the process ends.
    func refused(_ token: Token) async {
        let owner = tokens.owner(of: token)
        tokens.end(token)
        if let owner { resident(owner.key).signIn.refuse(token) }
        _ = await keepTokens()
    }

    /// Takes in that the backend has vouched for a token: its owner gets a home, and the home's
    /// engine speaks with the token.
    /// - Parameters:
    ///   - byLogin: it came with a login's answer.
    ///   - userID: what a login's answer calls the user.
    ///   - earlier: the token that this one renews.
    /// - Throws: the reason why the home cannot be opened.
    func vouched(
        for token: Token, byLogin: Bool = false, userID: String? = nil,
        renewing earlier: Token? = nil
    ) async throws(StartProblem) -> Home {
        // A renewed token that says nothing of its owner belongs to whom the earlier one did.
        let saysNothing = token.claims == nil && userID == nil
        let renewed = saysNothing ? earlier.flatMap(tokens.owner(of:)) : nil
        let identity = renewed ?? Identity(token, userID: userID)
        let home = try await open(identity.key)
        tokens.learn(token, of: identity, byLogin: byLogin)
        home.signedIn(token, isFresh: true)
        // Where sign-ins are remembered, this one is as well before its client hears of it.
        if let failure = await keepTokens() { throw StartProblem("\(failure)") }
        return home
    }

    /// Takes in that a user has signed out: all tokens of the user end, and what waits in the queue
    /// waits for a sign-in. Where that cannot be kept, it holds until the process ends.
    func signedOut(_ token: Token) async {
        guard let owner = tokens.owner(of: token) else { return }
        tokens.signOut(owner)
        resident(owner.key).signIn.drop()
        _ = await keepTokens()
    }

    /// Returns when what is known of tokens is on disk, and what was handed to the lane before is done.
    /// Those that come at once share a write.
    /// - Returns: the reason where it cannot be kept; it holds all the same until the process ends.
    func keepTokens() async -> FileFailure? {
        await tokenLane.value { [tokens] () -> FileFailure? in
            do throws(FileFailure) {
                try tokens.save()
                return nil
            } catch {
                return error
            }
        }
    }
}

extension Homes {
    /// Writes to each store, to see whether it can take a durable write.
    func proveWritable() async -> Readiness.Finding {
        var finding = Readiness.Finding()
        for home in all {
            finding.stores += 1
            do throws(StoreError) {
                try await home.store.proveWritable()
            } catch {
                finding.failed += 1
                finding.reason = finding.reason ?? error.description
            }
        }
        return finding
    }
}
