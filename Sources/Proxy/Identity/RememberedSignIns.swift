import Crypto
import HTTPTypes
import Logging
import TablesProtocol

/// The engines' tokens, sealed on disk. With them the users' queues are sent after a restart without a new
/// sign-in (`--remember-sign-in`).
final class RememberedSignIns: Sendable {
    private let fields: SharedFile<[String: HTTPField]>
    private let log: Logger

    /// The result of ``open(_:secret:backend:identities:log:random:)``.
    struct Opening: Sendable {
        /// Nil if sign-ins cannot be remembered; then tokens are in memory only.
        var signIns: RememberedSignIns?
        /// A warning for the operator.
        var warning: String?
    }

    /// Opens the file.
    ///
    /// 1. Without the right key nothing is remembered, and the file is not changed. So a start with the
    ///    right key reads it. The users' queues wait for a sign-in meanwhile.
    /// 2. The tokens of a damaged file are lost. The next sign-in is remembered again.
    /// 3. Tokens of another backend are removed, since they must never be sent to this one. So are those of
    ///    identities without a store.
    /// - Parameters:
    ///   - file: the sealed file, 0600.
    ///   - backend: the backend that the tokens may be sent to.
    ///   - identities: the keys of the identities that have a store.
    ///   - random: makes a new secret.
    static func open(
        _ file: String, secret: SealSecret, backend: String, identities: Set<String>,
        log: Logger, random: () -> String
    ) -> Opening {
        do throws(SealProblem) {
            let sealed = try bytes(file)
            let seal = Seal(secret: try secret.find(isSealed: sealed != nil, make: random))
            let fields: [String: HTTPField]
            var warning: String?
            switch sealed.map(seal.open) {
            case nil: fields = [:]
            case .plain(let text):
                fields = Self.fields(text, backend).filter {
                    identities.contains($0.key)
                }
            case .otherKey:
                throw SealProblem("\(file) is sealed with another key than the one that is here")
            case .damaged:
                fields = [:]
                warning = "The remembered sign-ins are damaged: their users have to sign in again."
            }
            let signIns = RememberedSignIns(fields, seal, file, backend, log)
            if sealed != nil {
                signIns.fields.change { _ in true }
                signIns.save()
            }
            return Opening(signIns: signIns, warning: warning)
        } catch {
            return Opening(
                warning: "Sign-ins are not remembered, so users have to sign in again: \(error).")
        }
    }

    private init(
        _ fields: [String: HTTPField], _ seal: Seal, _ file: String, _ backend: String,
        _ log: Logger
    ) {
        self.log = log
        self.fields = SharedFile(fields) { fields in
            do throws(FileFailure) {
                try Files.write(file, seal.close(Array(Self.text(fields, backend).utf8)))
                return nil
            } catch {
                return error
            }
        }
    }

    /// The remembered header field of an identity; nil if there is none. Never waits for the file.
    func field(of identity: String) -> HTTPField? { fields.read { $0[identity] } }

    /// Sets or removes the header field of an identity. The change is on disk after ``save()``.
    func set(_ field: HTTPField?, of identity: String) {
        fields.change { fields in
            guard fields[identity] != field else { return false }
            fields[identity] = field
            return true
        }
    }

    /// Blocks until all earlier changes are on disk. A failure is logged, and the changes hold in memory
    /// until the process ends.
    func save() {
        do throws(FileFailure) {
            try fields.save()
        } catch {
            log.warning("sign-ins not remembered", metadata: ["problem": "\(error)"])
        }
    }

    private static func text(_ fields: [String: HTTPField], _ backend: String) -> String {
        let signIns = fields.sorted { $0.key < $1.key }.map { identity, field in
            JSONValue.members(
                ("identity", .string(identity)), ("name", .string(field.name.rawName)),
                ("value", .string(field.value)))
        }
        return JSONValue.members(
            ("backend", .string(backend)), ("signIns", .array(signIns))
        ).text
    }

    private static func bytes(_ file: String) throws(SealProblem) -> [UInt8]? {
        do {
            return try Files.read(file)
        } catch {
            throw SealProblem("\(error)")
        }
    }

    /// The fields in the opened text; none if they are for another backend.
    private static func fields(_ text: [UInt8], _ backend: String) -> [String: HTTPField] {
        guard let kept = try? JSONValue(parsing: text), kept["backend"]?.string == backend
        else { return [:] }
        var fields: [String: HTTPField] = [:]
        for entry in kept["signIns"]?.array ?? [] {
            if let identity = entry["identity"]?.string,
                let name = entry["name"]?.string.flatMap({ HTTPField.Name($0) }),
                let value = entry["value"]?.string
            {
                fields[identity] = HTTPField(name: name, value: value)
            }
        }
        return fields
    }
}

/// Authenticated encryption with a secret: ChaCha20-Poly1305 (RFC 8439) under a key that HKDF-SHA256 (RFC
/// 5869) derives from the secret.
///
/// A sealed text begins with one line: `understudy seal 1 ` and the mark of the key in 16 digits. Then come
/// the nonce (12 bytes, random for each text), the encrypted bytes and the tag (16 bytes). The line is
/// authenticated with the rest. The mark shows whether a text was sealed with another key. It reveals
/// nothing about the key.
struct Seal: Sendable {
    private let key: SymmetricKey
    private let line: [UInt8]

    /// A seal with the key of a secret. The secret must be random.
    init(secret: [UInt8]) {
        let secret = SymmetricKey(data: secret)
        func derived(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: secret, info: Array("understudy seal 1 \(purpose)".utf8),
                outputByteCount: 32)
        }
        key = derived("key")
        let code = HMAC<SHA256>.authenticationCode(for: [UInt8](), using: derived("mark"))
        let mark = code.prefix(8).hexadecimal
        line = Array("understudy seal 1 \(mark)\n".utf8)
    }

    /// The result of ``open(_:)``.
    enum Opened: Sendable, Hashable {
        case plain([UInt8])
        /// It was sealed with the key of another secret.
        case otherKey
        /// It was changed, or is no sealed text.
        case damaged
    }

    func close(_ plain: [UInt8]) -> [UInt8] {
        do {
            return line
                + Array(try ChaChaPoly.seal(plain, using: key, authenticating: line).combined)
        } catch {
            // It throws for a key that is not 32 bytes long, and for texts of more than 2^38 bytes. The
            // derived key has 32 bytes.
            preconditionFailure("A seal of \(plain.count) bytes failed: \(error)")
        }
    }

    func open(_ sealed: [UInt8]) -> Opened {
        guard let end = sealed.firstIndex(of: UInt8(ascii: "\n")), end + 1 == line.count,
            sealed.starts(with: Array("understudy seal 1 ".utf8))
        else { return .damaged }
        guard sealed[...end].elementsEqual(line) else { return .otherKey }
        guard let box = try? ChaChaPoly.SealedBox(combined: Array(sealed[(end + 1)...])),
            let plain = try? ChaChaPoly.open(box, using: key, authenticating: line)
        else { return .damaged }
        return .plain(Array(plain))
    }
}

/// The secret that seals sign-ins: a credential of the service manager, or else a file in the data folder,
/// which is made at its first use.
package struct SealSecret: Sendable {
    /// The file of the service manager's credential; nil without a service manager.
    let credential: String?
    /// The file of the data folder.
    let file: String

    /// Reads or makes the secret.
    /// 1. If the credential is there, it is the secret. Only its owner may write it, and only owner and
    ///    group may read it: systemd lets a service's user read it by an access list, which shows as the
    ///    group's right.
    /// 2. Otherwise the file is the secret. Only its owner may read and write it.
    /// 3. If there is no file, one is made, unless a sealed text exists. That text has another secret, and
    ///    a new one could not open it.
    /// - Parameters:
    ///   - isSealed: whether a sealed text exists.
    ///   - make: makes a new random secret.
    /// - Throws: ``SealProblem`` with the reason.
    func find(isSealed: Bool, make: () -> String) throws(SealProblem) -> [UInt8] {
        if let credential, Files.exists(credential) {
            return try read(credential, mayNot: 0o027, mend: "chmod 400")
        }
        if Files.exists(file) { return try read(file, mayNot: 0o077, mend: "chmod 600") }
        guard !isSealed else {
            throw SealProblem(
                "the key that they are sealed with is not here: bring back \(file), or the "
                    + "credential \(Self.credentialName)")
        }
        let secret = Array(make().utf8)
        do {
            try Files.write(file, Array(secret) + [UInt8(ascii: "\n")])
        } catch {
            throw SealProblem("\(error)")
        }
        return secret
    }

    private func read(
        _ path: String, mayNot: UInt32, mend: String
    ) throws(SealProblem) -> [UInt8] {
        if let status = Files.status(path), status.permissions & mayNot != 0 {
            throw SealProblem(
                "\(path) is open to other users; make a new key, and close it with: \(mend) "
                    + "'\(path)'")
        }
        var bytes: [UInt8]
        do {
            bytes = try Files.read(path) ?? []
        } catch {
            throw SealProblem("\(error)")
        }
        // A file that was written with an editor or echo ends with a line break.
        while bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard bytes.count >= Limits.sealSecretBytes else {
            throw SealProblem(
                "\(path) is shorter than \(Limits.sealSecretBytes) bytes; make one with: "
                    + "openssl rand -hex 32")
        }
        return bytes
    }

    /// The credential's name in the unit.
    package static let credentialName = "understudy.key"
}

/// Why sign-ins cannot be remembered, as the end of a sentence.
struct SealProblem: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
