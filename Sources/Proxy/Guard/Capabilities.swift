import Crypto
import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

/// The valid capability addresses.
final class Capabilities: Sendable {
    /// A capability with its last use.
    struct Entry: Sendable, Hashable {
        let capability: Capability
        /// The last use since the start; nil if there was none.
        let lastUsedAt: Instant?
    }

    /// The result of ``make(_:)``.
    enum Creation: Sendable, Hashable {
        /// The new capability, and its secret, which is kept nowhere.
        case made(Capability, secret: String)
        /// Another capability has that name.
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
    ///   - kept: the capabilities of earlier runs.
    ///   - secret: makes unguessable text that needs no encoding in an address.
    ///   - keep: writes the list for the next run.
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

    /// All capabilities, sorted by name.
    var all: [Entry] {
        state.withLock { state in
            state.list.map { Entry(capability: $0, lastUsedAt: state.lastUsed[$0.fingerprint]) }
        }
    }

    /// Makes a capability and writes the list.
    /// - Throws: why it cannot be written; then there is no new capability.
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

    /// Revokes a capability and writes the list.
    /// - Returns: false if there is none of that name.
    /// - Throws: why the list cannot be written. Then the capability is revoked until the next start, which
    ///   reads the old list.
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

    /// The name of the capability with a secret; nil if there is none. The search compares digests, so its
    /// time reveals nothing about the secret.
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

/// An address with a secret, `http://127.0.0.1:8080/c/SECRET`, at which one client may call `/tables`.
/// History shows its name as the client that wrote. It is no identity.
struct Capability: Sendable, Hashable {
    /// The operator's name for the client.
    let name: String
    /// SHA-256 of the secret in hexadecimal digits. The secret is kept nowhere.
    let fingerprint: String
    let madeAt: Instant

    /// Whether a text can be a name: letters, digits, `-`, `_` and `.`, a letter or digit first.
    static func isName(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_.".utf8.contains(byte)
            }
        }
        return isPlain && text.first.map { !"-_.".contains($0) } == true
            && text.utf8.count <= Limits.capabilityNameBytes
    }

    /// Whether a path may contain a secret, plain or percent-encoded once or twice.
    static func mayHoldSecret(_ path: Substring) -> Bool {
        let once = PercentCoding.decodeLeniently(path.utf8)
        return [Array(path.utf8), once, PercentCoding.decodeLeniently(once)].contains { bytes in
            bytes.split { !isSecretByte($0) }.contains { $0.count >= Limits.capabilitySecretBytes }
        }
    }

    private static func isSecretByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "~"): false
        default: PercentCoding.isUnreserved(byte)
        }
    }
}
