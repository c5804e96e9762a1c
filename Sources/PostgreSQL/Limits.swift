/// Every limit of this module, with its unit.
public enum Limits {
    /// How long connecting to one host may take, in seconds, unless the URL says otherwise.
    static let connectSeconds = 5
    /// How long one statement may take until the server ends it, in milliseconds.
    static let statementMilliseconds = 30_000
    /// How long one statement may wait for a lock until the server ends it, in milliseconds.
    public static let lockMilliseconds = 10_000
    /// How long an answer is waited for in a transaction without the two limits above, in milliseconds: an
    /// hour.
    static let longAnswerMilliseconds = 3_600_000
    /// How long the server lets a transaction idle, in milliseconds: a node that died keeps no lock.
    static let idleTransactionMilliseconds = 15_000
    /// How much longer than the server's own time-out an answer is waited for, in milliseconds.
    static let answerGraceMilliseconds = 5000
    /// How long a new connection waits for the server's synchronous standby, in milliseconds.
    static let standbyMilliseconds = 10_000
    /// How long sent bytes may go without acknowledgement, in milliseconds.
    static let unacknowledgedMilliseconds = 10_000
    /// Seconds without traffic after which the system asks whether the server is still there.
    static let keepaliveIdleSeconds = 10
    /// The time between two such questions, in seconds.
    static let keepaliveIntervalSeconds = 5
    /// The questions without an answer after which the connection is lost.
    static let keepaliveProbes = 3
    /// Connections of one pool, and threads that use them.
    public static let connections = 8
    /// How many of a pool's threads a lane, and those behind it, may have at once.
    static func threads(of lane: PostgreSQLPool.Lane, connections: Int) -> Int {
        switch lane {
        case .brief: connections
        case .list: max(connections * 3 / 4, 1)
        case .longList: max(connections / 2, 1)
        }
    }
    /// Calls that wait in each lane for a thread of a pool; another one is turned away.
    public static let waitingCalls = 256
    /// How long a call waits for a free connection, in milliseconds.
    static let poolMilliseconds = 10_000
    /// How long a call begins anew after lost connections, in milliseconds: a standby becomes the primary
    /// in that time.
    static let reconnectMilliseconds = 15_000
    /// The pause before a connection is tried anew, in milliseconds.
    static let reconnectPauseMilliseconds = 100
    /// The longest pause before the listening connection is tried anew, and the longest time until it sees that
    /// the listener is not wanted any more, in milliseconds.
    static let listenPauseMilliseconds = 2000
    /// How often a listening connection asks whether the server is there, and how long it waits for the answer,
    /// in milliseconds.
    static let listenCheckMilliseconds = 5000
    /// How often a transaction is tried that the server ends in favour of another one.
    static let serializationAttempts = 20
    /// Values of one statement: the protocol counts them with 16 bits.
    static let statementValues = 65_535
    /// Prepared statements of one connection: about five for each table, and thirty others.
    static let preparedStatements = 256
}
