import Dispatch
import Synchronization

/// The one connection of a file that writes, and the only way to commit.
///
/// Entries share commits (``submit(_:)``); what is longer has a transaction of its own
/// (``write(inBudget:_:)``). What a transaction is to the tables, its ``WriterOwner`` says.
package final class Writer<Owner: WriterOwner>: Sendable {
    package typealias Unit = Owner.Unit
    package typealias Entry = WriterEntry<Unit>
    typealias Answer = @Sendable () -> Void

    let connection: ConnectionQueue
    let owner: Owner
    let waiting = Mutex(WaitingEntries<Unit>())
    /// The most that the file may grow; nil for no limit but the disk's.
    package let budget: DiskBudget?
    private let checkpointer: Checkpointer
    /// Used pages of the file when the budget last refused a group; 0 after a group was committed or pages
    /// became free.
    private let refusedAtPages = Atomic(0)
    /// Whether the log was too long for the budget when that was last asked.
    private let isLogTooLong = Atomic(false)
    private let accesses: AccessCount
    /// Gives answers that take time while the next group is committed.
    private let answering = DispatchQueue(label: "understudy.answering")

    /// Opens or makes a file.
    /// - Parameters:
    ///   - budgetBytes: how large it may grow; nil for as large as the disk.
    ///   - accesses: counts what is under way.
    package init(
        _ path: String, functions: [ScalarFunction], migrations: Migrations, budgetBytes: Int?,
        accesses: AccessCount, owner: Owner
    ) throws {
        let log = LogLength()
        let connection = try ConnectionQueue.writer(path, functions, log: log, accesses)
        try migrations.run(on: connection)
        budget = try budgetBytes.map { bytes in
            try connection.access { try DiskBudget(bytes: bytes, $0) }
        }
        self.connection = connection
        self.owner = owner
        self.accesses = accesses
        checkpointer = Checkpointer(log, path: path, share: budget?.logBytes)
    }

    /// Runs a transaction of its own, in turn with the groups, and returns when it is on disk. A cancelled
    /// task does not stop it.
    /// - Parameters:
    ///   - inBudget: true for what only brings more, which ends where the budget ends.
    ///   - removesRows: false for what leaves nothing behind: the budget's reserve has to be enough for it.
    ///   - body: runs a second time where the budget refused the first.
    package func write<T: Sendable>(
        inBudget: Bool = false, removesRows: Bool = true,
        _ body: @escaping @Sendable (Unit) throws -> T
    ) async -> Result<T, StorageError> {
        await withCheckedContinuation { continuation in
            write(inBudget: inBudget, removesRows: removesRows, body) {
                continuation.resume(returning: $0)
            }
        }
    }

    /// The same for a caller that does not wait.
    /// - Parameter completion: is called on the connection's thread.
    package func write<T>(
        inBudget: Bool, removesRows: Bool = true,
        _ body: @escaping @Sendable (Unit) throws -> T,
        completion: @escaping @Sendable (Result<T, StorageError>) -> Void
    ) {
        schedule {
            completion(self.commit($0, inBudget: inBudget, removesRows: removesRows, body))
        }
    }

    /// The same on the calling thread, while nothing else is under way.
    @available(*, noasync)
    package func writeNow<T>(_ body: (Unit) throws -> T) throws(StorageError) -> T {
        try connection.access { self.commit($0, inBudget: false, body) }.get()
    }

    /// Reads what is committed, in turn, on the calling thread.
    @available(*, noasync)
    package func read<T>(_ body: (Connection) throws -> T) rethrows -> T {
        try connection.access(body)
    }

    /// Whether entries are refused because the budget is used up.
    package var refusesEntries: Bool {
        refusedAtPages.load(ordering: .relaxed) > 0 || isLogTooLong.load(ordering: .relaxed)
    }

    /// Empties the file of a long log, where no connection reads in it.
    package func shrinkLog() async {
        await withCheckedContinuation { done in
            connection.schedule { connection in
                self.checkpointer.shrink(connection)
                done.resume()
            }
        }
    }

    /// Closes the file after what is under way. Later calls fail.
    package func close() throws { try connection.close() }

    /// Runs something on the connection, in turn, and keeps the log short.
    func schedule(_ body: @escaping @Sendable (Connection) -> Void) {
        connection.schedule { connection in
            body(connection)
            self.checkpointer.keepLogShort(connection)
            if self.isLogTooLong.load(ordering: .relaxed) { self.noteLogLength(connection) }
        }
    }

    /// Gives the answers of a group: what is short here, what takes time on a thread of its own, unless it
    /// is so little that to wake one would take longer.
    func give(_ answers: [Answer], to group: [Entry]) {
        var long: [Answer] = []
        for (entry, answer) in zip(group, answers) {
            if entry.takesTime { long.append(answer) } else { answer() }
        }
        guard long.count >= StorageLimits.answersApart else { return long.forEach { $0() } }
        accesses.begin()
        answering.async { [long, accesses] in
            for answer in long { answer() }
            accesses.end()
        }
    }
}

// One transaction.
extension Writer {
    /// Commits what the body writes. What is over the budget is tried once more after rows were removed, then
    /// with the reserve.
    func commit<T>(
        _ connection: Connection, inBudget: Bool, removesRows: Bool = true,
        _ body: (Unit) throws -> T
    ) -> Result<T, StorageError> {
        if inBudget {
            do throws(StorageError) { try refuseLongLog(connection) } catch {
                return .failure(error)
            }
        }
        let result = attempt(connection, body)
        guard case .failure(.overBudget) = result, !inBudget, let budget else { return result }
        if removesRows { _ = makeRoom(connection) }
        guard (try? budget.lend(connection)) != nil else { return result }
        // Where it cannot be taken back, the reserve is open until the next start.
        defer { try? budget.hold(connection) }
        return attempt(connection, body)
    }

    /// Throws when the log has become so long that the budget is used up. It cannot be emptied while a
    /// long read goes on.
    func refuseLongLog(_ connection: Connection) throws(StorageError) {
        guard noteLogLength(connection) else { return }
        checkpointer.empty(connection, waiting: StorageLimits.longLogMilliseconds)
        if noteLogLength(connection) { throw .overBudget }
    }

    /// Notes and returns whether the log is too long for the budget.
    @discardableResult
    private func noteLogLength(_ connection: Connection) -> Bool {
        let isTooLong =
            (try? budget?.isExceeded(byLogOf: checkpointer.fileBytes, connection)) ?? false
        isLogTooLong.store(isTooLong, ordering: .relaxed)
        return isTooLong
    }

    /// Stores whether the budget refused a group or it was committed.
    func noteGroup(isRefused: Bool, _ connection: Connection) {
        guard let budget else { return }
        var used = 0
        if isRefused { used = max((try? budget.usedPages(connection)) ?? 1, 1) }
        refusedAtPages.store(used, ordering: .relaxed)
    }

    /// Forgets that the budget refused a group, if fewer pages are in use than then.
    private func noteFreedPages(_ connection: Connection) {
        let refusedAt = refusedAtPages.load(ordering: .relaxed)
        guard refusedAt > 0, let used = try? budget?.usedPages(connection), used < refusedAt else {
            return
        }
        refusedAtPages.store(0, ordering: .relaxed)
    }

    /// Has the owner remove rows; false if there are none, or if the budget refuses even that.
    func makeRoom(_ connection: Connection) -> Bool {
        (try? attempt(connection) { try owner.makeRoom($0) }.get()) ?? false
    }

    private func attempt<T>(
        _ connection: Connection, _ body: (Unit) throws -> T
    ) -> Result<T, StorageError> {
        Result { () throws(StorageError) -> T in
            try transaction(connection) { unit in try body(unit) }
        }
    }

    /// The one transaction runner of the writer.
    func transaction<T>(
        _ connection: Connection, _ body: (inout Unit) throws -> T
    ) throws(StorageError) -> T {
        var unit = owner.begin(on: connection)
        var isMade = false
        do {
            let value = try connection.transaction(.immediate) {
                let value = try body(&unit)
                try owner.finish(unit)
                isMade = true
                return value
            }
            owner.didCommit(unit)
            noteFreedPages(connection)
            return value
        } catch {
            throw failure(error, isMade: isMade)
        }
    }

    /// Why a transaction was not committed. A budget's end shows while the transaction is made, when it
    /// asks for another page; that the disk is full shows when it is written.
    /// - Parameter isMade: everything was done but the commit.
    private func failure(_ error: any Error, isMade: Bool) -> StorageError {
        let failure = StorageError(error)
        guard case .full = failure, budget != nil, !isMade else { return failure }
        return .overBudget
    }
}

/// The work of the module that owns the tables in each transaction of a ``Writer``.
package protocol WriterOwner<Unit>: Sendable {
    /// The value that the bodies of a transaction work with.
    associatedtype Unit
    /// A state of a unit's memory, to which it can return.
    associatedtype Mark

    func begin(on connection: Connection) -> Unit
    /// More entries join the transaction: nothing of them may look older than its request.
    func refresh(_ unit: inout Unit)
    /// Whether a transaction has taken ``StorageLimits/groupMilliseconds``.
    func isLong(_ unit: Unit) -> Bool
    /// This moment, to go back to it.
    func mark(_ unit: Unit) -> Mark
    /// Takes what a unit has kept in memory since a moment out again: its writes were rolled back.
    func rollBack(_ unit: Unit, to mark: Mark)
    /// Writes what was kept in memory: the last that is done before the commit.
    func finish(_ unit: Unit) throws
    func didCommit(_ unit: Unit)
    /// Removes rows that can be copied again, then old history, from a file that has used up its budget;
    /// false if there are none.
    func makeRoom(_ unit: Unit) throws -> Bool
}
