import SyncCore

/// The limits of the program that are not those of the proxy.
enum Limits {
    /// The smallest `--disk-budget`, in bytes.
    static let diskBudgetBytesMin = 10 << 20
    /// The smallest `--history-budget` and `--attempts-budget`, in bytes.
    static let keptBytesMin = 1 << 20
    /// Seconds that a command waits for an answer of the operator API.
    static let commandSeconds = 60
    /// Seconds between two reports to the log and the service manager.
    static let serviceReportSeconds = 5
    /// Names of header fields that can be forwarded.
    static let forwardedHeaders = 16
    /// The greatest `--offline-grace`, in days.
    static let offlineGraceDaysMax: Int64 = 3650
    /// Bytes of one import request, unless a single element is larger.
    static let importRequestBytes = 1 << 20
    /// Bytes of a file that is imported. The imported part of it is held in memory.
    static let importedFileBytes = 1 << 30
    /// Seconds of difference between two clocks above which there is a warning.
    static let clockSkewSeconds: Int64 = 60
    /// Free bytes of the disk under which there is a warning.
    static let freeBytes: UInt64 = 200 << 20
    /// Seconds that `doctor` waits for the backend.
    static let examinationSeconds = 10
    /// Characters of a row that is set aside, as a command shows it.
    static let setAsideCharacters = 200
    /// Characters of a value, or of an item's text, in a line of the history.
    static let shownValueCharacters = 60
    /// The longest path of a Unix socket: `sun_path` has 108 bytes, the last of which is a NUL.
    static let socketPathBytes = 107
    /// Days that history, attempts and tombstones can be kept at most.
    static let keptDaysMax: Int64 = 3660
}
