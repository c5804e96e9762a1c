import Crypto
import Synchronization
import TablesProtocol

/// The capability addresses that there are.
final class Capabilities: Sendable {
    /// An address as the operator sees it.
    struct Entry: Sendable, Hashable {
        let capability: Capability
        /// When it was last used since the start; nil for not yet.
        let lastUsedAt: Instant?
    }

    /// What became of the wish for a new address.
    enum Creation: Sendable, Hashable {
        /// It is there; only here is its secret ever told.
        case made(Capability, secret: String)
        /// There is one of that name.
        case nameTaken
    }

    private struct State {
        var byFingerprint: [String: Capability]
        var lastUsed: [String: Instant] = [:]

        var list: [Capability] { byFingerprint.values.sorted { $0.name < $1.name } }
    }
    private let state: Mutex<State>
    private let now: @Sendable () -> Instant
    private let secret: @Sendable () -> String
    private let keep: @Sendable ([Capability]) throws(FileFailure) -> Void

    /// Makes the list.
    /// - Parameters:
    ///   - kept: those of earlier runs.
    ///   - secret: makes unguessable text that needs no encoding in an address.
    ///   - keep: keeps the list for the next run.
    init(
        kept: [Capability] = [], now: @escaping @Sendable () -> Instant,
        secret: @escaping @Sendable () -> String,
        keep: @escaping @Sendable ([Capability]) throws(FileFailure) -> Void = { _ in }
    ) {
        self.now = now
        self.secret = secret
        self.keep = keep
        let known = Dictionary(kept.map { ($0.fingerprint, $0) }) { first, _ in first }
        state = Mutex(State(byFingerprint: known))
    }

    /// All of them by name.
    var all: [Entry] {
        state.withLock { state in
            state.list.map { Entry(capability: $0, lastUsedAt: state.lastUsed[$0.fingerprint]) }
        }
    }

    /// Makes an address; it holds once it is on disk.
    func make(_ name: String) throws(FileFailure) -> Creation {
        let secret = secret()
        let made = Capability(name: name, fingerprint: SHA256.hex(secret), madeAt: now())
        return try state.withLock { (state) throws(FileFailure) -> Creation in
            if state.byFingerprint.values.contains(where: { $0.name == name }) {
                return .nameTaken
            }
            var next = state
            next.byFingerprint[made.fingerprint] = made
            try keep(next.list)
            state = next
            return .made(made, secret: secret)
        }
    }

    /// Revokes an address, from now on.
    /// - Returns: whether there was one.
    /// - Throws: the reason why it could not be taken off the disk, where the next start would find
    ///   it again.
    func revoke(_ name: String) throws(FileFailure) -> Bool {
        try state.withLock { (state) throws(FileFailure) -> Bool in
            guard let found = state.byFingerprint.values.first(where: { $0.name == name }) else {
                return false
            }
            state.byFingerprint[found.fingerprint] = nil
            try keep(state.list)
            return true
        }
    }

    /// The name that a secret stands for; nil when it was revoked or never was. The secret is looked
    /// up by its digest, so the time it takes tells nothing of it.
    func name(of secret: String) -> String? {
        let fingerprint = SHA256.hex(secret)
        let at = now()
        return state.withLock { state in
            guard let found = state.byFingerprint[fingerprint] else { return nil }
            state.lastUsed[fingerprint] = at
            return found.name
        }
    }
}
