/// Every limit of this module, with its unit.
public enum Limits {
    /// How long a connection may take to come about, in seconds, where the URL says nothing.
    static let connectSeconds = 5
    /// How long one statement may take until the server ends it, in milliseconds.
    static let statementMilliseconds = 30_000
    /// How long one statement may wait for a lock until the server ends it, in milliseconds.
    static let lockMilliseconds = 10_000
    /// How long the server lets a transaction idle, in milliseconds: a node that died keeps no lock.
    static let idleTransactionMilliseconds = 15_000
    /// How much longer than the server's own time-out an answer is waited for, in milliseconds.
    static let answerGraceMilliseconds = 5000
    /// How long sent bytes may go without acknowledgement, in milliseconds.
    static let unacknowledgedMilliseconds = 10_000
    /// Connections of one pool, and threads that use them.
    public static let connections = 8
    /// How long a call waits for a free connection, in milliseconds.
    static let poolMilliseconds = 10_000
    /// How long a transaction begins anew because of lost connections, in milliseconds: as long as a
    /// standby takes to become the primary.
    static let reconnectMilliseconds = 15_000
    /// The pause before a connection is tried anew, in milliseconds.
    static let reconnectPauseMilliseconds = 100
    /// How often a transaction begins anew that the server gave up in favour of another.
    static let serializationAttempts = 20
    /// Prepared statements of one connection.
    static let preparedStatements = 64
}
