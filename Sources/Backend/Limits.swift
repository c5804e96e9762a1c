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
    /// The room for requests that a budget keeps while none come, in milliseconds of its rate.
    static let budgetBurstMilliseconds = 250.0
    /// The part of a budget's rate at which refused clients are told to return.
    static let returnShare = 0.25
    /// The longest that a budget tells a client to stay away, in seconds.
    static let budgetWaitSeconds = 600
    /// Effects in one answer of `/-/effects`.
    static let effectsPage = 1000
}
