private import CGnuTLS

/// SHA-256 (FIPS 180-4) of GnuTLS, which libmicrohttpd links too.
package enum SHA256 {
    private static let bytes = 32

    /// The version of GnuTLS.
    package static var libraryVersion: String {
        // GnuTLS returns a text of its own that never changes.
        guard let text = unsafe gnutls_check_version(nil) else { return "unknown" }
        return unsafe String(cString: text)
    }

    /// The digest of some bytes: 32 bytes.
    package static func hash(_ text: [UInt8]) -> [UInt8] {
        // GnuTLS reads `text.count` bytes of `text` and writes the 32 bytes of the digest into the new array. It
        // keeps neither address after the call.
        unsafe [UInt8](unsafeUninitializedCapacity: bytes) { digest, count in
            let code = unsafe gnutls_hash_fast(
                GNUTLS_DIG_SHA256, text, text.count, digest.baseAddress)
            // It fails for an algorithm that it does not have, and has this one in every build.
            precondition(code == GNUTLS_E_SUCCESS, "GnuTLS has no SHA-256: \(code)")
            count = bytes
        }
    }
}
