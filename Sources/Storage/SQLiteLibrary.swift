/// The SQLite library in use.
package enum SQLiteLibrary {
    /// Its version, such as `3.40.1`.
    package static let version: String = {
        let version: String? = try? ConnectionQueue.inMemory().access { connection in
            try connection.first("SELECT sqlite_version()") { $0[0] as String }
        }
        return version ?? "unknown"
    }()

    /// Whether it may damage a file where one connection copies the log while another begins it anew
    /// (before 3.51.3; sqlite.org/wal.html). Here one connection does both.
    package static var hasLogResetFault: Bool {
        version.split(separator: ".").compactMap { Int($0) }.lexicographicallyPrecedes([3, 51, 3])
    }
}
