public import HTTPMessage
import HTTPTypes
public import TablesProtocol

/// A write that is on disk, and whose client waits for the backend's verdict.
public struct AwaitedWrite: Sendable {
    public var table: TableName
    public var itemID: ItemID
    /// The operation that contains the write; nil if it changed nothing.
    public var operation: OperationID?
    /// The client: its connection, or its capability address.
    public var client: String
    /// Whether the client waits also behind a queue, since only the backend gives the item's id.
    public var waitsInLine: Bool

    public init(
        table: TableName, itemID: ItemID, operation: OperationID?, client: String,
        waitsInLine: Bool = false
    ) {
        self.table = table
        self.itemID = itemID
        self.operation = operation
        self.client = client
        self.waitsInLine = waitsInLine
    }
}

/// What the store and the backend say of a write whose client waits.
public struct WriteVerdict: Sendable {
    public var standing: ItemStanding
    /// The backend's response to the write; nil where none came, or where a push has sent it.
    public var answer: Response?
    /// The item as the backend's answer to the write shows it; nil where the answer has none.
    public var written: Item?
    /// Whether the backend asks for a sign-in, so that the write has no effect.
    public var asksToSignIn = false
    /// Whether the backend failed with an answer of its own, and the row that was read back shows no effect.
    public var hasFailed = false
}

/// Sends writes while their clients wait.
final class LiveSending: InEngine {
    enum Sent {
        /// Its outcome is on disk. The operation is held until it is released.
        case sent(PushedOperation)
        /// Nothing was sent: the backend asks for a sign-in.
        case unauthorized
        /// Another live write or a push sends it, or has sent it.
        case taken
        case inLine
    }

    private unowned let engine: SyncEngine
    private let proofs: Proofs
    private let runner: Runner
    /// The places of those that are sent side by side, and what ends those that wait for one.
    private let slots = Permits(SyncLimits.liveWrites)
    private var cancelFlag = CancelFlag()
    /// The proof that live writes wait for; nil while none does.
    private var proof: Task<PushStop?, Never>?
    /// The live writes in a row that failed for the link.
    private var failures = 0
    /// The live writes whose outcomes are not on disk, and what waits for them.
    private(set) var count = 0
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ engine: SyncEngine, _ proofs: Proofs, _ runner: Runner) {
        (self.engine, self.proofs, self.runner) = (engine, proofs, runner)
    }

    var context: EngineContext { proofs.context }
    private var backend: KnownBackend { proofs.backend }
    private var live: LiveWrites { store.live }

    func send(
        _ write: AwaitedWrite, answer: @Sendable (WriteVerdict) async -> Bool
    ) async -> Bool {
        let sent = await sendAtOnce(write)
        let awaitsPush: Bool
        switch sent {
        // It is held until its client is answered, so that no push takes it.
        case .sent, .unauthorized: awaitsPush = false
        case .taken:
            awaitsPush = true
            if let id = write.operation { await live.released(id) }
        case .inLine:
            awaitsPush = write.waitsInLine
            if let id = write.operation { live.leave(id) }
        }
        defer {
            if let id = write.operation {
                if case .sent = sent { live.release(id) } else { live.leave(id) }
            }
        }
        for attempt in 0...SyncLimits.awaitedPushes {
            let found = try? await store.standing(
                write.table, write.itemID, own: write.operation)
            guard let standing = found ?? nil else { return false }
            if await answer(WriteVerdict(standing: standing, sent)) { return true }
            guard awaitsPush, attempt < SyncLimits.awaitedPushes,
                attempt == 0 || standing.operation?.state == .queued,
                await runner.perform(.push).state != .offline
            else { return false }
        }
        return false
    }

    private func sendAtOnce(_ write: AwaitedWrite) async -> Sent {
        guard let operation = write.operation else { return .taken }
        let credential = backend.access.credential()
        guard !isSwitchedOff, !context.isRetired, context.scheduler.isInReach,
            credential != .missing,
            context.meter.median <= .seconds(SyncLimits.slowAnswerSeconds),
            await isBound, backend.namedWait() == nil
        else { return .inLine }
        if !backend.isProven, let stop = await prove() {
            return stop == .signIn ? .unauthorized : .inLine
        }
        let (live, earlier) = (live, live.lastAcknowledged(of: write.client))
        let order = try? await store.read { transaction in
            try LiveOrder(transaction: transaction).find(operation, after: earlier, live)
        }
        let (first, waits): (TableOperation, [Int64: TableWait])
        switch order {
        case .first(let operation, let found): (first, waits) = (operation, found)
        case .taken: return .taken
        case .inLine, nil: return .inLine
        }
        slots.open()
        let pass = backend.pushPass(of: engine, credential, cancelFlag, slots)
        let gates = TableGates(waits, now: clock.now())
        count += 1
        // A task of its own, so that a client that leaves does not interrupt a commit after a request.
        let task = Task(executorPreference: engine.executor) {
            let pushed = await pass.push(first, gates)
            guard pushed.state == .unknown, pushed.answer?.response?.isOwnFailure == true,
                let again = try? await pass.store.read({ try $0.queue.operation(seq: first.seq) })
            else { return pushed }
            var read = await pass.push(again, gates, onlyReads: true)
            read.answer = pushed.answer
            return read
        }
        let pushed = await task.value
        await note(pushed, credential)
        count -= 1
        if count == 0 {
            for waiter in waiters { waiter.resume() }
            waiters = []
        }
        guard pushed.state != nil else {
            live.release(first.id)
            return .taken
        }
        if pushed.stop == .signIn, backend.hasOtherToken(than: credential) {
            live.release(first.id)
            return await sendAtOnce(write)
        }
        return .sent(pushed)
    }

    /// Whether the store belongs to the backend.
    private var isBound: Bool {
        get async {
            do throws(StoreError) {
                return try await backend.otherBackendReason() == nil
            } catch {
                return false
            }
        }
    }

    /// Looks for a backend that is not proven. All writes that wait share one proof.
    private func prove() async -> PushStop? {
        if let proof { return await proof.value }
        let task = Task(executorPreference: engine.executor) { [engine] in
            await engine.with { await $0.proofs.probe() }
        }
        proof = task
        let stop = await task.value
        proof = nil
        // Without a table there was nothing to prove it with.
        return stop ?? (backend.isProven ? nil : .yielded)
    }

    /// Passes what came of a live write to the schedule.
    private func note(_ pushed: PushedOperation, _ credential: Credential) async {
        let before = context.scheduler.backend.state
        if pushed.refusedProtocolVersion { backend.forgetGeneration() }
        if let failure = pushed.linkFailure {
            backend.isProven = false
            failures += 1
            let mayProve = !failure.forbidsRequests && !failure.hasFailedProof
            if failures >= SyncLimits.circuitFailures || !mayProve {
                await backend.note(.backend(failure), credential)
            }
        } else if pushed.requests > 0 {
            failures = 0
        }
        // Without a token, one table may require a sign-in that the others do not require.
        if let stop = pushed.stop,
            !(stop == .signIn && credential == .none && backend.isProven)
        {
            await backend.note(stop, credential)
        }
        if pushed.state == .done { backend.provenAt = clock.uptime() }
        // The loop proves the backend and sends what is left.
        if pushed.state != .done || pushed.follower != nil { signal.send(.write) }
        if context.scheduler.backend.state != before { await announceStatus() }
    }

    /// Ends those that wait for a place.
    func cancel() {
        cancelFlag.set()
        slots.close()
        cancelFlag = CancelFlag()
    }

    /// Ends all, because the engine ends, and waits until the outcome of each is on disk.
    func end() async {
        cancelFlag.set()
        while count > 0 {
            await withCheckedContinuation { waiters.append($0) }
        }
        // An engine goes on whose store could not be closed.
        cancelFlag = CancelFlag()
    }
}

extension WriteVerdict {
    fileprivate init(standing: ItemStanding, _ sent: LiveSending.Sent) {
        self.standing = standing
        switch sent {
        case .sent(let pushed):
            answer = pushed.answer?.response
            if case .row(let row)? = pushed.answer?.answer {
                // The answer to a change may be a part of the row.
                written = standing.item
                written?.columns.merge(row.columns)
                written?.deleted = row.deleted ?? standing.item.deleted
            }
            guard pushed.state == .waiting, !pushed.isHeld else { return }
            asksToSignIn = answer?.head.status == .unauthorized
            hasFailed = answer?.isOwnFailure == true
        case .unauthorized: asksToSignIn = true
        case .taken, .inLine: break
        }
    }
}

extension Response {
    /// Whether the backend itself says that it failed: 5xx that is not "later", in JSON or with the version of a
    /// /tables server.
    fileprivate var isOwnFailure: Bool {
        head.status.code >= 500 && !Later.isOfGateway(head)
            && (serverVersion != nil || (try? JSONText(validating: bytes ?? [])) != nil)
    }
}
