import SyncCore

/// The limits of the program that are not those of the proxy.
enum Limits {
    /// The smallest `--disk-budget`, in bytes.
    static let diskBudgetBytesMin = 10 << 20
    /// The smallest `--history-budget` and `--attempts-budget`, in bytes.
    static let keptBytesMin = 1 << 20
    /// Indexes that a table may have.
    static let indexesPerTable = StoreLimits.indexesPerTable
    /// Seconds that a command waits for an answer of the operator API.
    static let commandSeconds = 60
    /// Milliseconds between two requests of a command for the state of a run.
    static let runPollMilliseconds = 200
    /// Seconds between two reports to the log and the service manager.
    static let serviceReportSeconds = 5
    /// Milliseconds of a stop for open requests and the operation that is being sent; then the process ends.
    static let stopMilliseconds = 1800
    /// The same of `understudy backend`, whose changes wait for PostgreSQL: longer than
    /// ``backendChangeMilliseconds``.
    static let backendStopMilliseconds = 12_000
    /// Milliseconds of a stop in which changes that `understudy backend` has begun get their answer.
    static let backendChangeMilliseconds = 10_000
    /// The usual `--drain` of a backend that verifies tokens, in seconds.
    static let drainSeconds = 5
    /// The longest `--drain`, in seconds.
    static let drainSecondsMax = 600
    /// Names of header fields that can be forwarded.
    static let forwardedHeaders = 16
    /// The greatest `--offline-grace`, in days.
    static let offlineGraceDaysMax: Int64 = 3650
    /// Bytes of one import request, unless a single element is larger.
    static let importRequestBytes = 1 << 20
    /// Bytes of one line of a file that is imported: a row as large as the largest answer of a backend.
    static let importedLineBytes = 64 << 20
    /// Rows that a move into a backend writes in one transaction.
    static let movedRows = 500
    /// Bytes of rows after which such a transaction takes no further row.
    static let movedBytes = 4 << 20
    /// Rows that a person is shown of a list of rows; JSON has all.
    static let shownRows = 20
    /// Bytes of a file that is imported. The imported part of it is held in memory.
    static let importedFileBytes = 1 << 30
    /// Milliseconds that an import waits for the first writer of a pipe.
    static let pipeWriterMilliseconds: CInt = 5000
    /// Bytes of a configuration file.
    static let configurationBytes = 1 << 20
    /// Bytes of the access file, of each file that it names, of the administrator's token, of a certificate
    /// and of its key.
    static let accessFileBytes = 1 << 20
    /// Seconds of difference between two clocks above which there is a warning.
    static let clockSkewSeconds: Int64 = 60
    /// Free bytes of the disk under which there is a warning.
    static let freeBytes: UInt64 = 200 << 20
    /// Seconds that `doctor` waits for the backend.
    static let examinationSeconds = 10
    /// Bytes of all request bodies of `understudy backend` in memory at once. Its custom API accepts one of
    /// 100 MiB.
    static let backendBodiesBytes = 256 << 20
    /// Operations and history entries of a support bundle.
    static let bundledEntries = 200
    /// The largest files of the data folder that a support bundle names.
    static let bundledFiles = 500
    /// Lines of the log that are kept for a support bundle.
    static let keptLogLines = 500
    /// Characters of a row that is set aside, as a command shows it.
    static let setAsideCharacters = 200
    /// Columns of a progress bar in a terminal.
    static let progressBarColumns = 30
    /// The longest path of a Unix socket: `sun_path` has 108 bytes, the last of which is a NUL.
    static let socketPathBytes = 107
    /// Days that history, attempts and tombstones can be kept at most.
    static let keptDaysMax: Int64 = 3660
}
