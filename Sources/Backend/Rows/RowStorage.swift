package import TablesProtocol

/// Keeps the rows of a backend. It is the seam between the serving part and a database.
///
/// Values go in and come out, never a connection or SQL. Each call is one transaction.
///
/// 1. The serving part reads a table and a row, and decides what becomes of the row.
/// 2. It hands the row as it read it to the call that writes. That call looks whether the row still is so,
///    and writes, in one.
/// 3. Where another writer was faster, nothing is written, and the serving part begins anew.
///
/// A call holds its thread until the database has answered, so it never runs on Swift's cooperative pool.
package protocol RowStorage: Sendable {
    /// The threads on which the calls run.
    var callThreads: CallThreads { get }

    /// The use of the connections.
    var load: StorageLoad { get }

    /// Throws where the database does not answer now.
    @available(*, noasync)
    func check() throws

    // MARK: Tables

    /// The table with this name in any case; nil when there is none.
    @available(*, noasync)
    func table(_ name: TableName) throws -> StoredTable?

    /// Makes a table; one that exists takes the options.
    @available(*, noasync)
    func declare(_ name: TableName, _ options: TableOptions) throws

    // MARK: Rows

    /// The rows of a query and, where asked for, their number, as of one moment. A filter's condition is
    /// evaluated for the rows of its scope alone.
    /// - Throws: ``TooMuchWork`` where the database ended it.
    @available(*, noasync)
    func list(_ query: RowQuery) throws -> RowList

    /// Every row of a table, tombstones too, in the order of the ids' bytes.
    @available(*, noasync)
    func rows(in table: TableName) throws -> [Row]

    /// The row with this id, deleted or not; nil when there is none.
    @available(*, noasync)
    func get(_ id: String, in table: TableName) throws -> Row?

    /// Adds a row with its stamp and version.
    /// - Parameter options: what the table is like, when it comes into being with its first row.
    @available(*, noasync)
    func insert(
        _ row: NewRow, into table: TableName, creating options: TableOptions, _ write: Write
    ) throws -> Insertion

    /// Gives rows new content, stamps and versions: updates, replaces, undeletes and deletes softly. Each
    /// row is one effect of this kind.
    /// - Returns: the rows afterwards, in their order. Nil when one of them was not as it was read, or a new
    ///   column is there by now with another type or in another spelling; then nothing was written.
    @available(*, noasync)
    func change(
        _ changes: [RowChange], in table: TableName, as kind: EffectKind, _ write: Write
    ) throws -> [Row]?

    /// Deletes rows without a trace. Each is one effect.
    /// - Returns: false when one of them was not as it was read; then nothing was deleted.
    @available(*, noasync)
    func remove(_ rows: [Row], from table: TableName, _ write: Write) throws -> Bool

    // MARK: Changes

    /// Tells its changes from now on: first the tables as they are, then each change when it is committed, on
    /// any thread. Called once. It does not wait for the database.
    func tellChanges(to receive: @escaping @Sendable (ChangeNews) -> Void)

    // MARK: Moving in

    /// The row, arrival and deletion known for each id; ids that were never stored are left out.
    @available(*, noasync)
    func knownRows(of ids: [ItemID], in table: TableName) throws -> [ItemID: KnownRow]

    /// Takes rows of another backend, each as it was there, where ``MoveOutcome`` decides so. They are no
    /// effects. The same call again changes nothing.
    /// - Parameter options: what the table is like, when it comes into being with its first row.
    /// - Returns: what came of each row.
    @available(*, noasync)
    func move(
        _ rows: [MovedRow], into table: TableName, creating options: TableOptions, _ move: Move
    ) throws -> [MoveOutcome]

    /// The rows after an id, tombstones too, in the order of the ids' bytes.
    @available(*, noasync)
    func rows(in table: TableName, after id: String, limit: Int) throws -> [Row]

    // MARK: Effects

    /// The writes that took effect after a number, by number. On PostgreSQL that is the order of commits
    /// within one table only.
    @available(*, noasync)
    func effects(after number: Int64, limit: Int) throws -> [Effect]

    /// The number of writes that took effect on an item, of those that are kept.
    @available(*, noasync)
    func effectCount(of id: String, in table: TableName) throws -> Int

    // MARK: Expiry

    /// Removes effects and tombstones that are no longer kept, of one table that has any, and keeps what must be
    /// known of them (``ForgottenPast``). The next version of a row with the same id is a new one all the same.
    /// - Parameter limit: the most effects, and the most tombstones, that one call removes.
    /// - Returns: what was removed, nothing where there is nothing more; nil while another node is at it.
    @available(*, noasync)
    func removeExpired(_ expiry: Expiry, limit: Int) throws -> Expired?

    /// The times of the oldest effect and tombstone.
    @available(*, noasync)
    func oldestKept() throws -> OldestKept

    // MARK: Logins

    /// Keeps a token that was handed out to a user.
    @available(*, noasync)
    func keepLogin(token: String, user: String) throws

    /// The user of a token; nil for one that was never handed out, or was taken back.
    @available(*, noasync)
    func user(ofToken token: String) throws -> String?

    /// Takes a token back.
    @available(*, noasync)
    func endLogin(token: String) throws
}

/// The threads on which the calls of a storage run.
package enum CallThreads: Sendable {
    /// On the caller's: a call waits for the disk, and a read also for a free reader. A list takes at most
    /// ``Limits/listMilliseconds`` then.
    case callersThread
    /// On threads of the storage's own, since a call may wait for another machine. The closure puts one
    /// request in a lane.
    case ownThreads(@Sendable (CallLane, @escaping @Sendable () -> Void) -> Submission)
}

/// A queue for the threads of a storage. The later a lane is, the fewer threads it and those behind it may
/// have, so that nothing waits for what takes longer.
package enum CallLane: Sendable {
    /// What takes a moment: a row by its id, a write, health.
    case brief
    /// A list that is tried for the time of ``RowQuery/Time/brief``.
    case list
    /// A list that takes longer.
    case longList
}

/// What became of a call that was put in a lane.
package enum Submission: Sendable {
    /// A thread takes it now.
    case begins
    /// It waits for a thread.
    case waits
    /// The lane is full, and the call will not run.
    case refused
}

/// A storage that cannot answer for now: the same request may succeed later.
package struct StorageUnavailable: Error, CustomStringConvertible {
    /// Why, in a sentence.
    package let reason: String

    package var description: String { reason }

    package init(reason: String) { self.reason = reason }
}

/// A list takes more than ``Limits/listSteps`` or ``Limits/listMilliseconds`` in SQLite, or more than
/// another database gives it.
package struct TooMuchWork: Error, CustomStringConvertible {
    /// The sentence for the client, with what it can do.
    package let description: String
    /// After how many seconds the same list may fit into its time; nil where it would be too much again.
    package let retryAfterSeconds: Int?

    package init(
        _ description: String = """
        This list needs more work than one may take. Ask for less at a time: fewer functions in the filter, \
        or a range of updatedAt.
        """, retryAfterSeconds: Int? = nil
    ) { (self.description, self.retryAfterSeconds) = (description, retryAfterSeconds) }

    /// The answer: 503 where the client may send it again, otherwise 400.
    var refusal: Refusal {
        var refusal = Refusal(retryAfterSeconds == nil ? 400 : 503, description)
        refusal.retryAfterSeconds = retryAfterSeconds
        return refusal
    }
}

/// The database was made ready by a newer program.
package struct NewerSchema: Error, CustomStringConvertible {
    package let found: Int
    package let known: Int

    package var description: String {
        """
        The database has version \(found) of the schema, and this program knows \(known). \
        Install the version that made it so, or a newer one.
        """
    }

    package init(found: Int, known: Int) { (self.found, self.known) = (found, known) }
}
