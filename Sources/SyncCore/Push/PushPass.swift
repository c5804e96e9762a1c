import Logging
import TablesProtocol

/// One push: sends the due operations to the backend and commits each outcome.
///
/// 1. The bookend is the last operation in the queue when the push starts. Later ones are not sent, so the
///    push ends.
/// 2. Nothing is sent without a proof. After a failure of the link a new proof is needed.
/// 3. Several operations are pushed at once, in their order. As many requests run as there are slots.
///    Further operations are already marked in flight and wait for a slot; their number grows, up to a
///    bound, when a slot is released and none waits for it. An item's second operation is not due before
///    its first has closed, so two concurrent pushes never touch one item.
/// 4. Each operation commits `sending` before its request, and its outcome before the next request (see
///    ``PushedOperation``). The process may end at any point.
/// 5. An operation that depends on another item's operation (see ``Dependencies``) is left out until that
///    one has closed.
/// 6. If the backend fails for one table, the operations of that table are put off, and those of the others
///    are sent (``TableGates``).
/// 7. When no due operation is left to try, what the backend refused in this pass is tried once more, if
///    other operations were applied in between: it may have needed an item that came later.
/// 8. Then the pass ends, or at a stop.
struct PushPass: Sendable {
    let store: Store
    let remote: Remote
    let prover: Prover
    let settings: SyncSettings
    let random: any RandomSource
    let cancel: CancelFlag
    let log: Logger
    let slots: Permits
    let live: LiveWrites
    /// See ``BackendBinding/owner()``.
    let owner: String?
    /// The tables that a proof may list, the most likely first, for a failure of the given table.
    let proofTables: @Sendable (_ of: TableName, _ goesLast: Bool) async -> [TableName]
    /// Whether the pass makes way for other work, asked once it has run for
    /// ``SyncLimits/pushTurnSeconds``; nil if it never does.
    let yields: (@Sendable () async -> Bool)?
    /// Called after each operation.
    let progress: @Sendable (PushReport, RunProgress) async -> Void

    /// Runs the pass.
    /// - Returns: the final state with the report.
    func run(isProven: Bool) async -> PushState {
        var state = PushState(isProven: isProven)
        let turnEnd = remote.clock.uptime() + .seconds(SyncLimits.pushTurnSeconds)
        do throws(StoreError) {
            try await recover()
            let (bookend, total, hasDependencies, gates) = try await store.read { transaction in
                let bookend = try transaction.dueOperations.bookend()
                let hasDependencies = try transaction.tables.all().contains { !$0.parents.isEmpty }
                let gates = TableGates(try transaction.tableWaits.all(.push), now: transaction.now)
                return (
                    bookend, try transaction.dueOperations.count(upTo: bookend), hasDependencies,
                    gates
                )
            }
            (state.total, state.hasDependencies) = (total, hasDependencies)
            if total > 0 { await progress(state.report, state.progress) }
            try await pushDueOperations(&state, upTo: bookend, gates, turnEnd: turnEnd)
            state.takeRefused()
            if !state.again.isEmpty {
                // They are tried in this pass, also if the rest is left to another one.
                let hasYielded = state.stop == .yielded
                if hasYielded { state.stop = nil }
                try await pushDueOperations(
                    &state, upTo: hasYielded ? 0 : bookend, gates,
                    turnEnd: hasYielded ? nil : turnEnd)
                if hasYielded { state.stop = state.stop ?? .yielded }
            }
            let counts = try await store.read { try $0.ledger.queueCounts() }
            state.report.left = counts.open
        } catch {
            state.stop = .store(error.description)
        }
        state.report.results = state.report.results.suffix(StoreLimits.runResults)
        return state
    }

    /// Passes run one at a time. An operation that is already marked as sending belongs to an earlier pass
    /// that could not write its outcome, unless it is a live write.
    private func recover() async throws(StoreError) {
        let live = live
        guard try await store.read({ try $0.attempts.hasSending(besides: live.held) }) else {
            return
        }
        try await store.write {
            try $0.attempts.recover(
                because: "The outcome could not be written", besides: live.held)
        }
    }

    private func pushDueOperations(
        _ state: inout PushState, upTo bookend: Int64, _ gates: TableGates, turnEnd: Duration?
    ) async throws(StoreError) {
        var next: [TableOperation] = []
        var failure: StoreError?
        state = await withTaskGroup(of: PushedOperation.self) { [state] group in
            var state = state
            var running = 0
            var atOnce = settings.operationsInFlight
            while true {
                // 1. Start as many operations as may be in flight. If the slots are closed, wait for the
                //    result of the operation that closed them.
                if running == 0, state.isProven { slots.open() }
                while running < atOnce, state.stop == nil, failure == nil,
                    slots.isOpen || !state.isProven
                {
                    if cancel.isSet { state.stop = .cancelled }
                    if let yields, let turnEnd, remote.clock.uptime() >= turnEnd, await yields() {
                        state.stop = state.stop ?? .yielded
                    }
                    do throws(StoreError) {
                        if next.isEmpty { next = try await nextDue(&state, upTo: bookend, gates) }
                    } catch { failure = error }
                    guard state.stop == nil, failure == nil, !next.isEmpty else { break }
                    await proveIfNeeded(&state, for: next[0].table)
                    guard state.stop == nil else { break }
                    let operation = next.removeFirst()
                    if gates.isClosed(operation.tableID) { continue }
                    do throws(StoreError) {
                        if state.hasDependencies, operation.state != .quarantined,
                            try await holdBack(operation)
                        {
                            continue
                        }
                    } catch {
                        failure = error
                        break
                    }
                    guard gates.admit(operation.tableID) else { continue }
                    state.tried.insert(operation.seq)
                    running += 1
                    let applied = state.report.applied
                    group.addTask {
                        var pushed = await push(operation, gates)
                        pushed.appliedBefore = applied
                        return pushed
                    }
                }
                // 2. Take the next result. With nothing in flight the pass is over, unless a result has
                //    made a successor due.
                guard let done = await group.next() else { break }
                running -= 1
                if slots.takeIdleFlag() {
                    atOnce = min(atOnce + settings.parallelism, settings.maxOperationsInFlight)
                }
                state.record(done)
                // The batch was read before the operation was due: it goes to its place in the order.
                if let seq = done.follower, seq <= state.cursor, failure == nil {
                    do throws(StoreError) {
                        try await insert(seq, into: &next)
                    } catch { failure = error }
                }
                await progress(state.report(at: remote.clock.uptime()), state.progress)
            }
            return state
        }
        if let failure { throw failure }
    }

    /// Puts a due operation into a batch, in the order of the queue.
    private func insert(
        _ seq: Int64, into batch: inout [TableOperation]
    ) async throws(StoreError) {
        guard let operation = try await store.read({ try $0.queue.operation(seq: seq) }),
            operation.state == .queued, operation.successorOf == nil, operation.waitsFor == nil
        else { return }
        batch.insert(operation, at: batch.firstIndex { $0.seq > seq } ?? batch.endIndex)
    }

    /// The next operations to try, in order: the refused ones that are tried once more, then the due ones that
    /// this pass has not tried.
    private func nextDue(
        _ state: inout PushState, upTo bookend: Int64, _ gates: TableGates
    ) async throws(StoreError) -> [TableOperation] {
        if gates.retry(now: remote.clock.now()) { state.cursor = 0 }
        while !state.again.isEmpty {
            let seqs = state.again.prefix(SyncLimits.dueOperationsPerRead)
            state.again.removeFirst(seqs.count)
            let found = try await store.read { transaction in
                try seqs.compactMap { try transaction.queue.operation(seq: $0) }
            }
            let refused = found.filter { $0.state == .quarantined && !$0.mayHaveReached }
            if !refused.isEmpty { return refused }
        }
        while true {
            let (cursor, tried) = (state.cursor, gates.tried)
            let found = try await store.read {
                try $0.dueOperations.next(
                    after: cursor, upTo: bookend, without: tried,
                    limit: SyncLimits.dueOperationsPerRead)
            }
            if let last = found.last { state.cursor = last.seq }
            let held = live.held
            let fresh = found.filter { !state.tried.contains($0.seq) && !held.contains($0.id) }
            if !fresh.isEmpty { return fresh }
            if found.isEmpty {
                guard state.mustReadFromStart else { return [] }
                state.mustReadFromStart = false
                state.cursor = 0
            }
        }
    }

    /// Whether an operation has to wait for another item's operation. One that may have been sent is only
    /// read back, which depends on nothing.
    private func holdBack(_ operation: TableOperation) async throws(StoreError) -> Bool {
        if operation.maybeApplied { return false }
        return try await store.commitInGroup {
            try Dependencies(transaction: $0).holdBack(operation.seq)
        }
    }

    /// Pushes one operation.
    /// - Parameter onlyReads: whether to end once the row has been read back, without sending anything.
    func push(
        _ operation: TableOperation, _ gates: TableGates, onlyReads: Bool = false
    ) async -> PushedOperation {
        var push = OperationPush(operation, self, gates)
        await push.run(onlyReads: onlyReads)
        return push.pushed
    }

    private func proveIfNeeded(_ state: inout PushState, for table: TableName) async {
        guard !state.isProven else { return }
        switch await prover.prove(await proofTables(table, false)) {
        case .proven:
            state.isProven = true
            slots.open()
        case .failed(let failure):
            state.stop = failure.state == .signedOut ? .signIn : .backend(failure)
        }
    }
}
