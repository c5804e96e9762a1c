import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// Every identity's home. A request is led to one of them and sees nothing of the others.
final class Homes: Sendable {
    /// The identity of requests without a credential.
    static let anonymous = "anonymous"

    private struct State {
        var homes: [String: Home] = [:]
        /// The homes whose stores may keep readers open, the latest used last.
        var warm: [String] = []
    }
    private let state: Mutex<State>
    /// The store of the home that was used last, to see without the lock that nothing has changed.
    private let warmest = Atomic<UInt>(0)
    private let tokens: KnownTokens
    /// When the backend was last asked about tokens in use.
    private let examined = Mutex<[String: Instant]>([:])
    private let slowLane: SlowLane
    /// How long a token is taken that the backend does not confirm.
    private let graceSeconds: Int64
    private let now: @Sendable () -> Instant
    private let build: @Sendable (Identity) throws(StartProblem) -> Home
    private let opened: @Sendable (Home) -> Void
    /// The home of requests without a credential, and of public tables.
    let nobody: Home

    /// Makes the registry.
    /// - Parameters:
    ///   - nobody: the home of requests without a credential.
    ///   - others: those of the identities that are known already.
    ///   - build: opens the home of somebody who signs in for the first time.
    ///   - opened: told of such a home.
    init(
        nobody: Home, others: [Home], tokens: KnownTokens, slowLane: SlowLane,
        graceSeconds: Int64, now: @escaping @Sendable () -> Instant,
        build: @escaping @Sendable (Identity) throws(StartProblem) -> Home,
        opened: @escaping @Sendable (Home) -> Void
    ) {
        self.nobody = nobody
        self.tokens = tokens
        self.slowLane = slowLane
        self.graceSeconds = graceSeconds
        self.now = now
        self.build = build
        self.opened = opened
        let homes = Dictionary(uniqueKeysWithValues: ([nobody] + others).map { ($0.identity, $0) })
        state = Mutex(State(homes: homes))
    }

    /// The home of an identity.
    func home(_ identity: String) -> Home? {
        state.withLock { $0.homes[identity] }
    }

    /// All homes, `anonymous` first.
    var all: [Home] {
        state.withLock { state in
            state.homes.values.sorted { left, right in
                (left.identity == Self.anonymous ? 0 : 1, left.identity)
                    < (right.identity == Self.anonymous ? 0 : 1, right.identity)
            }
        }
    }

    /// The generation that the backend is known to be; nil until one of the engines found out.
    var backendGeneration: Generation? {
        state.withLock { $0.homes.values.lazy.compactMap(\.board.generation).first }
    }

    /// Where a request belongs.
    enum Door {
        /// - check: the token that the backend is to be asked about beside the answer.
        case home(Home, unconfirmed: Instant? = nil, check: Token? = nil)
        /// Its token names nobody yet.
        case unknown(Token)
        /// Its token named somebody; the backend has to be asked whether it still does. Where the
        /// backend is away, it does until then.
        case doubtful(Token, Home, until: Instant)
        /// Its token is good no more.
        case ended
    }

    /// Where a request for a table belongs:
    /// 1. without a token, or for a public table, to nobody's home;
    /// 2. with a token that the backend has vouched for and that is good, to its owner's
    ///    (``TokenStanding``);
    /// 3. otherwise nowhere: the backend has to be asked, unless the token's time is over.
    func door(_ token: Token?, _ table: TableName, worker: Int) -> Door {
        guard let token, nobody.store.table(table, worker: worker)?.isPublic != true else {
            keepWarm(nobody)
            return .home(nobody)
        }
        guard let (known, expiresAt) = tokens.find(token), let home = home(known.identity.key)
        else {
            return TokenStanding.isExpired(token.expiresAt, at: now()) ? .ended : .unknown(token)
        }
        let standing = TokenStanding.of(
            known, expiresAt: expiresAt, backend: reach(home), at: now(),
            graceSeconds: graceSeconds)
        switch standing {
        case .ended: return .ended
        case .doubtful:
            return .doubtful(
                token, home, until: known.confirmedAt.adding(seconds: graceSeconds))
        case .good(let isDue): return enter(home, token, check: isDue ? token : nil)
        case .unconfirmed(let until): return enter(home, token, unconfirmed: until)
        }
    }

    private func enter(
        _ home: Home, _ token: Token, unconfirmed: Instant? = nil, check: Token? = nil
    ) -> Door {
        home.signedIn(token, isFresh: false)
        keepWarm(home)
        return .home(home, unconfirmed: unconfirmed, check: check)
    }

    /// Whether the backend can be reached, as far as the home's engine and the anonymous one know.
    private func reach(_ home: Home) -> BackendBoard.Reach {
        if home.board.isOnline { return .reachable }
        let reaches = [home.board.reach, nobody.board.reach]
        // Of a home without its token `reachable` is no news.
        return reaches.contains(.away) ? .away : nobody.board.reach
    }

    /// Whether the backend is to be asked about a token now. Of many requests with it one asks.
    func beginsExamination(of token: Token) -> Bool {
        let due = now().adding(seconds: -Limits.tokenRetrySeconds)
        return examined.withLock { examined in
            if let last = examined[token.text], last > due { return false }
            if examined.count >= Limits.recentTokens { examined = [:] }
            examined[token.text] = now()
            return true
        }
    }

    /// Takes in that the backend takes a token which is known already.
    func confirmed(_ token: Token) async {
        await inSlowLane { [tokens] in
            guard let owner = tokens.owner(of: token) else { return }
            try? tokens.learn(token, of: owner)
        }
    }

    /// Takes in that the backend refuses a token, or that its time is over: it names nobody any more.
    /// Where that cannot be kept, it holds until the process ends.
    func refused(_ token: Token) async {
        await inSlowLane { [tokens] in try? tokens.end(token) }
    }

    /// Takes in that the backend has vouched for a token: its owner gets a home, and the home's
    /// engine speaks with the token.
    /// - Parameters:
    ///   - userID: what a login's answer calls the user.
    ///   - earlier: the token that this one renews.
    /// - Throws: the reason why the home cannot be opened.
    func vouched(
        for token: Token, userID: String? = nil, renewing earlier: Token? = nil
    ) async throws(StartProblem) -> Home {
        // A renewed token that says nothing of its owner belongs to whom the earlier one did.
        let saysNothing = token.claims == nil && userID == nil
        let renewed = saysNothing ? earlier.flatMap(tokens.owner(of:)) : nil
        let identity = renewed ?? Identity(token, userID: userID)
        let isNew = self.home(identity.key) == nil
        let home = try await open(identity)
        if isNew { await adoptSettings(home) }
        let failure = await inSlowLane { [tokens] () -> FileFailure? in
            do throws(FileFailure) {
                try tokens.learn(token, of: identity)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw StartProblem("\(failure)") }
        home.signedIn(token, isFresh: true)
        // Where sign-ins are remembered, this one is before its client hears of it.
        await inSlowLane {}
        return home
    }

    /// Takes in that a user has signed out: all tokens of the user end, and what waits in the queue
    /// waits for a sign-in. Where that cannot be kept, it holds until the process ends.
    func signedOut(_ token: Token) async {
        guard let owner = tokens.owner(of: token) else { return }
        await inSlowLane { [tokens] in try? tokens.signOut(owner) }
        home(owner.key)?.signIn?.drop()
        await inSlowLane {}
    }

    /// The home of an identity, made when there is none. One at a time: a store has one owner.
    private func open(_ identity: Identity) async throws(StartProblem) -> Home {
        let result = await inSlowLane { [self] () -> Result<Home, StartProblem> in
            if let home = home(identity.key) { return .success(home) }
            do throws(StartProblem) {
                let home = try build(identity)
                state.withLock { $0.homes[identity.key] = home }
                opened(home)
                return .success(home)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// A new home begins with what the operator said of the anonymous one: how it syncs, and how its
    /// tables are treated.
    private func adoptSettings(_ home: Home) async {
        await home.engine.update(await nobody.engine.settings)
        for table in (try? await nobody.store.tables()) ?? [] where !table.isPublic {
            let policies = TablePolicies(of: table)
            guard policies != .standard, let name = TableName(table.name) else { continue }
            _ = try? await home.store.updateTable(name, policies.apply)
        }
    }

    private func inSlowLane<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            slowLane.run { continuation.resume(returning: body()) }
        }
    }

    /// Notes that a home is used. The one that was not for longest closes its readers, which open
    /// again when needed.
    private func keepWarm(_ home: Home) {
        let store = UInt(bitPattern: ObjectIdentifier(home.store))
        if warmest.load(ordering: .relaxed) == store { return }
        let cold = state.withLock { state -> Home? in
            warmest.store(store, ordering: .relaxed)
            if state.warm.last == home.identity { return nil }
            state.warm.removeAll { $0 == home.identity }
            state.warm.append(home.identity)
            guard state.warm.count > Limits.storesWithReaders else { return nil }
            return state.homes[state.warm.removeFirst()]
        }
        if let cold { slowLane.run { cold.store.closeReaders() } }
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
