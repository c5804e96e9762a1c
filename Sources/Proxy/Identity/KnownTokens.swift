import SyncCore
import Synchronization
import TablesProtocol

/// Which token is whose, by fingerprint: kept on disk, so that after a restart a token names its
/// identity while the backend is away. A token gets in here only when the backend has vouched for it.
final class KnownTokens: Sendable {
    private struct State {
        /// Fingerprints with their identities, the latest last.
        var owners: [(fingerprint: String, identity: String)] = []
        var byFingerprint: [String: String] = [:]
        /// The same by the token itself, in memory only: hashing is not for every request.
        var recent: [String: Identity] = [:]
    }
    private let state: Mutex<State>
    private let file: String
    private let backend: String

    /// Reads what is kept. What another backend vouched for names nobody with this one.
    init(file: String, backend: BackendAddress) {
        self.file = file
        self.backend = backend.description
        var state = State()
        if let bytes = try? Files.read(file), let kept = try? JSONValue(parsing: bytes),
            kept["backend"]?.string == backend.description
        {
            for entry in kept["tokens"]?.array ?? [] {
                guard let print = entry["sha256"]?.string, let key = entry["identity"]?.string
                else { continue }
                state.owners.append((print, key))
                state.byFingerprint[print] = key
            }
        }
        self.state = Mutex(state)
    }

    /// Whose token it is; nil when nobody has vouched for it.
    func owner(of token: Token) -> Identity? {
        if let known = state.withLock({ $0.recent[token.text] }) { return known }
        let fingerprint = token.fingerprint
        return state.withLock { state in
            guard let key = state.byFingerprint[fingerprint] else { return nil }
            if state.recent.count >= Limits.recentTokens { state.recent = [:] }
            let identity = Identity(key: key)
            state.recent[token.text] = identity
            return identity
        }
    }

    /// Learns whose token it is, and keeps it.
    /// - Throws: the reason when it cannot be kept; it is known all the same until the process ends.
    func learn(_ token: Token, of identity: Identity) throws(FileFailure) {
        let fingerprint = token.fingerprint
        let bytes: [UInt8]? = state.withLock { state in
            guard state.byFingerprint[fingerprint] != identity.key else { return nil }
            state.recent[token.text] = nil
            state.owners.removeAll { $0.fingerprint == fingerprint }
            state.owners.append((fingerprint, identity.key))
            if state.owners.count > Limits.knownTokens {
                state.byFingerprint[state.owners.removeFirst().fingerprint] = nil
            }
            state.byFingerprint[fingerprint] = identity.key
            return Array(text(state).utf8)
        }
        if let bytes { try Files.write(file, bytes) }
    }

    /// Forgets a token.
    /// - Throws: the reason when that cannot be kept; it is forgotten all the same until the process
    ///   ends.
    func forget(_ token: Token) throws(FileFailure) {
        let fingerprint = token.fingerprint
        let bytes = state.withLock { state in
            state.recent[token.text] = nil
            state.byFingerprint[fingerprint] = nil
            state.owners.removeAll { $0.fingerprint == fingerprint }
            return Array(text(state).utf8)
        }
        try Files.write(file, bytes)
    }

    private func text(_ state: State) -> String {
        let tokens = state.owners.map { owner in
            JSONValue.members(
                ("sha256", .string(owner.fingerprint)), ("identity", .string(owner.identity)))
        }
        return JSONValue.members(("backend", .string(backend)), ("tokens", .array(tokens))).text
    }
}
