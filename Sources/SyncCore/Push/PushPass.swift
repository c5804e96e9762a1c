import Logging
import TablesProtocol

/// One push: takes what is due to the backend, an outcome at a time.
///
/// 1. The bookend is the last operation that exists when the push starts, so that it ends.
/// 2. Without a proof nothing is sent; a failure of the link asks for a new proof.
/// 3. Operations take turns in their order, several items at once: as many requests as may be under way,
///    and as many turns again that are marked in flight and wait for a slot; more, up to a bound, where a
///    request ends and none waits to follow it. An item's second operation is not due before its first has
///    closed, so that parallel turns never touch one item.
/// 4. Each turn commits that it sends before it sends, and its outcome before the next (see
///    ``PushTurn``): the process may end anywhere.
/// 5. An operation that another item's has to go before (see ``Dependencies``) is left out
///    until that one has closed.
/// 6. The pass ends when nothing is due that has not had its turn, or at a stop.
struct PushPass: Sendable {
    let store: Store
    let remote: Remote
    let prover: Prover
    let settings: SyncSettings
    let random: any RandomSource
    let cancel: CancelFlag
    let log: Logger
    let slots: RequestSlots
    /// Told after each turn.
    let progress: @Sendable (PushReport, Run.Progress) async -> Void

    /// Runs the pass. Returns where it ended, its report included.
    func run(isProven: Bool) async -> PushState {
        var state = PushState(isProven: isProven)
        do throws(StoreError) {
            try await recover()
            let (bookend, total, hasLinks) = try await store.read { transaction in
                let bookend = try transaction.dueOperations.bookend()
                let hasLinks = try transaction.tables.all().contains { !$0.parents.isEmpty }
                return (bookend, try transaction.dueOperations.count(upTo: bookend), hasLinks)
            }
            (state.total, state.hasLinks) = (total, hasLinks)
            if total > 0 { await progress(state.report, state.progress) }
            try await takeTurns(&state, upTo: bookend)
            let counts = try await store.read { try $0.ledger.queueCounts() }
            state.report.left = counts.open
        } catch {
            state.stop = .store(error.description)
        }
        state.report.results = state.report.results.suffix(StoreLimits.runResults)
        return state
    }

    /// Passes run one at a time: what is on its way before the first turn was left so by a pass that
    /// could not write the outcome.
    private func recover() async throws(StoreError) {
        guard try await store.read({ try $0.attempts.hasSending() }) else { return }
        try await store.write {
            try $0.attempts.recover(because: "The outcome could not be written")
        }
    }

    private func takeTurns(_ state: inout PushState, upTo bookend: Int64) async throws(StoreError) {
        var next: [TableOperation] = []
        var failure: StoreError?
        state = await withTaskGroup(of: PushTurn.self) { [state] group in
            var state = state
            var running = 0
            var atOnce = settings.turnsAtOnce
            while true {
                // 1. Give a turn to as many as may be under way at once. Where the slots are closed, the
                //    turn that closed them has still to say why.
                if running == 0, state.isProven { slots.open() }
                while running < atOnce, state.stop == nil, failure == nil,
                    slots.isOpen || !state.isProven
                {
                    if cancel.isSet { state.stop = .cancelled }
                    do throws(StoreError) {
                        if next.isEmpty { next = try await look(&state, upTo: bookend) }
                    } catch { failure = error }
                    guard state.stop == nil, failure == nil, !next.isEmpty else { break }
                    await proveIfNeeded(&state, for: next[0].table)
                    guard state.stop == nil else { break }
                    let operation = next.removeFirst()
                    do throws(StoreError) {
                        if state.hasLinks, try await holdBack(operation) { continue }
                    } catch {
                        failure = error
                        break
                    }
                    state.tried.insert(operation.seq)
                    running += 1
                    group.addTask { await turn(operation) }
                }
                // 2. Take the next outcome; without any under way the pass is over, unless an
                //    outcome has made a successor due.
                guard let done = await group.next() else { break }
                running -= 1
                if slots.takeIdle() {
                    atOnce = min(atOnce + settings.parallelism, settings.mostTurnsAtOnce)
                }
                state.note(done)
                await progress(state.report(at: remote.clock.uptime()), state.progress)
            }
            return state
        }
        if let failure { throw failure }
    }

    /// The next operations that are due and have not had their turn, in order.
    private func look(
        _ state: inout PushState, upTo bookend: Int64
    ) async throws(StoreError) -> [TableOperation] {
        while true {
            let cursor = state.cursor
            let found = try await store.read {
                try $0.dueOperations.next(after: cursor, upTo: bookend, limit: SyncLimits.lookAhead)
            }
            if let last = found.last { state.cursor = last.seq }
            let fresh = found.filter { !state.tried.contains($0.seq) }
            if !fresh.isEmpty { return fresh }
            if found.isEmpty {
                guard state.looksAgain else { return [] }
                state.looksAgain = false
                state.cursor = 0
            }
        }
    }

    /// Whether an operation has to wait for one of another item. What may have been sent is only read
    /// back, which waits for nothing.
    private func holdBack(_ operation: TableOperation) async throws(StoreError) -> Bool {
        if operation.maybeApplied { return false }
        return try await store.commitInGroup {
            try Dependencies(transaction: $0).holdBack(operation.seq)
        }
    }

    private func proveIfNeeded(_ state: inout PushState, for table: TableName) async {
        guard !state.isProven else { return }
        switch await prover.prove(await tables(with: table)) {
        case .proven:
            state.isProven = true
            slots.open()
        case .failed(let failure):
            state.stop = failure.state == .signedOut ? .signIn : .backend(failure)
        }
    }

    /// The tables that a proof may ask, the wanted one first.
    func tables(with wanted: TableName) async -> [TableName] {
        let known =
            (try? await store.read { try $0.tables.all().filter(\.isComplete).map(\.name) }) ?? []
        return [wanted] + known.filter { $0 != wanted }
    }
}
