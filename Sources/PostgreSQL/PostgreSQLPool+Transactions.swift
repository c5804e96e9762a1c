import Glibc

extension PostgreSQLPool {
    /// How the statements of a transaction see others.
    public enum Isolation: Sendable {
        /// Each statement sees what was committed before it.
        case readCommitted
        /// All statements see one moment, and none writes.
        case oneMoment

        fileprivate var begin: String {
            switch self {
            case .readCommitted: "BEGIN"
            case .oneMoment: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            }
        }
    }

    /// What a transaction leaves.
    public enum End<Value> {
        case commit(Value)
        case rollBack(Value)
    }

    /// Runs something that may be repeated: statements that read, or one transaction.
    ///
    /// It begins anew where the server gave it up in favour of another transaction, and where the
    /// connection was lost, until a server answers again or ``Limits/reconnectMilliseconds`` are over.
    @available(*, noasync)
    public func retrying<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        let deadline = PostgreSQLConnection.milliseconds + Int64(Limits.reconnectMilliseconds)
        var attempts = 0
        while true {
            do {
                return try withConnection(body)
            } catch let error as PostgreSQLError {
                if error.isSerializationFailure {
                    attempts += 1
                    guard attempts < Limits.serializationAttempts else { throw error }
                } else {
                    guard error.isLostConnection, PostgreSQLConnection.milliseconds < deadline
                    else { throw error }
                    // The other connections lead to the same server.
                    dropIdle()
                    usleep(UInt32(Limits.reconnectPauseMilliseconds * 1000))
                }
            }
        }
    }

    /// Runs a transaction that reads only.
    @available(*, noasync)
    public func inReadTransaction<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws
        -> Value
    {
        try retrying { connection in
            try connection.transaction(.oneMoment) { .commit(try body(connection)) }
        }
    }
}

extension PostgreSQLConnection {
    /// Runs one transaction. What throws is rolled back. Where that is refused, the pool does not keep the
    /// connection.
    /// - Parameters:
    ///   - isLong: whether its statements may take, and wait for locks, as long as they need.
    ///   - beforeCommit: called when nothing is left but to commit.
    @available(*, noasync)
    public func transaction<Value>(
        _ isolation: PostgreSQLPool.Isolation, isLong: Bool = false,
        beforeCommit: () -> Void = {}, _ body: () throws -> PostgreSQLPool.End<Value>
    ) throws -> Value {
        try run(script: isolation.begin)
        defer { restoreTimeouts() }
        let end: PostgreSQLPool.End<Value>
        do {
            if isLong { try liftTimeouts() }
            end = try body()
        } catch {
            if !isBroken { try? run(script: "ROLLBACK") }
            throw error
        }
        switch end {
        case .commit(let value):
            beforeCommit()
            try run(script: "COMMIT")
            return value
        case .rollBack(let value):
            try run(script: "ROLLBACK")
            return value
        }
    }
}
