import SyncCore

/// Every bound of the program that is not one of the proxy, with its unit.
enum Limits {
    /// The smallest size that a store can be held to.
    static let diskBudgetBytesMin = 10 << 20
    /// Indexes that a table may have.
    static let indexesPerTable = StoreLimits.indexesPerTable
    /// Seconds that a command waits for an answer of the operator API.
    static let commandSeconds = 60
    /// Milliseconds between two looks of a command at a run that is under way.
    static let runPollMilliseconds = 200
    /// Seconds between two looks at how things stand, for the log and the service manager.
    static let serviceReportSeconds = 5
    /// Time given to open requests and the operation in flight when stopping; then the process ends.
    static let stopMilliseconds = 1800
    /// Names of header fields that can be sent on with a client's requests.
    static let forwardedHeaders = 16
    /// The most days that `--offline-grace` can say.
    static let offlineGraceDaysMax = 3650
    /// Bytes of one such request, unless a single element is larger.
    static let importedBytes = 1 << 20
    /// Bytes of one line of a file that is imported: a row as large as the largest answer of a backend.
    static let importedLineBytes = 64 << 20
    /// Bytes of a file that is imported. All that is wanted of it is held in memory.
    static let importedFileBytes = 1 << 30
    /// Milliseconds that an import waits for the first writer of a pipe.
    static let pipeWriterMilliseconds: CInt = 5000
    /// Bytes of a configuration file.
    static let configurationBytes = 1 << 20
    /// Bytes of the manifest of a backup: 10,000 identities take one of its sixteen million.
    static let manifestBytes = 16 << 20
    /// Clocks that differ by more seconds than this are worth a warning.
    static let clockSkewSeconds: Int64 = 60
    /// Free bytes of the disk under which there is a warning.
    static let freeBytes: UInt64 = 200 << 20
    /// Seconds that `doctor` waits for the backend.
    static let examinationSeconds = 10
    /// Bytes of all request bodies on their way to `understudy backend`, whose custom API takes one of
    /// 100 MiB whole.
    static let backendBodiesBytes = 256 << 20
    /// Operations and history entries of a support bundle.
    static let bundledEntries = 200
    /// Characters that a command shows of a row which cannot be taken.
    static let setAsideCharacters = 200
    /// Columns of a progress bar in a terminal.
    static let progressBarColumns = 30
    /// The longest path of a Unix socket: `sun_path` has 108 bytes, the last of which is a NUL.
    static let socketPathBytes = 107
}
