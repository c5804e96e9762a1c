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
    private let slowLane: SlowLane
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
        build: @escaping @Sendable (Identity) throws(StartProblem) -> Home,
        opened: @escaping @Sendable (Home) -> Void
    ) {
        self.nobody = nobody
        self.tokens = tokens
        self.slowLane = slowLane
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
        case home(Home)
        /// Its token names nobody yet.
        case unknown(Token)
    }

    /// Where a request for a table belongs:
    /// 1. without a token, or for a public table, to nobody's home;
    /// 2. with a token that the backend has vouched for, to its owner's;
    /// 3. otherwise nowhere: the backend has to be asked.
    func door(_ token: Token?, _ table: TableName, worker: Int) -> Door {
        guard let token, nobody.store.table(table, worker: worker)?.isPublic != true else {
            keepWarm(nobody)
            return .home(nobody)
        }
        guard let owner = tokens.owner(of: token), let home = home(owner.key) else {
            return .unknown(token)
        }
        home.signedIn(token, isFresh: false)
        keepWarm(home)
        return .home(home)
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

    /// Takes in that a user has signed out: the token names nobody any more, and what waits in its
    /// owner's queue waits for a sign-in. Whoever comes with it is asked about again.
    func signedOut(_ token: Token) async {
        guard let owner = tokens.owner(of: token) else { return }
        await inSlowLane { [tokens] in try? tokens.forget(token) }
        home(owner.key)?.signIn?.drop(token)
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
