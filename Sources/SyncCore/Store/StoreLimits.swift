import Storage

/// Every limit of the store, with its unit.
public enum StoreLimits {
    /// Seconds for which a decision may be held back before it is sent.
    public static let holdSecondsMax = 60
    /// Rows or operations that a sentence about several names.
    static let namedInSentence = 3
    /// Entries of an item's history, the latest first, in which a value's writer is looked for.
    static let entriesOfItem = 50
    /// Steps of SQLite's machine that a read may take on a server's thread.
    public static let readBudgetSteps = 200_000
    /// Steps that a read may take where it may take its time.
    public static let longReadBudgetSteps = 200_000_000
    /// Milliseconds that any read may take, whatever steps it has left.
    public static let readMilliseconds = StorageLimits.readMilliseconds
    /// Names of columns that one table may have. Each write with a new name reads and stores all of them.
    public static let columnNames = 4_000
    /// Open operations of one item beyond which an update that has to follow an insert takes the item's last
    /// update along: each write reads them all.
    static let operationsOfItem = 16
    /// The rows that are remembered of an item which its pushes have replaced.
    static let replacedRows = 8
    /// Writes in one transaction.
    public static let groupWrites = StorageLimits.groupEntries
    /// Bytes that an ordinary write may need, for which a store with a budget has to have room.
    static let proofBytes = 8 << 10
    /// Rows that are removed at once for a group of writes that the budget refused.
    static let forgottenRows = 1_000
    /// The kept beginning of an answer's body, in bytes.
    public static let responseExcerptBytes = 4096
    /// Events that one statement writes at most; a power of two.
    static let eventsInStatement = 16
    /// Events that are written between two removals of old ones.
    static let eventsBetweenRemovals: Int64 = 512
    /// Events kept for readers that were away.
    public static let events = 10_000
    /// The largest number that a row of a restored store may have: a million a second take nine years.
    static let rowNumber: Int64 = 1 << 48
    /// Rows in one answer to a client that asks for more than a page.
    public static let pageRows = 1_000
    /// Seconds that closed operations and their history are kept, unless it is set.
    public static let historySeconds: Int64 = 30 * 86_400
    /// Seconds that the attempts of closed operations are kept, unless it is set.
    public static let attemptSeconds: Int64 = 7 * 86_400
    /// Entries of history, and closed operations, that are kept at most.
    public static let historyEntries = 100_000
    /// Seconds that tombstones are kept, unless it is set.
    public static let tombstoneSeconds: Int64 = 90 * 86_400
    /// Bytes of a row beside its texts, for the limits of history and attempts.
    static let rowOverheadBytes = 60
    /// The largest count of writes or operations that a store can have. JSON's numbers are exact up to
    /// here, and sums of counts stay far from overflow.
    static let largestCount: Int64 = 1 << 53
    /// The first provisional id of a table with integer ids: the largest number of 32 bits.
    static let largestProvisionalID: Int64 = 2_147_483_647
    /// Days that samples are kept.
    public static let sampleDays = 7
    /// The largest number that a sample can have. The sum of as many samples as a file can hold stays far
    /// from overflow.
    static let largestSampledNumber = 1 << 36
    /// Rows of each kind that one sweep removes, so that it never holds up a write for long.
    public static let sweepRows = 1_000
    /// Sweeps that one maintenance makes at most, while expired rows are left.
    static let sweeps = 20
    /// Runs that are kept.
    public static let runs = 1_000
    /// Results of single operations that are kept of a run.
    public static let runResults = 1_000
    /// Indexes that a table may have.
    public static let indexesPerTable = 4
    /// A store is nearly full where less than this part of its budget is free.
    static let budgetsFreeForWrites = 16
    /// An index is built only where this part of the budget stays free.
    static let budgetsFreeBesideIndexes = 8
    /// Characters of a text that operations and history are searched for.
    public static let searchCharacters = 200
    /// The most elements on one page of an operator's list.
    public static let operatorPage = 500
    /// Characters of an item's text shown to people.
    public static let titleCharacters = 80
    /// Random words of 8 bytes that are asked for at once: the most that the system gives
    /// (getentropy(3)).
    static let randomWords = 32
}
