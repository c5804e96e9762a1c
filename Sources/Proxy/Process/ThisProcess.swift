import Glibc
package import TablesProtocol

/// What the operating system says about this process.
package enum ThisProcess {
    /// The user's number.
    package static var user: UInt32 { getuid() }

    /// The wall clock in milliseconds.
    package static var now: Instant {
        var time = timespec()
        // clock_gettime fills the struct that it is given.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// 32 random bytes as base64url text, from the system's generator for secrets.
    package static func secret() -> String {
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".unicodeScalars)
        var generator = SystemRandomNumberGenerator()
        var text = ""
        for _ in 0..<43 {
            text.unicodeScalars.append(alphabet[Int.random(in: 0..<64, using: &generator)])
        }
        return text
    }
}
