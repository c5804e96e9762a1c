/// Why PostgreSQL did not do what it was asked.
public enum PostgreSQLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The URL cannot be read.
    case badURL(String)
    /// No connection came about, or it was lost.
    case unreachable(String)
    /// No connection became free in time.
    case busy
    /// The server refused a statement; the state is SQL's code of five characters.
    case refused(state: String, message: String)
    /// A value holds U+0000, which PostgreSQL's texts cannot.
    case zeroInText
    /// A statement has more values than the protocol can carry.
    case tooManyValues
    /// The answer is not as the statement asks for.
    case unexpectedAnswer

    /// One sentence.
    public var description: String {
        switch self {
        case .badURL(let reason): "PostgreSQL's URL cannot be read: \(reason)."
        case .unreachable(let reason): "PostgreSQL cannot be reached: \(reason)."
        case .busy: "All connections to PostgreSQL are in use."
        case .refused(let state, let message):
            "PostgreSQL refused a statement (\(state)): \(message)."
        case .zeroInText: "PostgreSQL cannot keep a text with the character U+0000."
        case .tooManyValues:
            "A statement has more than \(Limits.statementValues) values, PostgreSQL's limit."
        case .unexpectedAnswer: "PostgreSQL's answer is not of the form that was asked for."
        }
    }

    /// Whether the connection is gone, and with it a transaction that was open.
    public var isLostConnection: Bool {
        switch self {
        case .unreachable: true
        // The server shuts down, starts up or became a standby; a transaction that cannot write.
        case .refused(let state, _):
            state.hasPrefix(SQLState.shutdownClass) || state.hasPrefix(SQLState.connectionClass)
                || state == SQLState.readOnlyTransaction
        case .badURL, .busy, .zeroInText, .tooManyValues, .unexpectedAnswer: false
        }
    }

    /// Whether the server gave the transaction up in favour of another one.
    public var isSerializationFailure: Bool {
        switch self {
        case .refused(let state, _):
            state == SQLState.serializationFailure || state == SQLState.deadlock
        case .badURL, .unreachable, .busy, .zeroInText, .tooManyValues, .unexpectedAnswer: false
        }
    }

    /// Whether the server ended a statement that took too long.
    public var isCancelledStatement: Bool {
        switch self {
        case .refused(let state, _): state == SQLState.cancelledStatement
        case .badURL, .unreachable, .busy, .zeroInText, .tooManyValues, .unexpectedAnswer: false
        }
    }

    /// Whether the same call may succeed later.
    public var isTransient: Bool {
        switch self {
        case .busy: true
        // A lock or an answer was waited for too long; the server has too many connections.
        case .refused(SQLState.lockNotAvailable, _), .refused(SQLState.cancelledStatement, _),
            .refused(SQLState.tooManyConnections, _):
            true
        case .badURL, .unreachable, .refused, .zeroInText, .tooManyValues, .unexpectedAnswer:
            isLostConnection || isSerializationFailure
        }
    }
}

/// Codes of PostgreSQL's errors, from its manual, appendix A. A class is the beginning of its codes.
private enum SQLState {
    static let connectionClass = "08"
    static let readOnlyTransaction = "25006"
    static let serializationFailure = "40001"
    static let deadlock = "40P01"
    static let tooManyConnections = "53300"
    static let lockNotAvailable = "55P03"
    static let cancelledStatement = "57014"
    /// The server shuts down, starts up or has ended the session.
    static let shutdownClass = "57P"
}
