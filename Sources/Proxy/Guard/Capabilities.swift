import Crypto
import HTTPMessage
import HTTPTypes
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

/// An address with a secret in it, `http://127.0.0.1:8080/c/SECRET`: a client that knows it may call
/// `/tables` there. Its name says in history which client wrote; it is no identity.
struct Capability: Sendable, Hashable {
    /// What the operator calls the client.
    let name: String
    /// SHA-256 of the secret in hexadecimal digits; the secret itself is kept nowhere.
    let fingerprint: String
    /// When the address was made.
    let madeAt: Instant

    /// Whether a name can be given: letters, digits, `-`, `_` and `.`, a letter or digit first.
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

    /// Whether a path may hold a secret, as it is or percent-encoded, once or twice.
    static func mayHoldSecret(_ path: Substring) -> Bool {
        let once = PercentCoding.decodeLeniently(path.utf8)
        return [Array(path.utf8), once, PercentCoding.decodeLeniently(once)].contains { bytes in
            bytes.split { !isOfSecret($0) }.contains { $0.count >= Limits.capabilitySecretBytes }
        }
    }

    private static func isOfSecret(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "~"): false
        default: PercentCoding.isUnreserved(byte)
        }
    }
}

/// A request with the secret of its capability address taken off its target, if there was one.
struct AddressedRequest: Sendable {
    /// The request as it would be at the plain address.
    let request: Request
    /// The secret; nil for the plain address.
    let secret: String?

    /// Takes `/c/SECRET` off the target, however its first segment is spelled: `/C/SECRET` and
    /// `/%63/SECRET` hold the same secret, which goes to no backend. `/C/style.css` has none, and is the
    /// backend's. What cannot be read has none either; ``TargetPath`` refuses it.
    init(_ request: Request) {
        let target = request.head.path ?? "/"
        guard let mark = Self.mark(of: target[...], path: request.path) else {
            self.request = request
            secret = nil
            return
        }
        let behind = target.utf8[mark...]
        let isEnd: (UInt8) -> Bool = { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        let raw = behind.prefix { !isEnd($0) }
        let rest = behind[raw.endIndex...]
        var plain = request
        plain.head.path =
            rest.first == UInt8(ascii: "/") ? String(Substring(rest)) : "/\(Substring(rest))"
        self.request = plain
        secret = String(Substring(raw))
        base = String(target[..<raw.endIndex])
    }

    /// The path of the address, which stands before every path that is asked for there; empty for the
    /// plain address.
    private(set) var base = ""

    /// The segment before the secret.
    static let mark = "c"

    /// Where the secret begins in a raw target; nil for a target without one.
    private static func mark(of target: Substring, path: Substring) -> Substring.Index? {
        let slash = UInt8(ascii: "/")
        guard path.utf8.first == slash else { return nil }
        let first = path.utf8.dropFirst().prefix { $0 != slash }
        guard let segment = try? TargetPath.firstSegment(Substring(first)),
            TargetPath.root(of: segment) == mark,
            Capability.mayHoldSecret(path) || leadsToOwnPath(target)
        else { return nil }
        return first.endIndex < path.endIndex
            ? path.utf8.index(after: first.endIndex) : path.endIndex
    }

    /// Whether a target whose first segment is ``mark`` is a capability address, though a wrong one: what
    /// follows its second segment is one of Understudy's own paths. A `?` in the second segment belongs to
    /// the guess.
    private static func leadsToOwnPath(_ target: Substring) -> Bool {
        let segments = target.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: 4, omittingEmptySubsequences: false)
        guard segments.count > 3 else { return false }
        let third = String(decoding: PercentCoding.decodeLeniently(segments[3]), as: UTF8.self)
        return TargetPath.own.contains(TargetPath.root(of: third))
    }
}
