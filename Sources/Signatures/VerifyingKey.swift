private import CGnuTLS

/// A public key that verifies signatures over SHA-256: RSA with PKCS #1 v1.5 (RFC 8017), or ECDSA on P-256
/// (FIPS 186-5). It is kept as its numbers: an object of GnuTLS belongs to one thread.
package struct VerifyingKey: Sendable {
    private enum Numbers: Sendable {
        case rsa(modulus: [UInt8], exponent: [UInt8])
        case curve(x: [UInt8], y: [UInt8])
    }

    private static let coordinateBytes = 32
    /// A longer exponent would make one signature cost as much as thousands.
    private static let exponentBits = 2...33
    private let numbers: Numbers

    /// An RSA key.
    /// - Parameters:
    ///   - modulus: the most significant byte first, with or without zeros before it, as the exponent.
    ///   - bits: how long the modulus may be.
    /// - Returns: nil for a modulus of another length, an even one, and an exponent that is even, 1 or longer
    ///   than 33 bits.
    package init?(modulus: [UInt8], exponent: [UInt8], bits: ClosedRange<Int>) {
        let modulus = Array(modulus.drop { $0 == 0 })
        let exponent = Array(exponent.drop { $0 == 0 })
        func isOdd(_ number: [UInt8]) -> Bool { number.last.map { $0 & 1 == 1 } ?? false }
        guard isOdd(modulus), bits.contains(Self.bits(modulus)), isOdd(exponent),
            Self.exponentBits.contains(Self.bits(exponent))
        else { return nil }
        numbers = .rsa(modulus: modulus, exponent: exponent)
        guard unsafe withKey({ _ in true }) == true else { return nil }
    }

    /// A key on P-256.
    /// - Parameters:
    ///   - x: 32 bytes, the most significant first.
    ///   - y: as x.
    /// - Returns: nil for numbers of another length, and for a point that is not on the curve.
    package init?(x: [UInt8], y: [UInt8]) {
        guard x.count == Self.coordinateBytes, y.count == x.count else { return nil }
        numbers = .curve(x: x, y: y)
        // GnuTLS reads the key alone.
        guard unsafe withKey({ unsafe gnutls_pubkey_verify_params($0) }) == GNUTLS_E_SUCCESS else {
            return nil
        }
    }

    /// Whether a signature of some bytes is one by this key.
    /// - Parameter signature: of RSA a number as long as the modulus; of ECDSA the two numbers, 32 bytes each
    ///   (RFC 7518, section 3.4).
    package func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        switch numbers {
        case .rsa(let modulus, _):
            signature.count == modulus.count
                && verifies(signature, bytes, GNUTLS_SIGN_RSA_SHA256)
        case .curve:
            signature.count == 2 * Self.coordinateBytes
                && verifies(Self.sequence(of: signature), bytes, GNUTLS_SIGN_ECDSA_SHA256)
        }
    }

    private func verifies(
        _ signature: [UInt8], _ bytes: [UInt8], _ algorithm: gnutls_sign_algorithm_t
    ) -> Bool {
        // GnuTLS reads the key and both texts, and keeps no address after the call.
        let code = unsafe withKey { key in
            unsafe Self.withData(bytes, signature) { bytes, signature in
                unsafe gnutls_pubkey_verify_data2(key, algorithm, 0, bytes, signature)
            }
        }
        return code.map { $0 >= GNUTLS_E_SUCCESS } ?? false
    }

    /// The two numbers of a signature as DER (RFC 3279, section 2.2.3): a sequence of two integers, which have
    /// no zeros before them but one where the number would be negative. All lengths are below 128.
    private static func sequence(of signature: [UInt8]) -> [UInt8] {
        let numbers = [signature.prefix(coordinateBytes), signature.dropFirst(coordinateBytes)]
        let integers = numbers.flatMap { number -> [UInt8] in
            var bytes = Array(number.drop { $0 == 0 })
            if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
            return [0x02, UInt8(bytes.count)] + bytes
        }
        return [0x30, UInt8(integers.count)] + integers
    }

    private static func bits(_ number: [UInt8]) -> Int {
        number.count * 8 - (number.first?.leadingZeroBitCount ?? 0)
    }

    /// Calls a function with a new object for the key; nil where GnuTLS does not take the numbers.
    private func withKey<Value>(_ body: (gnutls_pubkey_t) -> Value) -> Value? {
        // The object is released when `body` has returned. GnuTLS copies the numbers.
        var made: gnutls_pubkey_t?
        guard unsafe gnutls_pubkey_init(&made) == GNUTLS_E_SUCCESS, let key = unsafe made else {
            return nil
        }
        defer { unsafe gnutls_pubkey_deinit(key) }
        let code =
            switch numbers {
            case .rsa(let modulus, let exponent):
                unsafe Self.withData(modulus, exponent) { modulus, exponent in
                    unsafe gnutls_pubkey_import_rsa_raw(key, modulus, exponent)
                }
            case .curve(let x, let y):
                unsafe Self.withData(x, y) { x, y in
                    unsafe gnutls_pubkey_import_ecc_raw(key, GNUTLS_ECC_CURVE_SECP256R1, x, y)
                }
            }
        return code == GNUTLS_E_SUCCESS ? unsafe body(key) : nil
    }

    /// Calls a function with the addresses of two texts, which are good until it returns. GnuTLS only reads there.
    private static func withData(
        _ one: [UInt8], _ other: [UInt8],
        _ body: (UnsafePointer<gnutls_datum_t>, UnsafePointer<gnutls_datum_t>) -> CInt
    ) -> CInt {
        func datum(_ bytes: UnsafeBufferPointer<UInt8>) -> gnutls_datum_t {
            unsafe gnutls_datum_t(
                data: UnsafeMutablePointer(mutating: bytes.baseAddress), size: UInt32(bytes.count))
        }
        return unsafe one.withUnsafeBufferPointer { one in
            unsafe other.withUnsafeBufferPointer { other in
                var (one, other) = unsafe (datum(one), datum(other))
                return unsafe body(&one, &other)
            }
        }
    }
}
