/// Every limit of this module, with its unit.
enum Limits {
    /// The longest token of a user, in bytes.
    static let tokenBytes = 16 << 10
    /// The longest id of a user, the name of its provider included, in bytes.
    static let userBytes = 255
    /// The shortest secret that signs tokens, and the shortest token of the administrator, in bytes.
    static let sharedKeyBytes = 32
    /// The shortest RSA key that verifies tokens, in bits (RFC 7518, section 3.3).
    static let rsaKeyBits = 2048
    /// The longest one. A longer key would make a token cost too much.
    static let rsaKeyBitsMax = 8192
    /// By how many seconds clocks may be said to differ.
    static let clockSkewSeconds: Int64 = 300
    /// By how many seconds clocks may differ where nothing is said.
    static let usualClockSkewSeconds: Int64 = 60
    /// For how many hours a token of this site may be said to hold: 30 days.
    static let tokenHours: Int64 = 720
    /// For how many hours a token of this site holds where nothing is said.
    static let usualTokenHours: Int64 = 24
    /// How long the statements of a list may take in PostgreSQL, all together, in milliseconds.
    static let postgreSQLListMilliseconds = 5000
    /// How long a list may take on a thread that other calls wait for, in milliseconds. A longer one begins
    /// anew in the lane of long calls.
    static let briefListMilliseconds = 250
    /// How often a migration is tried anew that the server ended in favour of a request.
    static let migrationAttempts = 5
    /// The indexes of one table that an operator may have built. Each makes its writes slower.
    static let indexesOfTable = 8
    /// The characters of a text that the key of an index has.
    static let indexedCharacters = 80
    /// The longest name that PostgreSQL gives an index, in bytes.
    static let indexNameBytes = 63
    /// The pause before a node tries again to build an index while another one builds, in milliseconds.
    static let indexPauseMilliseconds = 5000
    /// The same while the database is away.
    static let indexPauseWithoutDatabaseMilliseconds = 60_000
    /// After how many seconds a client may send a list again that was ended for its time.
    static let longListRetrySeconds = 30
    /// Rows that are copied at once from PostgreSQL, where it cannot judge a query alone.
    static let copiedRows = 500
}
