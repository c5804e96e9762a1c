/// The limits of both programs that are not those of the proxy.
package enum Limits {
    /// Milliseconds of a stop for open requests and the operation that is being sent; then the process ends.
    package static let stopMilliseconds = 1800
    /// The same of a backend, whose changes may wait for PostgreSQL: longer than
    /// ``backendChangeMilliseconds``.
    package static let backendStopMilliseconds = 12_000
    /// Milliseconds of a stop in which changes that a backend has begun get their answer.
    package static let backendChangeMilliseconds = 10_000
    /// Connections to the backend for syncing, and for writes whose clients wait.
    package static let syncConnections = 48
    /// Bytes of one line of a file that is imported: a row as large as the largest answer of a backend.
    package static let importedLineBytes = 64 << 20
    /// Rows that a person is shown of a list of rows; JSON has all.
    package static let shownRows = 20
    /// Milliseconds that an import waits for the first writer of a pipe.
    package static let pipeWriterMilliseconds: CInt = 5000
    /// Bytes of the value of a header field of each request to the backend.
    static let backendHeaderBytes = 4096
    /// Bytes of a configuration file.
    package static let configurationBytes = 1 << 20
    /// Bytes of all request bodies of a backend in memory at once. Its custom API accepts one of
    /// 100 MiB.
    package static let backendBodiesBytes = 256 << 20
    /// Bytes of the `Link` in the head of a backend's answer: the request's target, escaped.
    static let backendLinkBytes = 24 << 10
    /// Lines of the log that are kept for `doctor --json`.
    package static let keptLogLines = 500
    /// Columns of a progress bar in a terminal.
    package static let progressBarColumns = 30
    /// Milliseconds between two requests of a command for the state of a run.
    package static let runPollMilliseconds = 200
}
