/// The people who can log in to this machine, by its list of users.
package enum LoginUsers {
    /// How many there are; 0 where the list cannot be read.
    package static var count: Int {
        let bytes = (try? Files.read("/etc/passwd")) ?? nil
        return count(String(decoding: bytes ?? [], as: UTF8.self))
    }

    /// Counts the lines of people: a user number from 1000 up (65534 is nobody) and a shell.
    static func count(_ passwd: String) -> Int {
        passwd.split(separator: "\n").count { line in
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 7, let number = Int(fields[2]), number >= 1000, number < 65534
            else { return false }
            return !fields[6].hasSuffix("/nologin") && !fields[6].hasSuffix("/false")
        }
    }
}
