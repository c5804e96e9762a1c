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

    /// The digest of bytes that come in pieces, such as those of a file.
    @safe package struct Running: ~Copyable {
        // Only this value has the pointer. It comes from `gnutls_hash_init`, and `deinit` gives it back once.
        private let state: gnutls_hash_hd_t

        package init() {
            var state: gnutls_hash_hd_t?
            let code = unsafe gnutls_hash_init(&state, GNUTLS_DIG_SHA256)
            guard code == GNUTLS_E_SUCCESS, let state = unsafe state else {
                preconditionFailure("GnuTLS has no SHA-256: \(code)")
            }
            unsafe self.state = state
        }

        deinit {
            unsafe gnutls_hash_deinit(state, nil)
        }

        package mutating func take(_ piece: ArraySlice<UInt8>) {
            // GnuTLS reads the bytes of the piece during the call alone.
            let code = unsafe piece.withUnsafeBytes {
                unsafe gnutls_hash(state, $0.baseAddress, $0.count)
            }
            precondition(code == GNUTLS_E_SUCCESS, "GnuTLS cannot hash: \(code)")
        }

        /// The digest of all bytes that were taken: 32 bytes. The next piece begins another digest.
        package mutating func digest() -> [UInt8] {
            // GnuTLS writes the 32 bytes of the digest into the new array.
            unsafe [UInt8](unsafeUninitializedCapacity: SHA256.bytes) { digest, count in
                unsafe gnutls_hash_output(state, digest.baseAddress)
                count = SHA256.bytes
            }
        }
    }
}
