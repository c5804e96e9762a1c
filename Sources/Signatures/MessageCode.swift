private import CGnuTLS

/// HMAC-SHA256 (RFC 2104): the code of a message under a secret key.
package struct MessageCode: Sendable {
    private static let size = 32
    /// Its 32 bytes.
    package let bytes: [UInt8]

    package init(of message: [UInt8], key: [UInt8]) {
        // GnuTLS reads the bytes of key and message and writes the 32 bytes of the code into the new array. It
        // keeps no address after the call.
        bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.size) { code, count in
            let result = unsafe gnutls_hmac_fast(
                GNUTLS_MAC_SHA256, key, key.count, message, message.count, code.baseAddress)
            // It fails for an algorithm that it does not have, and has this one in every build.
            precondition(result == GNUTLS_E_SUCCESS, "GnuTLS has no HMAC-SHA256: \(result)")
            count = Self.size
        }
    }
}

/// Whether two texts are equal, in a time that depends on their lengths alone.
package func areEqualInConstantTime(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    // GnuTLS reads `one.count` bytes of both, which have as many.
    unsafe one.count == other.count && gnutls_memcmp(one, other, one.count) == 0
}
