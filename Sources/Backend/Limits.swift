/// Every limit of this module, with its unit.
package enum Limits {
    /// The longest request body, in bytes.
    static let bodyBytes = 1 << 20
    /// The longest request body that the Node server takes, in bytes.
    static let nodeBodyBytes = 100 << 10
    /// The longest id of an item on the Node server, in bytes: PostgreSQL's indexes take a key of about 2,700
    /// bytes, and the name of the table may be part of it. The other servers have limits of their own.
    static let nodeIDBytes = 1024
    /// The longest name of a column that a write brings, in UTF-16 units: SQL Server's.
    static let columnNameCharacters = 128
    /// The columns that writes give a table at most, as SQL Server's tables have them.
    static let columnsOfTable = 1024
    /// The longest list of field names that a page may ask for from another origin, in bytes.
    static let requestedNamesBytes = 500
    /// How often a request is decided anew because another writer of its item was faster.
    static let attemptsOfWrite = 1000
    /// The longest latency that a rule of faults may add, in milliseconds: an hour.
    static let latencyMilliseconds = 3_600_000
    /// Requests that a rule of faults may let pass, or act on, where it says how many.
    static let faultedRequests = 1_000_000_000
    /// After how many seconds a client tries again whose request the database could not answer.
    static let retrySeconds = 1
    /// How long a request waits for a thread of the storage, in seconds.
    static let queuedSeconds = 15
    /// How long a request waits for a thread of the storage before it counts whether its client has left, in
    /// seconds. A client that closed its sending side alone looks the same, and is served until then.
    static let abandonedSeconds = 1
    /// The least time between two reports that the storage does not answer, in seconds.
    static let outageReportSeconds = 60
    /// How many tables the metrics name; the requests on others are counted together.
    static let meteredTables = 500
    /// The most unused permits that a budget keeps, in milliseconds of its rate.
    static let budgetBurstMilliseconds = 250.0
    /// The most unused permits that a client keeps, in milliseconds of its rate.
    static let clientBurstMilliseconds = 1000.0
    /// The number of clients from which on those that rest are forgotten.
    static let limitedClients = 1000
    /// The part of a budget's rate at which refused clients are told to return.
    static let returnShare = 0.25
    /// The longest that a budget tells a client to stay away, in seconds.
    static let budgetWaitSeconds = 600
    /// Effects in one answer of `/-/effects`.
    static let effectsPage = 1000
    /// Rows that a start reads at once to check the kind of a table's ids.
    static let checkedRows = 1000
    /// The greatest integer id: up to it every whole number is one that JavaScript has too.
    package static let numberedID: Int64 = 1 << 53
    /// By how many seconds the stamp of a moved row may be ahead of this machine's clock and stay: a day.
    static let stampAheadSeconds: Int64 = 86_400
    /// Steps of SQLite's machine that a list may take: those for about a million rows.
    package static let listSteps = 50_000_000
    /// Milliseconds that a list may take in SQLite, whatever steps it has left.
    static let listMilliseconds = 3_000
    /// Followers of the stream of changes at once, each with a connection that does not count in those of
    /// HTTPServer. A node that is a service may open 16,384 files.
    package static let changeFollowers = 12_000
    /// Bytes of events that a follower may leave unread.
    static let changeBytes = 32 << 10
    /// Changes that are named to a follower at once; more of them are one event.
    static let namedChanges = 100
    /// Milliseconds for which changes are gathered.
    static let changeGatherMilliseconds = 100
    /// Seconds between two comment lines of a stream of changes.
    static let heartbeatSeconds = 15
    /// Followers that may act on a change in one second.
    static let followersEachSecond = 500
    /// The least and the most milliseconds over which followers spread what they do.
    static let spreadMilliseconds = 1_000
    static let longestSpreadMilliseconds = 60_000
    /// Effects, and tombstones, that are removed in one transaction because of their age.
    package static let expiredAtOnce = 500
    /// Milliseconds between two such transactions.
    static let expiryPauseMilliseconds = 20
    /// Connections that read a file of SQLite.
    static let readers = 8
}
