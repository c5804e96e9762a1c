/// Every limit of this module, with its unit.
enum Limits {
    /// The longest request body, in bytes.
    static let bodyBytes = 1 << 20
    /// The longest request body that the Node server takes, in bytes.
    static let nodeBodyBytes = 100 << 10
    /// The longest request body of a custom API, in bytes.
    static let customBodyBytes = 101 << 20
    /// The longest name of a column on the Node server, in characters.
    static let columnNameCharacters = 128
    /// The longest list of field names that a page may ask for from another origin, in bytes.
    static let requestedNamesBytes = 500
    /// How often a request is decided anew because another writer of its item was faster.
    static let attemptsOfWrite = 1000
    /// After how many seconds a client tries again whose request the database could not answer.
    static let retrySeconds = 1
    /// How long a request waits for a thread of the storage, in seconds.
    static let queuedSeconds = 15
    /// Effects in one answer of `/-/effects`.
    static let effectsPage = 1000
    /// Rows that are copied at once from PostgreSQL, where it cannot judge a query alone.
    static let copiedRows = 500
}
