import Crypto

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

    /// Seals a text.
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

    /// Opens a sealed text.
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
