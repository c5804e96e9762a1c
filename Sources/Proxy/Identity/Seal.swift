import Crypto

/// Bytes that only the holder of a secret can read or make: ChaCha20-Poly1305 (RFC 8439) under a key
/// that HKDF-SHA256 (RFC 5869) derives from the secret.
///
/// A sealed text is one line, `understudy seal 1 ` and the mark of the key in 16 digits, then nonce
/// (12 bytes, random for each text), the encrypted bytes and the tag (16 bytes). The line is
/// authenticated with the rest. The mark tells another key from damage; it gives nothing of the key
/// away.
struct Seal: Sendable {
    private let key: SymmetricKey
    private let line: [UInt8]

    /// A seal with the key of a secret, which must be random.
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

    /// What comes out of a sealed text.
    enum Opened: Sendable, Hashable {
        case plain([UInt8])
        /// It was sealed with the key of another secret.
        case otherKey
        /// It is not as it was written, or no sealed text at all.
        case damaged
    }

    /// Seals a text.
    func close(_ plain: [UInt8]) -> [UInt8] {
        do {
            return line
                + Array(try ChaChaPoly.seal(plain, using: key, authenticating: line).combined)
        } catch {
            // It throws for a key that has not 32 bytes, which the derivation gives, and for
            // texts beyond 2^38 bytes.
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

/// The secret that sign-ins are sealed with: a credential of the service manager, or else a file of
/// the data folder, made at its first use.
package struct SealSecret: Sendable {
    /// Where the service manager puts the credential; nil without one.
    let credential: String?
    /// The file of the data folder.
    let file: String

    /// Finds the secret.
    /// 1. A credential that is there counts, and nothing else. Only its owner may write it, and no other
    ///    user may read it; its group may, since systemd lets a service's user read it by an access
    ///    list, which shows as the group's right.
    /// 2. Otherwise the file counts, for its owner alone.
    /// 3. Where there is none, one is made, unless something is sealed already: then the right
    ///    secret is elsewhere, and a new one would only hide that.
    /// - Parameters:
    ///   - isSealed: whether something is sealed already.
    ///   - make: a new random secret.
    /// - Throws: the sentence that says why there is none.
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
        // A key that was written with an editor or echo ends with a line's end.
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
