import Dispatch
import GRDB
import Synchronization

// How writes share commits:
//
// 1. A write waits; the first one to wait puts the committer into the writer's queue.
// 2. The committer takes all that wait as one group: one transaction, a savepoint each, one fsync.
// 3. What arrives while it works on them joins them, up to a bound.
// 4. It answers the group, then queues up again behind the engine's other transactions. Where many
//    clients wait, a thread of its own answers them while the next group is made.
// 5. A group that goes beyond the store's budget is tried once more after the oldest rows that the backend
//    has as well made room. If that is not enough, clients are told, and the engine's bookkeeping takes
//    the reserve. Where the disk is full nothing is forgotten: that would need more room, not give any.
// 6. What arrived while it committed is the next group; when nothing did, it ends.
// 7. A part of a pull takes along who waits by its end: they wait for one commit instead of two. Where
//    that fails, it is tried without them, and they wait as before.
extension Store {
    /// Joins the next group commit. The completion, which may take its time, is called once, on a thread
    /// of the store, when the write is on disk or has failed.
    public func submit(
        _ write: LocalWrite, completion: @escaping @Sendable (WriteOutcome) -> Void
    ) {
        submit(write, takesTime: true, completion)
    }

    /// Makes a local write and returns when it is on disk or has failed.
    public func submit(_ write: LocalWrite) async -> WriteOutcome {
        await withCheckedContinuation { continuation in
            submit(write, takesTime: false) { continuation.resume(returning: $0) }
        }
    }

    private func submit(
        _ write: LocalWrite, takesTime: Bool,
        _ completion: @escaping @Sendable (WriteOutcome) -> Void
    ) {
        isWritten.store(true, ordering: .relaxed)
        let rules = rules
        let entry = WaitingWrites.Entry(
            isBookkeeping: false, takesTime: takesTime,
            make: { transaction in
                let outcome = try LocalWriting(transaction: transaction).perform(write, rules)
                return .init(isKept: outcome.isSuccess) { completion(outcome) }
            },
            fail: { completion(WriteOutcome($0)) })
        if !join(entry) { completion(.busy) }
    }

    /// Commits a short write of the engine with the next group, and returns when it is on disk; anything
    /// else takes a transaction of its own (``write(inBudget:_:)``). A cancelled task does not stop it.
    /// - Parameter body: may run again; what it wrote before it threw is rolled back.
    func commitInGroup<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        let result: Result<T, StoreError> = await withCheckedContinuation { continuation in
            let entry = WaitingWrites.Entry(
                isBookkeeping: true, takesTime: false,
                make: { transaction in
                    let value = try body(transaction)
                    return .init(isKept: true) { continuation.resume(returning: .success(value)) }
                },
                fail: { continuation.resume(returning: .failure($0)) })
            _ = join(entry)
        }
        return try result.get()
    }

    /// Brings rows within the budget, and commits them together with what waits for a group commit.
    /// Returns when they are on disk. A cancelled task does not stop it.
    /// - Parameter body: ends soon where somebody waits (``hasWaitingWrites``). It runs a second time
    ///   where nothing could be committed with those who waited.
    func writeBesideClients<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try await onWriter { db in
            var group: [WaitingWrites.Entry] = []
            do throws(StoreError) {
                let (value, answers) = try self.attempt(&group, db, after: body)
                self.give(answers, to: group)
                return .success(value)
            } catch {
                guard !group.isEmpty else { return .failure(error) }
                self.waiting.withLock { [group] in $0.putBack(group) }
                return self.commit(db, inBudget: true, body)
            }
        }
    }

    /// Whether anybody waits for the next group commit.
    var hasWaitingWrites: Bool { waiting.withLock { $0.isAwaited } }

    private func join(_ entry: WaitingWrites.Entry) -> Bool {
        switch waiting.withLock({ $0.add(entry) }) {
        case .refused: return false
        case .joined: break
        case .first: scheduleCommitter()
        }
        return true
    }

    private func scheduleCommitter() {
        underWay.add(1, ordering: .relaxed)
        writer.asyncWriteWithoutTransaction { db in
            defer { self.underWay.subtract(1, ordering: .releasing) }
            var group = self.waiting.withLock { $0.takeGroup() }
            if group.isEmpty { return }
            self.give(self.commit(&group, db), to: group)
            self.keepLogShort(db)
            self.scheduleCommitter()
        }
    }

    /// Answers a group: what is short here, what takes time on a thread of its own, unless it is so little
    /// that to wake one would take longer.
    private func give(_ answers: [Answer], to group: [WaitingWrites.Entry]) {
        var long: [Answer] = []
        for (entry, answer) in zip(group, answers) {
            if entry.takesTime { long.append(answer) } else { answer() }
        }
        guard long.count >= StoreLimits.answersApart else { return long.forEach { $0() } }
        underWay.add(1, ordering: .relaxed)
        answering.async { [long] in
            defer { self.underWay.subtract(1, ordering: .releasing) }
            for answer in long { answer() }
        }
    }

    private typealias Answer = @Sendable () -> Void

    private func commit(_ group: inout [WaitingWrites.Entry], _ db: Database) -> [Answer] {
        do throws(StoreError) {
            do throws(StoreError) {
                return try attempt(&group, db) { _ in }.answers
            } catch {
                guard case .overBudget = error, makeRoom(db) else { throw error }
                return try attempt(&group, db) { _ in }.answers
            }
        } catch {
            return group.map { entry in
                guard case .overBudget = error, entry.isBookkeeping else {
                    return { entry.fail(error) }
                }
                switch commit(db, inBudget: false, { try entry.make($0).answer }) {
                case .success(let answer): return answer
                case .failure(let error): return { entry.fail(error) }
                }
            }
        }
    }

    /// - Parameters:
    ///   - group: what arrives meanwhile is in it afterwards, also when nothing was committed.
    ///   - lead: what is written before the group.
    private func attempt<T>(
        _ group: inout [WaitingWrites.Entry], _ db: Database,
        after lead: (Transaction) throws -> T
    ) throws(StoreError) -> (value: T, answers: [Answer]) {
        let transaction = transaction(db, tables: catalog.writer)
        var isMade = false
        do {
            let committed = try db.transaction(.immediate) {
                let value = try lead(transaction)
                // Only a pull comes without a group.
                if group.isEmpty {
                    group = waiting.withLock { $0.takeAlong() }
                    transaction.now = clock.now()
                }
                var answers: [Answer] = []
                while answers.count < group.count {
                    answers.append(try makeAlone(group[answers.count], transaction))
                    if answers.count == group.count {
                        group += waiting.withLock { $0.takeMore(for: answers.count) }
                        // Nothing is older than its request.
                        transaction.now = clock.now()
                    }
                }
                try transaction.flush()
                assert((try? transaction.ledger.read().balances) ?? true, "the ledger must balance")
                isMade = true
                return (value, answers)
            }
            announce(transaction.effects)
            return committed
        } catch {
            throw failure(error, isMade: isMade)
        }
    }

    /// Forgets rows that a pull can bring back; false when there are none, or no room even for that.
    func makeRoom(_ db: Database) -> Bool {
        let transaction = transaction(db, tables: catalog.writer)
        do {
            let count = try db.transaction(.immediate) {
                let count = try Purging(transaction: transaction).forgetOldest(
                    StoreLimits.forgottenRows)
                try transaction.flush()
                return count
            }
            announce(transaction.effects)
            return count > 0
        } catch {
            return false
        }
    }

    /// Makes one write in a savepoint, so that one that fails takes nobody with it.
    private func makeAlone(
        _ entry: WaitingWrites.Entry, _ transaction: Transaction
    ) throws -> Answer {
        let eventsBefore = transaction.effects.events.count
        var made: WaitingWrites.Entry.Made?
        var answer: Answer = { entry.fail(.failed("Nothing was written.")) }
        do {
            try transaction.db.control("SAVEPOINT entry")
            made = try entry.make(transaction)
        } catch {
            let failure = StoreError(error)
            switch failure {
            // Nothing of the group can be committed.
            case .full, .overBudget, .readOnly, .damaged, .newerVersion: throw failure
            // What is large needs a temporary file, which what is small does not.
            case .cannotOpen:
                let reason = "This change needs a temporary file, and none can be made."
                answer = { entry.fail(.failed(reason)) }
            case .failed: answer = { entry.fail(failure) }
            }
        }
        if made?.isKept != true {
            try transaction.db.control("ROLLBACK TO entry")
            transaction.effects.events.removeSubrange(eventsBefore...)
        }
        try transaction.db.control("RELEASE entry")
        return made?.answer ?? answer
    }
}

extension WriteOutcome {
    /// What a client is told when the store failed.
    init(_ error: StoreError) {
        switch error {
        case .full, .overBudget: self = .storageFull
        // The system may give files again.
        case .readOnly, .cannotOpen: self = .readOnly
        case .newerVersion(let reason), .damaged(let reason), .failed(let reason):
            self = .failed(reason)
        }
    }

    /// Whether the write took effect.
    public var isSuccess: Bool {
        switch self {
        case .inserted, .updated, .deleted, .undeleted: true
        case .missing, .gone, .preconditionFailed, .alreadyExists,
            .unknownWhilePartial, .tableNotAllowed, .invalid, .storageFull, .readOnly, .busy,
            .failed:
            false
        }
    }
}
