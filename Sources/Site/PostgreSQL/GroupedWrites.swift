import Backend
import PostgreSQL
import TablesProtocol

/// One write that may share its transaction with others of its table.
///
/// `@unchecked Sendable`: its own thread uses it before ``WaitingGroups`` takes it and after that
/// returns. In between the leading thread of its group does.
final class GroupedWrite: @unchecked Sendable {
    /// What the write did in its transaction.
    enum Effect {
        case none
        /// It is kept, and this is its first line in the log of effects.
        case line(PostgreSQLEffects.Line)
    }

    /// What the table is like, when it comes into being with this write; nil where it does not.
    let options: TableOptions?
    let write: Write
    /// Does the write. It takes the table as the lock gave it, and changes it. Nil once the write has ended: its
    /// own thread may go on then, and with it goes what the closure refers to.
    fileprivate var body: ((PostgreSQLConnection, inout TableRecord) throws -> Effect)?
    /// Its line whose commit was not answered: it may have taken effect.
    fileprivate(set) var lineInDoubt: PostgreSQLEffects.Line?
    /// The line of the present attempt.
    fileprivate var line: PostgreSQLEffects.Line?
    /// Why it failed; nil where it did not.
    fileprivate(set) var failure: (any Error)?

    init(
        _ options: TableOptions?, _ write: Write,
        _ body: @escaping (PostgreSQLConnection, inout TableRecord) throws -> Effect
    ) {
        (self.options, self.write, self.body) = (options, write, body)
    }
}

// The transaction of a group.
extension PostgreSQLRowStorage {
    /// Runs a write under the lock of its table, in one transaction with the writes that wait for the lock.
    /// - Parameter body: what gives nil is rolled back.
    @available(*, noasync)
    func write<Value>(
        to table: TableName, creating options: TableOptions?, _ write: Write,
        _ body: (inout Writing) throws -> Value?
    ) throws -> Value? {
        var value: Value?
        // It is called on another thread, while this one waits for its end.
        try withoutActuallyEscaping(body) { body in
            let grouped = GroupedWrite(options, write) { connection, record in
                var writing = Writing(connection: connection, write: write, record: record)
                value = try body(&writing)
                guard value != nil, write.isKept, let line = writing.line else { return .none }
                record = writing.record
                return .line(line)
            }
            if hooks.ordersWriters {
                groups.perform(grouped, of: table) { commit($0, to: table) }
            } else {
                commit([grouped], to: table)
            }
            if let failure = grouped.failure { throw failure }
        }
        return value
    }

    /// Does writes of one table in one transaction. Each fails or succeeds for itself, unless the transaction
    /// fails.
    ///
    /// Where the connection is lost at the commit, the next attempt takes the lock, so that the earlier
    /// one is over, and looks which lines are in the log. So nothing takes effect twice.
    @available(*, noasync)
    private func commit(_ writes: [GroupedWrite], to table: TableName) {
        do {
            try mappingTransientErrors {
                try pool.retrying { connection in
                    for write in writes { (write.line, write.failure) = (nil, nil) }
                    var isCommitting = false
                    var news: News?
                    do {
                        try connection.transaction(
                            .readCommitted, beforeCommit: hooks.beforeCommit
                        ) { () throws -> PostgreSQLPool.End<Void> in
                            news = try attempt(writes, to: table, connection)
                            isCommitting = true
                            return news == nil ? .rollBack(()) : .commit(())
                        }
                        try hooks.afterCommit()
                    } catch let error as PostgreSQLError where error.isLostConnection {
                        if isCommitting {
                            for write in writes {
                                write.lineInDoubt = write.line ?? write.lineInDoubt
                            }
                        }
                        throw error
                    }
                    // If it fails, the writes are done all the same.
                    if let news {
                        try? PostgreSQLChanges.announce(
                            connection, news.record, owners: news.owners)
                    }
                }
            }
        } catch {
            for write in writes where write.failure == nil { write.failure = error }
        }
        for write in writes { write.body = nil }
    }

    /// What a transaction changed: the table as it is after it, and for each write whose rows alone it changed.
    private struct News {
        let record: TableRecord
        let owners: [String?]
    }

    /// Tries writes one after another, each from a savepoint of its own. One that is rolled back leaves its
    /// savepoint to the next one.
    /// - Returns: what is there to commit, or was committed by an earlier attempt; nil for nothing.
    private func attempt(
        _ writes: [GroupedWrite], to table: TableName, _ connection: PostgreSQLConnection
    ) throws -> News? {
        // A lock that is taken after a savepoint would go with it.
        var record = try locked(table, nil, connection)
        var isChanged = false
        var isMarked = false
        var savepoint = "SAVEPOINT write"
        var owners: [String?] = []
        for write in writes {
            if let line = write.lineInDoubt {
                if try PostgreSQLEffects.has(connection, line) {
                    // The standby may not have it yet.
                    if !isMarked { try connection.writeMark() }
                    isMarked = true
                    owners.append(write.write.owner)
                    continue
                }
                write.lineInDoubt = nil
            }
            // A write that is alone is rolled back with its transaction.
            let isAlone = writes.count == 1
            if !isAlone, !savepoint.isEmpty { try connection.run(script: savepoint) }
            var isKept = false
            var changed = record
            do {
                if changed == nil { changed = try locked(table, write.options, connection) }
                if var found = changed, case .line(let line)? = try write.body?(connection, &found)
                {
                    (write.line, changed, isKept) = (line, found, true)
                }
            } catch let error as PostgreSQLError
                where error.isLostConnection || error.isSerializationFailure
            {
                throw error
            } catch {
                if isAlone { throw error }
                write.failure = Self.mapped(error)
            }
            if isKept {
                (record, isChanged) = (changed, true)
                owners.append(write.write.owner)
                savepoint = "RELEASE write; SAVEPOINT write"
            } else if !isAlone {
                try connection.run(script: "ROLLBACK TO write")
                savepoint = ""
            }
        }
        if isChanged, hooks.ordersWriters, let record {
            try PostgreSQLTables.save(connection, record)
        }
        return isChanged || isMarked ? record.map { News(record: $0, owners: owners) } : nil
    }
}
