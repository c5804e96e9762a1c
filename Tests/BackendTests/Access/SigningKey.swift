import CGnuTLS
import Synchronization

/// A new private key, which signs the tokens of a test.
@safe final class SigningKey: Sendable {
    enum Kind: Sendable { case rsa, curve }

    struct Failure: Error { let code: CInt }

    /// Of RSA the modulus and the exponent, of the curve the coordinates, 32 bytes each.
    let numbers: [[UInt8]]
    private let kind: Kind
    /// It is written here alone. One thread at a time uses it, by the lock.
    nonisolated(unsafe) private let key: gnutls_privkey_t
    private let lock = Mutex(())

    init(_ kind: Kind) throws {
        self.kind = kind
        var made: gnutls_privkey_t?
        var shown: gnutls_pubkey_t?
        try Self.check(unsafe gnutls_privkey_init(&made))
        try Self.check(unsafe gnutls_pubkey_init(&shown))
        guard let key = unsafe made, let shown = unsafe shown else { throw Failure(code: -1) }
        defer { unsafe gnutls_pubkey_deinit(shown) }
        unsafe self.key = unsafe key
        // P-256 has the number 2 among GnuTLS' curves, and a curve in the place of bits has the highest bit.
        let (algorithm, bits) =
            switch kind {
            case .rsa: (GNUTLS_PK_RSA, UInt32(2048))
            case .curve: (GNUTLS_PK_ECDSA, UInt32(GNUTLS_ECC_CURVE_SECP256R1.rawValue) | 1 << 31)
            }
        try Self.check(unsafe gnutls_privkey_generate(key, algorithm, bits, 0))
        try Self.check(unsafe gnutls_pubkey_import_privkey(shown, key, 0, 0))
        var (first, second) = (unsafe gnutls_datum_t(), unsafe gnutls_datum_t())
        switch kind {
        case .rsa: try Self.check(unsafe gnutls_pubkey_export_rsa_raw(shown, &first, &second))
        case .curve:
            try Self.check(unsafe gnutls_pubkey_export_ecc_raw(shown, nil, &first, &second))
        }
        let found = unsafe [Self.bytes(first), Self.bytes(second)]
        numbers = kind == .rsa ? found : found.map(Self.padded)
    }

    /// The signature over SHA-256: of RSA PKCS #1 v1.5, of the curve the two numbers, 32 bytes each.
    func sign(_ text: [UInt8]) throws -> [UInt8] {
        try lock.withLock { _ in
            var text = text
            var signature = unsafe gnutls_datum_t()
            // GnuTLS reads the text, which lives until the call returns.
            let code = unsafe text.withUnsafeMutableBufferPointer { buffer in
                var datum = unsafe gnutls_datum_t(
                    data: buffer.baseAddress, size: UInt32(buffer.count))
                return unsafe gnutls_privkey_sign_data2(
                    key, kind == .rsa ? GNUTLS_SIGN_RSA_SHA256 : GNUTLS_SIGN_ECDSA_SHA256, 0,
                    &datum, &signature)
            }
            try Self.check(code)
            guard kind == .curve else { return unsafe Self.bytes(signature) }
            var (r, s) = (unsafe gnutls_datum_t(), unsafe gnutls_datum_t())
            try Self.check(unsafe gnutls_decode_rs_value(&signature, &r, &s))
            return unsafe Self.padded(Self.bytes(r)) + Self.padded(Self.bytes(s))
        }
    }

    private static func check(_ code: CInt) throws {
        if code < 0 { throw Failure(code: code) }
    }

    private static func bytes(_ datum: gnutls_datum_t) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: datum.data, count: Int(datum.size)))
    }

    /// A number of at most 32 bytes with zeros before it.
    private static func padded(_ number: [UInt8]) -> [UInt8] {
        let bare = Array(number.drop { $0 == 0 })
        return [UInt8](repeating: 0, count: 32 - bare.count) + bare
    }
}
