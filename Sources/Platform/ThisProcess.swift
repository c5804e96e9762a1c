import Glibc
package import TablesProtocol

/// Values of the operating system for this process.
package enum ThisProcess {
    package static var user: UInt32 { getuid() }

    /// The wall clock in milliseconds.
    package static var now: Instant {
        var time = timespec()
        // clock_gettime fills the struct that it is given.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    package static func environment(_ name: String) -> String? {
        // The C string belongs to the environment, which this program never changes. It is copied at once.
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// The name of this machine, as its users gave it; `this machine` if it is not known.
    package static var host: String {
        let bytes = ((try? Files.read("/proc/sys/kernel/hostname")) ?? nil) ?? []
        let name = String(decoding: bytes, as: UTF8.self)[...].trimming { $0 == "\n" }
        return name.isEmpty ? "this machine" : String(name)
    }

    /// 32 random bytes as base64url text, from the system's generator for secrets.
    package static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64.encodedForURL((0..<32).map { _ in generator.next() as UInt8 })
    }
}

/// The people who can log in to this machine.
package enum LoginUsers {
    /// Their number by `/etc/passwd`; 0 if it cannot be read.
    package static var count: Int {
        let bytes = (try? Files.read("/etc/passwd")) ?? nil
        return count(String(decoding: bytes ?? [], as: UTF8.self))
    }

    /// Counts the lines of people: a user id from 1000 to 65533 (65534 is the user `nobody`), and a shell.
    static func count(_ passwd: String) -> Int {
        passwd.split(separator: "\n").count { line in
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 7, let number = Int(fields[2]), number >= 1000, number < 65534
            else { return false }
            return !fields[6].hasSuffix("/nologin") && !fields[6].hasSuffix("/false")
        }
    }
}

package enum Version {
    /// As `understudy --version` prints it.
    package static let text = "1.0.0"
}
