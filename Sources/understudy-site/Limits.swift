import Program

/// The limits of a site's program.
enum Limits {
    /// The usual `--drain` of a backend that verifies tokens, in seconds.
    static let drainSeconds = 5
    /// The longest `--drain`, in seconds.
    static let drainSecondsMax = 600
    /// The most requests a second that may be set for one client.
    static let clientRequestsPerSecond = 1_000_000
    /// The most requests at once that may be set for one client.
    static let clientRequestsAtOnce = 100_000
    /// For how many hours effects and tombstones may be said to be kept, unless for ever: a day to ten years.
    static let keptHours: ClosedRange<Int64> = 24...87_600
    /// The time between two rounds in which a node removes what is no longer kept, in seconds.
    static let expirySeconds = 3600
    /// The pause before a node that starts asks its database again, in seconds.
    static let databasePauseSeconds = 1
    /// The least time between two reports that it waits for its database, in seconds.
    static let databaseReportSeconds = 60
    /// Rows that a move into a backend writes in one transaction.
    static let movedRows = 500
    /// Bytes of rows after which such a transaction takes no further row.
    static let movedBytes = 4 << 20
    /// Bytes of the access file, of each file that it names, of the administrator's token, of a certificate
    /// and of its key.
    static let accessFileBytes = 1 << 20
}
