/// Every limit of syncing, with its unit.
public enum SyncLimits {
    /// The most operations that are sent at once.
    public static let parallelPushes = 16
    /// Changes for all identities that are kept for the stores that are being opened or closed.
    static let changesForAll = 1000
    /// Turns of a push for each request that may be under way, where more than one may: as it begins.
    static let turnsForEachRequest = 2
    /// The same at most, where the backend answers faster than operations are marked in flight.
    static let mostTurnsForEachRequest = 8
    /// The most rows that are asked for in one page.
    public static let pullPageRows = 1000
    /// The same after a backend has refused to give more, as every server gives.
    static let agreedPageRows = 50
    /// Tables that clients have read, to be pulled by the next sync.
    static let wantedTables = 100
    /// The most rows that one transaction of a pull applies.
    static let applyRows = 500
    /// The same while clients are at work, which wait for its commit.
    static let applyRowsBesideClients = 100
    /// The least that it applies before it ends for the sake of writes that wait.
    static let applyRowsBesideWrites = 25
    /// Rows that wait to be applied before no further page is asked for.
    static let prefetchedRows = 1_000
    /// How long after clients read or wrote a pull does one thing at a time, in milliseconds.
    static let restBesideClientsMilliseconds = 1_000
    /// How far before its token a pull starts, in seconds: rows committed late are not missed.
    static let overlapSeconds: Int64 = 10
    /// The longest `Retry-After` that is obeyed, in seconds.
    static let retryAfterSeconds: Int64 = 86_400
    /// Failures of the link in a row that open the circuit.
    static let circuitFailures = 3
    /// The first wait between two probes of the backend, in milliseconds.
    static let probeBaseMilliseconds: UInt64 = 1_000
    /// The longest wait between two probes, in milliseconds.
    static let probeCapMilliseconds: UInt64 = 20_000
    /// The first wait before an operation is tried again, in milliseconds.
    static let operationBaseMilliseconds: UInt64 = 2_000
    /// The longest wait before an operation is tried again, in milliseconds.
    static let operationCapMilliseconds: UInt64 = 600_000
    /// The longest that due work may wait with the backend in reach, in seconds.
    static let stallSeconds: Int64 = 30
    /// The wait after a run that the store made fail, in seconds.
    static let storeRestSeconds: Int64 = 5
    /// The wait before work is tried again whose tables the backend does not list, in seconds.
    static let tableRestSeconds: Int64 = 20
    /// The bounds by which the times of requests to the backend are counted, in milliseconds.
    public static let requestTimeBoundsMilliseconds = [
        5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
    ]
    /// How old the single results of a push under way may be that are shown, in milliseconds.
    static let resultsMilliseconds: Int64 = 100
    /// Operations that a push looks up at once.
    static let lookAhead = 64
    /// Requests that one operation's turn makes at most: read back, send, send merged.
    static let requestsPerTurn = 3
    /// The least time between two pulls of a table because it is read, in seconds.
    static let readGapSeconds: Int64 = 5
    /// Tables of which a read is remembered. While so many were read within ``readGapSeconds``, the read
    /// of a further one pulls nothing: any name can be asked for.
    static let readTables = 100
    /// How often the engine runs its maintenance and keeps a sample, in seconds.
    static let maintenanceSeconds: Int64 = 60
    /// How often the watchdog looks, in seconds.
    static let watchSeconds: Int64 = 10
    /// How long a request may be under way before the watchdog calls the run stalled, in seconds.
    static let requestPatienceSeconds: Int64 = 120
    /// How far the wall clock may fall behind before it counts as set back, in seconds.
    static let clockSlackSeconds: Int64 = 5
    /// The most rows that one purge with a filter forgets.
    static let purgeRows = 1_000_000_000
    /// The bytes of a response that an attempt keeps.
    static let excerptBytes = 4096
    /// Header fields kept of one request or answer.
    static let recordedFields = 40
    /// The kept beginning of a header field's value, in characters.
    static let recordedFieldCharacters = 300
    /// Runs that are remembered in memory for callers that wait for them.
    static let rememberedRuns = 50
    /// Pages of one pull before it stops with an error, against a backend that pages in circles.
    static let pullPages = 100_000
    /// How often a pull by `$skip` goes back without meeting a new row, before it goes on as it can.
    static let pullStepsBack = 100
    /// Operations that are looked at to find out whether two wait for each other.
    static let dependencySteps = 1_000
    /// The bytes that are kept of a row which cannot be taken.
    public static let setAsideBytes = 65_536
    /// Rows of a table that are kept with their texts although they cannot be taken; of more only the id
    /// and the reason.
    static let setAsideTexts = 1_000
    /// Rows that could not be taken which a pull asks for again.
    static let setAsideAsked = 20
    /// Items that an unpaged list did not show which a pull asks for one by one.
    static let unseenAsked = 100
    /// How far in the future a row's time may lie to move a pull's token, in seconds.
    static let futureSeconds: Int64 = 86_400
    /// Tables that are asked for a list before the backend counts as not speaking /tables.
    static let proofTables = 8
    /// Tables that one look at a backend asks for a list.
    static let examinedTables = 20
}
