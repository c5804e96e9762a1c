public import TablesProtocol

/// Every limit of syncing, with its unit.
public enum SyncLimits {
    /// The time between two syncs of the interval trigger, in seconds, unless it is set.
    public static let syncIntervalSeconds = 300
    /// The time without writes after which they are pushed, in milliseconds, unless it is set.
    public static let debounceMilliseconds = 300
    /// The failures of its own after which an operation is quarantined, unless their number is set.
    public static let attemptsBeforeRefusal = 10
    /// The most operations that are sent at once.
    public static let parallelPushes = 16
    /// Changes for all identities that are kept for stores that are being opened or closed.
    static let changesForAll = 1000
    /// Operations that a push holds in flight for each request slot at its beginning, if it has several
    /// slots.
    static let operationsPerRequestSlot = 2
    /// The most operations in flight for each request slot, if the backend answers faster than operations
    /// are marked.
    static let maxOperationsPerRequestSlot = 8
    /// The most rows that are requested in one page.
    public static let pullPageRows = 1000
    /// The page size after a backend refused a larger one. Every server accepts it.
    static let fallbackPageRows = 50
    /// How often a client's list is sent again for fewer rows after the backend refused their number.
    static let smallerPages = 2
    /// The number of pulls before pages of a refused size are requested again.
    static let pullsBeforeLargerPages = 16
    /// The most tables that are noted for the next sync because clients have read them.
    static let wantedTables = 100
    /// The most rows that one transaction of a pull applies.
    static let applyRows = 500
    /// The most rows that one transaction applies while clients use the store, because they wait for its
    /// commit.
    static let applyRowsBesideClients = 100
    /// The fewest rows that a transaction applies before it ends early for waiting writes.
    static let applyRowsBesideWrites = 25
    /// The most rows that wait to be applied when the next page is requested.
    static let prefetchedRows = 1_000
    /// How long after a client's use of the store a pull works sequentially, in milliseconds.
    static let restBesideClientsMilliseconds = 1_000
    /// How far before its token a pull starts, in seconds, to find rows that were committed late.
    static let overlapSeconds: Int64 = 10
    /// How long a pull token has to be the latest time of its rows, in seconds by the `Date` of answers, before a
    /// pull starts behind it: ``overlapSeconds``, and room for a clock that is set back.
    static let settledSeconds: Int64 = 60
    /// The most by which two clocks may differ that should not, in seconds.
    static let clockDifferenceSeconds: Int64 = 840
    /// How far before the `Date` of a first pull its token has to be for the next pull to start behind it, in
    /// seconds: the clocks of the backend's database and its web server may differ.
    static let settledAtOnceSeconds: Int64 = settledSeconds + clockDifferenceSeconds
    /// Over how many milliseconds followers of a stream of changes spread what they do, where the backend does
    /// not say, and at most.
    static let changeSpreadMilliseconds = 1_000
    static let changeSpreadMaxMilliseconds = 60_000
    /// Bytes of the stream of changes that are read at once.
    static let changePieceBytes = 4 << 10
    /// Bytes and events of the stream of changes that are read in a second, and the events as which a `reset` counts.
    static let followBytesPerSecond = 65_536.0
    static let followEventsPerSecond = 100.0
    static let changesInReset = 20
    /// How long after a pull the stream of changes may cause the next one of the same table, in seconds.
    static let changePullSeconds: Int64 = 5
    /// Live writes that are sent side by side.
    static let liveWrites = 32
    /// The latest answers of the backend whose median time is taken, and the median above which a client does not
    /// wait for the outcome of its write, in seconds.
    static let latestAnswers = 15
    static let slowAnswerSeconds: Int64 = 2
    /// The clients whose last acknowledged write is remembered until it is sent.
    static let acknowledgedClients = 1_000
    /// The operations that are due ahead of a live write and are looked at; beyond them it stands in line.
    static let aheadOfLive = 64
    /// The pushes that a write waits for that stands in line: one that is running may have begun before it.
    static let awaitedPushes = 3
    /// The shortest wait before a stream of changes that has ended is asked for again, in milliseconds.
    static let followFloorMilliseconds: Int64 = 500
    /// How long a stream of changes may be silent, in seconds. Its heartbeats come every 15 s.
    static let followSilenceSeconds: Int64 = 45
    /// How long a stream of changes lasts that did not fail, in seconds.
    static let followLastingSeconds: Int64 = 60
    /// The longest wait before a backend that has offered the stream is asked for it again, in seconds.
    static let followCapSeconds: Int64 = 60
    /// The wait before a backend that offers no stream of changes is asked for it again, in seconds.
    static let followRestSeconds: Int64 = 3_600
    /// The same for a backend that refuses the credential, in seconds.
    static let followRefusedSeconds: Int64 = 600
    /// The units to which a backend may round its times down, in seconds, the longest first.
    static let roundedSeconds: [Int64] = [86_400, 3_600, 60]
    /// The longest `Retry-After` that is obeyed, in seconds.
    static let retryAfterSeconds: Int64 = 86_400
    /// Failures of the link in a row that open the circuit.
    static let circuitFailures = 3
    /// The first wait between two probes of the backend, in milliseconds.
    static let probeBaseMilliseconds: UInt64 = 1_000
    /// The longest wait between two probes during a short outage, in milliseconds.
    static let probeCapMilliseconds: UInt64 = 20_000
    /// The part of an outage's length, as a divisor, that a wait between two probes may take beyond
    /// ``probeCapMilliseconds``.
    static let probeOutageDivisor: UInt64 = 20
    /// The longest wait between two probes, in milliseconds.
    static let longOutageProbeCapMilliseconds: UInt64 = 180_000
    /// The longest wait between two probes in an outage of this length.
    public static func longestProbeWait(outage: Duration) -> Duration {
        let part = UInt64(max(outage.wholeMilliseconds, 0)) / probeOutageDivisor
        return .milliseconds(
            min(max(probeCapMilliseconds, part), longOutageProbeCapMilliseconds))
    }
    /// The most doublings of a first wait. The longest first wait, shifted so far, stays below 64 bits, and
    /// every cap is reached earlier.
    static let backoffDoublings = 20
    /// The first wait before an operation is tried again, in milliseconds.
    static let operationBaseMilliseconds: UInt64 = 2_000
    /// The longest wait before an operation is tried again, in milliseconds.
    static let operationCapMilliseconds: UInt64 = 600_000
    /// The shortest wait before a table is tried again that the backend fails for, in milliseconds.
    static let tableFloorMilliseconds: Int64 = 500
    /// How long after its table an operation is due that failed again at a time that the backend named, in
    /// seconds. Another operation of the table is tried first: the failure may be about this one alone.
    static let tableTurnSeconds: Int64 = 1
    /// How long a push runs before it makes way for pulls that wait, in seconds.
    static let pushTurnSeconds: Int64 = 2
    /// The longest that due work may wait with the backend in reach, in seconds.
    static let stallSeconds: Int64 = 30
    /// The wait after a run that failed because of the store, in seconds.
    static let storeRestSeconds: Int64 = 5
    /// The wait before a retry of work whose tables the backend does not list, in seconds.
    static let tableRestSeconds: Int64 = 20
    /// The upper bounds of the histogram of request times, in milliseconds.
    public static let requestTimeBoundsMilliseconds = [
        5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
    ]
    /// The classes of the times of answers that samples keep: up to 131 s.
    static let answerTimeClasses = 69
    /// The greatest age of the results that a running push reports, in milliseconds.
    static let resultsMilliseconds: Int64 = 100
    /// The operations that a push reads at once.
    static let dueOperationsPerRead = 64
    /// The most attempts that one push makes for an operation: read back, send, send merged. Requests that
    /// judge an attempt are not counted.
    static let requestsPerOperation = 3
    /// The least time between two pulls of a table that clients read, in seconds.
    static let readGapSeconds: Int64 = 5
    /// The most tables whose last read is kept. If so many were read within ``readGapSeconds``, the read of
    /// another table starts no pull: clients may ask for any name.
    static let readTables = 100
    /// The pulls that a read may wait for, one after another: one that began before the read, its own, and one that
    /// another caller began meanwhile.
    static let pullsPerRefresh = 3
    /// How often the engine runs its maintenance and stores a sample, in seconds.
    static let maintenanceSeconds: Int64 = 60
    /// How often the watchdog checks the loop, in seconds.
    static let watchSeconds: Int64 = 10
    /// How long a request may be in flight before its run counts as stalled, in seconds.
    static let requestPatienceSeconds: Int64 = 120
    /// How far the wall clock may jump before it counts as set, in seconds.
    static let clockSlackSeconds: Int64 = 5
    /// The most rows that one purge with a filter removes.
    static let purgeRows = 1_000_000_000
    /// The characters of an answer that an error message quotes.
    static let quotedAnswerCharacters = 300
    /// The bytes of a refusal in text that may be a script's sentence. A longer one counts as a page.
    static let refusalTextBytes = 1000
    /// The bytes of a response body that an attempt records.
    static let excerptBytes = 4096
    /// The header fields of one request or answer that an attempt records.
    static let recordedFields = 40
    /// The characters of a header field's value that an attempt records.
    static let recordedFieldCharacters = 300
    /// The finished runs that are kept in memory for callers that wait for them.
    static let rememberedRuns = 50
    /// The most pages of one pull, after which it fails: the backend sends pages without end.
    static let pullPages = 100_000
    /// How often a pull by `$skip` goes back without a new row before it accepts an unstable order.
    static let pullStepsBack = 100
    /// The pages of the backend's own links that bring no new row, one after the other, before a pull fails.
    static let barrenPages = 100
    /// The longest link to a next page that is followed, in bytes.
    static let linkBytes = 8_192
    /// The most operations that are read to find out whether two wait for each other.
    static let dependencySteps = 1_000
    /// The sets of clients' own query pairs of one table whose rows are remembered.
    static let followedPairs = 50
    /// The bytes that are stored of a row that was set aside.
    public static let setAsideBytes = 65_536
    /// The rows of a table that are set aside with their text. Of further ones only the id and the reason
    /// are stored.
    static let setAsideTexts = 1_000
    /// The rows that were set aside which one pull requests again.
    static let setAsideAsked = 20
    /// The items missing from an unpaged list which one pull requests by id.
    static let unseenAsked = 100
    /// The bytes of ids in one filter that asks which items are in a part of a table: some servers take query
    /// strings of 2,048 characters, and an id has about 20 more around it.
    static let doubtBytes = 720
    /// The most ids in one such filter.
    static let doubtsAsked = 20
    /// The time between two checks of a table's copy, in seconds, unless it is set.
    public static let checkCopiesSeconds = 3_600
    /// How often copies are checked before the check compares all ids, and at least how often a day it does.
    static let checksBeforeComparison = 24
    /// The time between two comparisons of all ids, if copies are checked each `period`.
    static func betweenComparisons(_ period: Duration) -> Duration {
        max(period, min(period * checksBeforeComparison, .seconds(86_400)))
    }
    /// The rest before a comparison that made way for other work goes on, in seconds.
    static let betweenPartsOfComparison: Int64 = 60
    /// The comparisons in a row that end with an objection to the backend's answers before a table is left alone.
    static let faultyComparisons = 2
    /// How much older a row of the backend has to be than the one that it gave before to show that the backend was
    /// restored, in seconds: a clock that keeps local time goes back by an hour.
    static let restoredSeconds: Int64 = 7_200
    /// How long a row that a push has replaced counts as older than what is here, in seconds: longer than a copy
    /// of a database lags behind in a normal operation.
    static let replicaLagSeconds: Int64 = 120
    /// How long it is doubted that the backend has no row which it must have, in seconds from the first attempt,
    /// or from the insert.
    static let doubtedAbsenceSeconds: Int64 = 60
    /// The first wait before a table is pulled again whose rows were older than what is here, in seconds.
    static let laggingPullSeconds: Int64 = 2
    /// How far after the beginning of a pull a row's time may be to advance its token, in seconds: the
    /// `Date` of an answer has whole seconds, and its server's clock may differ from the database's. Less than
    /// ``overlapSeconds``, so that no later change is missed.
    static let futureSeconds: Int64 = 5
    /// The most tables that a proof lists.
    static let proofTables = 8
    /// The most tables that a proof lists if each of them fails with an error of the backend.
    static let proofFaults = 3
    /// How long changes wait for a proof before a person is told what it takes, in seconds.
    static let unprovenSeconds: Int64 = 60
    /// The most tables that one examination of a backend lists.
    static let examinedTables = 20
    /// How long before an insert a delete may have been answered that took effect after the insert's highest id
    /// was asked for, in milliseconds.
    static let deletesBesideInsertMilliseconds: Int64 = 60_000
    /// Seconds between two looks whether history and attempts are within their bytes.
    static let byteBudgetSeconds: Int64 = 3600
}

/// The operator's settings of syncing.
public struct SyncSettings: Sendable, Hashable {
    /// The events that start a sync. With ``Trigger/manual`` alone nothing happens without a request.
    public var triggers: Set<Trigger>
    /// The time between two syncs of the interval trigger.
    public var interval: Duration
    /// The time without writes after which they are pushed.
    public var debounce: Duration
    /// The most requests of a push in flight, 1 to ``SyncLimits/parallelPushes``. With 1, the order of the
    /// whole queue is kept, parents before children; with more, the order of each item's operations.
    public var parallelism: Int
    /// The tables that a sync pulls in addition to those in the store.
    public var tables: [TableName]
    /// The tables whose writes are sent without a list as proof, where the backend refuses the list.
    public var trustedTables: Set<TableName>
    /// The number of failures of its own after which an operation is quarantined.
    public var maxAttempts: Int
    /// The rows requested in one page, 1 to ``SyncLimits/pullPageRows``.
    public var pageRows: Int
    /// How long what is settled is kept.
    public var retention: Retention
    /// How tables are read for which no policy was chosen; ``ReadPolicy/standard`` leaves it to the triggers.
    public var readPolicy = ReadPolicy.standard
    /// How they are written.
    public var writePolicy = WritePolicy.standard
    /// The time between two checks of each table's copy against the backend; nil for none.
    public var checkCopies: Duration?

    /// Makes settings. Values out of range become the nearest in range.
    public init(
        triggers: Set<Trigger> = Set(Trigger.allCases),
        interval: Duration = .seconds(SyncLimits.syncIntervalSeconds),
        debounce: Duration = .milliseconds(SyncLimits.debounceMilliseconds), parallelism: Int = 1,
        tables: [TableName] = [], trustedTables: Set<TableName> = [],
        maxAttempts: Int = SyncLimits.attemptsBeforeRefusal,
        pageRows: Int = SyncLimits.pullPageRows,
        retention: Retention = Retention(), checkCopies: Duration? = nil
    ) {
        self.triggers = triggers
        self.interval = max(interval, .seconds(1))
        self.debounce = max(debounce, .zero)
        self.parallelism = min(max(parallelism, 1), SyncLimits.parallelPushes)
        self.tables = tables
        self.trustedTables = trustedTables
        self.maxAttempts = max(maxAttempts, 1)
        self.pageRows = min(max(pageRows, 1), SyncLimits.pullPageRows)
        self.retention = retention
        self.checkCopies = checkCopies
    }

    /// The policies of tables for which none was chosen. What is read and written is synced at once where reads and
    /// writes start a sync; else it waits for one.
    public var standardPolicies: StandardPolicies {
        StandardPolicies(
            readPolicy.resolved(by: triggers.contains(.read) ? .revalidate : []),
            writePolicy.resolved(by: triggers.contains(.afterWrites) ? .writeThrough : []))
    }

    /// The operations that a push holds in flight at its beginning. With one slot an outcome is on disk
    /// before the next operation is marked; with several, the next are marked while requests are in flight.
    var operationsInFlight: Int {
        parallelism == 1 ? 1 : parallelism * SyncLimits.operationsPerRequestSlot
    }

    /// The most operations that a push holds in flight when requests wait for marked ones.
    var maxOperationsInFlight: Int {
        parallelism == 1 ? 1 : parallelism * SyncLimits.maxOperationsPerRequestSlot
    }
}

/// An event that may start a sync; each can be switched off.
public enum Trigger: String, Codable, Sendable, Hashable, CaseIterable {
    /// A person, a command or a client requests it.
    case manual
    /// Local writes, after the debounce time.
    case afterWrites
    /// The interval has passed.
    case interval
    /// The backend can be reached again.
    case reconnect
    /// A client reads a table with the read policy `revalidate`, or a table that was not pulled yet.
    case read
}
