/// Every limit of the store, with its unit.
public enum StoreLimits {
    /// Steps of SQLite's machine that a read may take on a server's thread.
    public static let readBudgetSteps = 200_000
    /// Steps that a read may take where it may take its time.
    public static let longReadBudgetSteps = 200_000_000
    /// Writes that wait for the committer at most; more are answered `busy`.
    public static let waitingWrites = 10_000
    /// Writes in one transaction.
    public static let groupWrites = 500
    /// Memory in which the writer keeps pages, in KiB.
    static let writerCacheKiB = 16_384
    /// Pages in the write-ahead log before they are copied into the file: a page that many commits
    /// change is copied once.
    static let checkpointPages = 4_000
    /// Seconds that a connection waits for a lock that another process holds.
    static let busySeconds = 5.0
    /// Different queries whose compiled form one reader remembers.
    static let rememberedQueries = 256
    /// Rows that a pull applies in one transaction.
    public static let applyRows = 500
    /// The reserve of a store that may not grow is the budget divided by this.
    static let budgetsInReserve = 8
    /// Rows that make room for a group of writes when the store may not grow.
    static let forgottenRows = 1_000
    /// Earlier versions of an item that stay valid in If-Match.
    public static let heldVersions = 8
    /// The kept beginning of an answer's body, in bytes.
    public static let responseExcerptBytes = 4096
    /// Events kept for readers that were away.
    public static let events = 10_000
    /// Rows in one answer to a first generation client that asks for more than a page.
    public static let firstGenerationRows = 1_000
    /// Days that closed operations and their history are kept.
    public static let historyDays = 30
    /// Entries of history, and closed operations, that are kept at most.
    public static let historyEntries = 100_000
    /// Days that tombstones are kept.
    public static let tombstoneDays = 90
    /// Days that samples are kept.
    public static let sampleDays = 7
    /// Rows of each kind that one sweep removes, so that it never holds up a write for long.
    public static let sweepRows = 1_000
    /// Runs that are kept.
    public static let runs = 1_000
    /// Results of single operations that are kept of a run.
    public static let runResults = 1_000
    /// Characters of a text that operations are searched for.
    static let searchCharacters = 200
    /// The most elements on one page of an operator's list.
    public static let operatorPage = 500
    /// Characters of an item's text shown to people.
    public static let titleCharacters = 80
    /// The most pages that SQLite gives a file.
    static let filePages = 1_073_741_823
    /// Open operations that the simulator looks at.
    static let sightOperations = 100_000
}
