import Digests
import HTTPMessage
import HTTPTypes
import Platform
import Synchronization
import TablesProtocol

/// The valid capability addresses.
final class Capabilities: Sendable {
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

// Secrets of this program in a target that may be sent to the backend.
extension Guard {
    /// Refuses a target that contains the operator's token, and one whose path still contains the secret of
    /// its capability address after the address was removed.
    /// - Parameters:
    ///   - asked: the request without its capability address.
    ///   - path: the path of that request.
    func secretRefusal(
        _ asked: AddressedRequest, _ space: Space, _ path: TargetPath
    ) -> Refusal? {
        if case .operatorAPI = space { return nil }
        if access.isTokenIn(asked.request.head.path ?? "") {
            return Refusal(
                .target,
                "The operator's token stands in the target, which may go to the backend: send it as "
                    + "`Authorization: Bearer`.")
        }
        guard let secret = asked.secret else { return nil }
        let encodings = SecretEncodings(secret)
        guard
            asked.hasSecondAddress
                || path.readings.contains(where: { encodings.isIn($0) })
        else { return nil }
        return Refusal(
            .target,
            "The path holds the secret of its address twice: write it once, at the beginning.")
    }
}

/// The forms of a secret in a request: plain, and in base64 at any offset, as in `Authorization: Basic`
/// after a user name of any length.
struct SecretEncodings: Sendable, Hashable {
    private let spellings: [[UInt8]]
    /// The length of the shortest form, in bytes.
    private let shortest: Int

    /// Encodes a secret.
    /// - Parameter secret: ASCII text; an empty one is found in no text.
    init(_ secret: String) {
        let bytes = Array(secret.utf8)
        var spellings = [bytes]
        for skipped in 0..<3 where !bytes.isEmpty {
            spellings.append(Self.base64(bytes, behind: skipped))
        }
        self.spellings = spellings.filter { !$0.isEmpty }
        shortest = self.spellings.map(\.count).min() ?? .max
    }

    /// Whether `text` contains the secret.
    func isIn(_ text: String) -> Bool {
        guard mayBeIn(text) else { return false }
        let bytes = text.utf8.span
        return (0...bytes.count - shortest).contains { start in
            spellings.contains { spelling in
                bytes[start] == spelling[0] && start + spelling.count <= bytes.count
                    && spelling.indices.allSatisfy { bytes[start + $0] == spelling[$0] }
            }
        }
    }

    /// Whether a text is long enough for the secret, also after it is decoded.
    func mayBeIn(_ text: String) -> Bool { text.utf8.count >= shortest }

    /// The fields without those whose value contains the secret.
    func removed(from fields: HTTPFields) -> HTTPFields {
        guard fields.contains(where: { isIn($0.value) }) else { return fields }
        return HTTPFields(fields.filter { !isIn($0.value) })
    }

    /// The base64 digits (RFC 4648, section 4) that depend on `bytes` alone, if `skipped` other bytes come
    /// before them and any bytes after them. For ASCII letters, digits, `-` and `_` base64url has the same
    /// digits.
    private static func base64(_ bytes: [UInt8], behind skipped: Int) -> [UInt8] {
        let digits = Array(
            Base64.encoded([UInt8](repeating: 0, count: skipped) + bytes).utf8)
        // A digit encodes six bits. Those whose bits are all in `bytes` are taken.
        let (first, end) = (skipped * 8, (skipped + bytes.count) * 8)
        return Array(digits[(first + 5) / 6..<end / 6])
    }
}
