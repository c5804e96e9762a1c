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
