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
    /// How large the file may grow; nil for as large as the disk.
    package let budget: DiskBudget?
    private let checkpointer: Checkpointer
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
        checkpointer = Checkpointer(log)
    }

    /// Runs a transaction of its own, in turn with the groups, and returns when it is on disk. A cancelled
    /// task does not stop it.
    /// - Parameters:
    ///   - inBudget: true for what only brings more, which ends where the budget ends.
    ///   - body: runs a second time where there was no room for the first.
    package func write<T: Sendable>(
        inBudget: Bool = false, _ body: @escaping @Sendable (Unit) throws -> T
    ) async -> Result<T, StorageError> {
        await withCheckedContinuation { continuation in
            write(inBudget: inBudget, body) { continuation.resume(returning: $0) }
        }
    }

    /// The same for a caller that does not wait.
    /// - Parameter completion: is called on the connection's thread.
    package func write<T>(
        inBudget: Bool, _ body: @escaping @Sendable (Unit) throws -> T,
        completion: @escaping @Sendable (Result<T, StorageError>) -> Void
    ) {
        schedule { completion(self.commit($0, inBudget: inBudget, body)) }
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

    /// Closes the file after what is under way. Later calls fail.
    package func close() throws { try connection.close() }

    /// Runs something on the connection, in turn, and keeps the log short.
    func schedule(_ body: @escaping @Sendable (Connection) -> Void) {
        connection.schedule { connection in
            body(connection)
            self.checkpointer.keepLogShort(connection)
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
    /// Commits what the body writes. What is over the budget is tried once more after room was made, then
    /// with the reserve.
    func commit<T>(
        _ connection: Connection, inBudget: Bool, _ body: (Unit) throws -> T
    ) -> Result<T, StorageError> {
        let result = attempt(connection, body)
        guard case .failure(.overBudget) = result, !inBudget, let budget else { return result }
        _ = makeRoom(connection)
        guard (try? budget.lend(connection)) != nil else { return result }
        // Where it cannot be taken back, the reserve is open until the next start.
        defer { try? budget.hold(connection) }
        return attempt(connection, body)
    }

    /// Removes what can be had again; false when there is nothing, or no room even for that.
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

/// What the module that owns the tables does for each transaction of a ``Writer``.
package protocol WriterOwner<Unit>: Sendable {
    /// What the bodies of a transaction work with.
    associatedtype Unit
    /// A moment in what a unit keeps in memory.
    associatedtype Mark

    /// The unit of a transaction that begins.
    func begin(on connection: Connection) -> Unit
    /// More entries join the transaction: nothing of them may look older than its request.
    func refresh(_ unit: inout Unit)
    /// This moment, to go back to it.
    func mark(_ unit: Unit) -> Mark
    /// Takes what a unit has kept in memory since a moment out again: its writes were rolled back.
    func rollBack(_ unit: Unit, to mark: Mark)
    /// Writes what was kept in memory: the last that is done before the commit.
    func finish(_ unit: Unit) throws
    /// Tells what was committed.
    func didCommit(_ unit: Unit)
    /// Removes what can be had again, for a file that has used up its budget; false where there is nothing.
    func makeRoom(_ unit: Unit) throws -> Bool
}

/// How large a file may grow.
///
/// What brings more ends at the budget. What has to be written in any case may go beyond it by a reserve,
/// or a full file could never become emptier.
package struct DiskBudget: Sendable {
    /// Pages for everything.
    private let pages: Int
    /// Pages with the reserve.
    private let pagesWithReserve: Int

    /// Holds the connection to the budget from now on. A file that is larger already does not grow.
    package init(bytes: Int, _ connection: Connection) throws {
        let page = Int(try connection.integer("PRAGMA page_size") ?? 4096)
        pages = max(1, bytes / page)
        pagesWithReserve = pages + pages / StorageLimits.budgetsInReserve
        try hold(connection)
    }

    /// Holds the connection to the budget.
    func hold(_ connection: Connection) throws {
        try connection.run("PRAGMA max_page_count = \(pages)", keep: false)
    }

    /// Whether one of so many equal parts of the budget is free. Free pages inside of the file count.
    package func hasFreePart(of parts: Int, _ connection: Connection) throws -> Bool {
        let free = Int(try connection.integer("PRAGMA freelist_count") ?? 0)
        let used = Int(try connection.integer("PRAGMA page_count") ?? 0) - free
        return pages - used >= pages / parts
    }

    /// Lets the connection use the reserve, until ``hold(_:)``.
    func lend(_ connection: Connection) throws {
        try connection.run("PRAGMA max_page_count = \(pagesWithReserve)", keep: false)
    }
}
