import GRDB
import Synchronization

// How local writes share commits, without a timer:
//
// 1. A write waits; the first one to wait puts the committer into the writer's queue.
// 2. The committer takes all that wait as one group: one transaction, a savepoint each, one fsync.
// 3. It answers the group, then queues up again behind the engine's transactions.
// 4. A group for which there is no room is tried once more after the oldest rows that the backend has
//    as well made room.
// 5. What arrived while it committed is the next group; when nothing did, it ends.
extension Store {
    /// Joins the next group commit. The completion is called once, on the committer's thread, when
    /// the write is on disk or has failed.
    public func submit(
        _ write: LocalWrite, completion: @escaping @Sendable (WriteOutcome) -> Void
    ) {
        let entry = WaitingWrites.Entry(write: write, completion: completion)
        switch waiting.withLock({ $0.add(entry) }) {
        case .refused: completion(.busy)
        case .joined: break
        case .first: scheduleCommitter()
        }
    }

    /// Makes a local write and returns when it is on disk or has failed.
    public func submit(_ write: LocalWrite) async -> WriteOutcome {
        await withCheckedContinuation { continuation in
            submit(write) { continuation.resume(returning: $0) }
        }
    }

    private func scheduleCommitter() {
        writer.asyncWriteWithoutTransaction { db in
            let group = self.waiting.withLock { $0.takeGroup() }
            if group.isEmpty { return }
            let outcomes = self.commit(group, db)
            for (entry, outcome) in zip(group, outcomes) { entry.completion(outcome) }
            self.scheduleCommitter()
        }
    }

    private func commit(_ group: [WaitingWrites.Entry], _ db: Database) -> [WriteOutcome] {
        do throws(StoreError) {
            do throws(StoreError) {
                return try attempt(group, db)
            } catch {
                guard case .full = error, makeRoom(db) else { throw error }
                return try attempt(group, db)
            }
        } catch {
            return Array(repeating: WriteOutcome(error), count: group.count)
        }
    }

    private func attempt(
        _ group: [WaitingWrites.Entry], _ db: Database
    ) throws(StoreError) -> [WriteOutcome] {
        let transaction = transaction(db)
        do {
            var outcomes: [WriteOutcome] = []
            try db.inTransaction(.immediate) {
                for entry in group {
                    outcomes.append(try performAlone(entry.write, transaction))
                }
                assert((try? transaction.ledger().balances) ?? true, "the ledger must balance")
                return .commit
            }
            announce(transaction.effects)
            return outcomes
        } catch {
            throw StoreError(error)
        }
    }

    /// Forgets rows that a pull can bring back; false when there are none, or no room even for that.
    func makeRoom(_ db: Database) -> Bool {
        let transaction = transaction(db)
        do {
            var count = 0
            try db.inTransaction(.immediate) {
                count = try transaction.forgetOldest(StoreLimits.forgottenRows)
                return .commit
            }
            announce(transaction.effects)
            return count > 0
        } catch {
            return false
        }
    }

    /// Makes one write in a savepoint, so that one that fails takes nobody with it.
    private func performAlone(
        _ write: LocalWrite, _ transaction: Transaction
    ) throws -> WriteOutcome {
        let eventsBefore = transaction.effects.events.count
        var outcome = WriteOutcome.failed("")
        do {
            try transaction.db.inSavepoint {
                outcome = try transaction.perform(write, rules)
                return outcome.isSuccess ? .commit : .rollback
            }
        } catch {
            let failure = StoreError(error)
            switch failure {
            // Nothing of the group can be committed.
            case .full, .readOnly, .damaged, .cannotOpen, .newerVersion: throw failure
            case .failed: outcome = WriteOutcome(failure)
            }
        }
        if !outcome.isSuccess {
            transaction.effects.events.removeSubrange(eventsBefore...)
        }
        return outcome
    }
}

extension WriteOutcome {
    /// What a client is told when the store failed.
    init(_ error: StoreError) {
        switch error {
        case .full: self = .storageFull
        case .readOnly: self = .readOnly
        case .cannotOpen(let reason), .newerVersion(let reason), .damaged(let reason),
            .failed(let reason):
            self = .failed(reason)
        }
    }

    /// Whether the write took effect.
    public var isSuccess: Bool {
        switch self {
        case .inserted, .updated, .deleted, .undeleted: true
        case .missing, .gone, .preconditionFailed, .versionConflict, .alreadyExists,
            .unknownWhilePartial, .tableNotAllowed, .invalid, .storageFull, .readOnly, .busy,
            .failed:
            false
        }
    }
}
