import Synchronization

// How entries share commits:
//
// 1. An entry waits; the first one to wait puts the committer into the connection's queue.
// 2. The committer takes all that wait as one group: one transaction, a savepoint each, one fsync.
// 3. What arrives while it works on them joins them, up to a bound of entries and of time. An entry that
//    takes long leaves those behind it to the next group.
// 4. It answers the group, then queues up again behind the other transactions. Where many answers take
//    time, a thread of its own gives them while the next group is made.
// 5. A group that goes beyond the budget is tried once more after the owner removed rows. If that is not
//    enough, the callers are told, and the entries that are never refused take the reserve. Where the disk
//    is full nothing is removed: that would need more room, not give any.
// 6. What arrived while it committed is the next group; when nothing did, it ends.
// 7. A transaction that brings much takes along the entries that wait by its end: they wait for one commit
//    instead of two. Where that fails, it is tried without them, and they wait as before.
extension Writer {
    /// Joins the next group.
    /// - Returns: false where too many wait already.
    package func submit(_ entry: Entry) -> Bool {
        switch waiting.withLock({ $0.add(entry) }) {
        case .refused: return false
        case .joined: break
        case .first: scheduleCommitter()
        }
        return true
    }

    /// Writes something short in the next group, and returns when it is on disk. It is never refused; a
    /// cancelled task does not stop it.
    /// - Parameter body: may run again; what it wrote before it threw is rolled back.
    package func writeInGroup<T: Sendable>(
        _ body: @escaping @Sendable (Unit) throws -> T
    ) async -> Result<T, StorageError> {
        await withCheckedContinuation { continuation in
            let entry = Entry(
                isNeverRefused: true, takesTime: false,
                make: { unit in
                    let value = try body(unit)
                    return .init(isKept: true) { continuation.resume(returning: .success(value)) }
                },
                fail: { continuation.resume(returning: .failure($0)) })
            _ = submit(entry)
        }
    }

    /// Writes something within the budget, and commits it together with what waits for a group. Returns
    /// when it is on disk. A cancelled task does not stop it.
    /// - Parameter body: ends soon where entries wait (``hasWaitingEntries``). It runs a second time where
    ///   nothing could be committed with them.
    package func writeBesideEntries<T: Sendable>(
        _ body: @escaping @Sendable (Unit) throws -> T
    ) async -> Result<T, StorageError> {
        await withCheckedContinuation { continuation in
            schedule { continuation.resume(returning: self.commitBesideEntries($0, body)) }
        }
    }

    /// Whether any entry waits for the next group.
    package var hasWaitingEntries: Bool { waiting.withLock { $0.isAwaited } }

    private func scheduleCommitter() {
        schedule { connection in
            var group = self.waiting.withLock { $0.takeGroup() }
            if group.isEmpty { return }
            self.give(self.commit(&group, connection), to: group)
            self.scheduleCommitter()
        }
    }

    private func commitBesideEntries<T>(
        _ connection: Connection, _ body: (Unit) throws -> T
    ) -> Result<T, StorageError> {
        var group: [Entry] = []
        do throws(StorageError) {
            try refuseLongLog(connection)
            let (value, answers) = try attempt(&group, connection, takingAlong: body)
            give(answers, to: group)
            return .success(value)
        } catch {
            guard !group.isEmpty else { return .failure(error) }
            waiting.withLock { [group] in $0.putBack(group) }
            return commit(connection, inBudget: true, body)
        }
    }

    private func commit(_ group: inout [Entry], _ connection: Connection) -> [Answer] {
        do throws(StorageError) {
            try refuseLongLog(connection)
            return try attemptMakingRoom(&group, connection)
        } catch {
            return group.map { entry in
                guard case .overBudget = error, entry.isNeverRefused else {
                    return { entry.fail(error) }
                }
                switch commit(connection, inBudget: false, { try entry.make($0).answer }) {
                case .success(let answer): return answer
                case .failure(let error): return { entry.fail(error) }
                }
            }
        }
    }

    /// Commits a group. If the budget refuses it, the owner removes rows (``WriterOwner/makeRoom(_:)``) and
    /// it is tried once more.
    private func attemptMakingRoom(
        _ group: inout [Entry], _ connection: Connection
    ) throws(StorageError) -> [Answer] {
        do throws(StorageError) {
            let answers: [Answer]
            do throws(StorageError) {
                answers = try attempt(&group, connection)
            } catch {
                guard case .overBudget = error, makeRoom(connection) else { throw error }
                answers = try attempt(&group, connection)
            }
            noteGroup(isRefused: false, connection)
            return answers
        } catch {
            if case .overBudget = error { noteGroup(isRefused: true, connection) }
            throw error
        }
    }

    /// - Parameter group: what arrives meanwhile is in it afterwards, also when nothing was committed.
    private func attempt(
        _ group: inout [Entry], _ connection: Connection
    ) throws(StorageError) -> [Answer] {
        try transaction(connection) { unit in try make(&group, &unit, connection) }
    }

    /// - Parameter group: empty; the entries that were taken along are in it afterwards, also when nothing
    ///   was committed.
    private func attempt<T>(
        _ group: inout [Entry], _ connection: Connection, takingAlong body: (Unit) throws -> T
    ) throws(StorageError) -> (value: T, answers: [Answer]) {
        try transaction(connection) { unit in
            let value = try body(unit)
            group = waiting.withLock { $0.takeAlong() }
            owner.refresh(&unit)
            return (value, try make(&group, &unit, connection))
        }
    }

    /// Makes each entry of a group, and of those that arrive meanwhile. If that takes long, the entries that
    /// are left wait again, before later ones.
    private func make(
        _ group: inout [Entry], _ unit: inout Unit, _ connection: Connection
    ) throws -> [Answer] {
        var answers: [Answer] = []
        while answers.count < group.count {
            answers.append(try makeAlone(group[answers.count], unit, connection))
            if owner.isLong(unit) {
                let rest = Array(group[answers.count...])
                group.removeLast(rest.count)
                waiting.withLock { $0.putBack(rest) }
            } else if answers.count == group.count {
                group += waiting.withLock { $0.takeMore(for: answers.count) }
                owner.refresh(&unit)
            }
        }
        return answers
    }

    /// Makes one entry in a savepoint, so that one that fails takes no other with it.
    private func makeAlone(
        _ entry: Entry, _ unit: Unit, _ connection: Connection
    ) throws -> Answer {
        let mark = owner.mark(unit)
        var (answer, isKept): (Answer, Bool) = ({}, false)
        try connection.savepoint {
            do {
                let made = try entry.make(unit)
                (answer, isKept) = (made.answer, made.isKept)
            } catch {
                var failure = StorageError(error)
                if failure.endsTransaction { throw failure }
                // What is large needs a temporary file, which what is small does not.
                if case .cannotOpen = failure { failure = .noTemporaryFile }
                answer = { [failure] in entry.fail(failure) }
            }
            return isKept
        }
        if !isKept { owner.rollBack(unit, to: mark) }
        return answer
    }
}

/// One write of a group, and its caller.
package struct WriterEntry<Unit>: Sendable {
    /// The result of a write, before its commit.
    package struct Made: Sendable {
        /// False when its writes have to be rolled back.
        let isKept: Bool
        /// Tells the caller, once the group is on disk.
        let answer: @Sendable () -> Void

        package init(isKept: Bool, answer: @escaping @Sendable () -> Void) {
            self.isKept = isKept
            self.answer = answer
        }
    }

    /// Whether it has to be written even when the budget is used up or many entries wait.
    let isNeverRefused: Bool
    /// Whether its answer is more than to wake a task.
    let takesTime: Bool
    /// Makes the write in the group's transaction; runs again when the group has to.
    let make: @Sendable (Unit) throws -> Made
    /// Tells the caller that nothing was written.
    let fail: @Sendable (StorageError) -> Void

    package init(
        isNeverRefused: Bool, takesTime: Bool,
        make: @escaping @Sendable (Unit) throws -> Made,
        fail: @escaping @Sendable (StorageError) -> Void
    ) {
        self.isNeverRefused = isNeverRefused
        self.takesTime = takesTime
        self.make = make
        self.fail = fail
    }
}

/// Entries that wait for the next group.
struct WaitingEntries<Unit> {
    typealias Entry = WriterEntry<Unit>

    enum Arrival {
        case refused, joined
        /// The first one, which starts the committer.
        case first
    }

    private var entries: [Entry] = []
    private var isScheduled = false

    /// Whether anything waits.
    var isAwaited: Bool { !entries.isEmpty }

    /// Lets an entry wait; the first one starts the committer.
    mutating func add(_ entry: Entry) -> Arrival {
        guard entry.isNeverRefused || entries.count < StorageLimits.waitingEntries else {
            return .refused
        }
        entries.append(entry)
        if isScheduled { return .joined }
        isScheduled = true
        return .first
    }

    /// The next group, in the order of arrival; empty when nothing waits, and the next arrival
    /// starts the committer again.
    mutating func takeGroup() -> [Entry] {
        let group = take(atMost: StorageLimits.groupEntries)
        if group.isEmpty { isScheduled = false }
        return group
    }

    /// Those that wait, for a transaction that takes them along. The committer stays in the queue.
    mutating func takeAlong() -> [Entry] { take(atMost: StorageLimits.groupEntries) }

    /// Lets those wait again that were taken along and not committed, before those that came after them.
    mutating func putBack(_ group: [Entry]) { entries = group + entries }

    /// The entries that have arrived since, as many as a group of `count` entries may still take.
    mutating func takeMore(for count: Int) -> [Entry] {
        take(atMost: StorageLimits.groupEntries - count)
    }

    private mutating func take(atMost count: Int) -> [Entry] {
        let taken = Array(entries.prefix(count))
        entries.removeFirst(taken.count)
        return taken
    }
}
