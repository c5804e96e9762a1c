public import HTTPMessage
import HTTPTypes
import Storage
import Synchronization
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

extension SyncEngine {
    /// Sends a write while its client waits.
    ///
    /// 1. With nothing open ahead of it (``LiveOrder``) it is sent at once, up to ``SyncLimits/liveWrites`` side by
    ///    side. Direct clients have no order among each other either.
    /// 2. After an answer of 5xx of the backend itself the row is read back, so that the verdict is known.
    /// 3. A write whose operation another live write or a push sends is awaited with it. One that stands in line
    ///    is not awaited, unless its client needs the backend's id: it stays in the queue.
    ///
    /// - Parameter answer: called with what is known. It answers the client if that is a verdict, and returns
    ///   whether it has. Until it has returned the operation is sent by nothing else.
    /// - Returns: whether the client is answered. If not, its write counts as acknowledged.
    public func send(
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
                await push(isExplicit: false).state != .offline
            else { return false }
        }
        return false
    }

    /// Remembers the client of a write that was acknowledged before it was sent: its next writes follow it.
    public nonisolated func acknowledged(_ write: AwaitedWrite) {
        if let operation = write.operation { live.acknowledged(operation, of: write.client) }
    }

    fileprivate enum Sent {
        /// Its outcome is on disk. The operation is held until it is released.
        case sent(PushedOperation)
        /// Nothing was sent: the backend asks for a sign-in.
        case unauthorized
        /// Another live write or a push sends it, or has sent it.
        case taken
        case inLine
    }

    private func sendAtOnce(_ write: AwaitedWrite) async -> Sent {
        guard let operation = write.operation else { return .taken }
        let credential = credential()
        guard case .online = scheduler.mode, !isRetired, scheduler.isInReach,
            credential != .missing, meter.median <= .seconds(SyncLimits.slowAnswerSeconds),
            await isBound, await namedWait() == nil
        else { return .inLine }
        if !isProven, let stop = await proveForLiveWrite() {
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
        liveSlots.open()
        let pass = pushPass(credential, liveCancel, liveSlots)
        let gates = TableGates(waits, now: clock.now())
        liveCount += 1
        // A task of its own, so that a client that leaves does not interrupt a commit after a request.
        let task = Task(executorPreference: executor) {
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
        liveCount -= 1
        if liveCount == 0 {
            for waiter in liveWaiters { waiter.resume() }
            liveWaiters = []
        }
        guard pushed.state != nil else {
            live.release(first.id)
            return .taken
        }
        if pushed.stop == .signIn, hasOtherToken(than: credential) {
            live.release(first.id)
            return await sendAtOnce(write)
        }
        return .sent(pushed)
    }

    /// Whether the store belongs to the backend.
    private var isBound: Bool {
        get async {
            do throws(StoreError) {
                return try await otherBackendReason() == nil
            } catch {
                return false
            }
        }
    }

    /// Looks for a backend that is not proven. All writes that wait share one proof.
    private func proveForLiveWrite() async -> PushStop? {
        if let liveProof { return await liveProof.value }
        let task = Task(executorPreference: executor) { await self.probe() }
        liveProof = task
        let stop = await task.value
        liveProof = nil
        // Without a table there was nothing to prove it with.
        return stop ?? (isProven ? nil : .yielded)
    }

    /// Passes what came of a live write to the schedule.
    private func note(_ pushed: PushedOperation, _ credential: Credential) async {
        let before = scheduler.backend.state
        if pushed.refusedProtocolVersion { forgetGeneration() }
        if let failure = pushed.linkFailure {
            isProven = false
            liveFailures += 1
            let mayProve = !failure.forbidsRequests && !failure.hasFailedProof
            if liveFailures >= SyncLimits.circuitFailures || !mayProve {
                await note(.backend(failure), credential)
            }
        } else if pushed.requests > 0 {
            liveFailures = 0
        }
        // Without a token, one table may require a sign-in that the others do not require.
        if let stop = pushed.stop, !(stop == .signIn && credential == .none && isProven) {
            await note(stop, credential)
        }
        if pushed.state == .done { provenAt = clock.uptime() }
        // The loop proves the backend and sends what is left.
        if pushed.state != .done || pushed.follower != nil { signal.send(.write) }
        if scheduler.backend.state != before { await announceStatus() }
    }

    /// Ends the run in progress, and the live writes that wait for a place.
    func cancelRequests() {
        current?.cancel.set()
        liveCancel.set()
        liveSlots.close()
        liveCancel = CancelFlag()
    }

    /// Waits until the outcome of each live write is on disk.
    func awaitLiveWrites() async {
        while liveCount > 0 {
            await withCheckedContinuation { liveWaiters.append($0) }
        }
    }
}

/// The operations that are sent while their clients wait, and the clients whose writes were acknowledged before they
/// were sent.
final class LiveWrites: Sendable {
    private struct Hold {
        /// Whether a live write sends it; false while its client is about to ask for that.
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private struct State {
        var held: [OperationID: Hold] = [:]
        var acknowledged: [String: OperationID] = [:]
    }
    private let state = Mutex(State())

    /// The operations that no push may take.
    var held: Set<OperationID> { state.withLock { Set($0.held.keys) } }

    /// Holds an operation whose client will ask to have it sent.
    func expect(_ id: OperationID) {
        state.withLock { state in
            if state.held[id] == nil { state.held[id] = Hold() }
        }
    }

    /// Takes an operation; false if it is taken.
    func take(_ id: OperationID) -> Bool {
        state.withLock { state in
            var hold = state.held[id] ?? Hold()
            if hold.isTaken { return false }
            hold.isTaken = true
            state.held[id] = hold
            return true
        }
    }

    /// Leaves an operation to the push, unless another live write has taken it.
    func leave(_ id: OperationID) {
        state.withLock { state in
            if state.held[id]?.isTaken == false { state.held[id] = nil }
        }
    }

    /// Ends what ``take(_:)`` began.
    func release(_ id: OperationID) {
        let hold = state.withLock { $0.held.removeValue(forKey: id) }
        for waiter in hold?.waiting ?? [] { waiter.resume() }
    }

    /// Returns when no live write has the operation.
    func released(_ id: OperationID) async {
        await withCheckedContinuation { waiter in
            let waits = state.withLock { state in
                guard state.held[id]?.isTaken == true else { return false }
                state.held[id]?.waiting.append(waiter)
                return true
            }
            if !waits { waiter.resume() }
        }
    }

    /// The last write of a client that was acknowledged before it was sent.
    func lastAcknowledged(of client: String) -> OperationID? {
        state.withLock { $0.acknowledged[client] }
    }

    /// Beyond ``SyncLimits/acknowledgedClients`` all are forgotten: their writes are open in the store, and those
    /// of one item or table keep their order by that.
    func acknowledged(_ operation: OperationID, of client: String) {
        state.withLock { state in
            if state.acknowledged.count >= SyncLimits.acknowledgedClients {
                state.acknowledged = [:]
            }
            state.acknowledged[client] = operation
        }
    }
}

/// The operation of a write that is being committed. It is held before it is on disk, so that no push takes it first.
final class ExpectedWrite: Sendable {
    private let live: LiveWrites
    private let id = Mutex<OperationID?>(nil)

    init(_ live: LiveWrites) {
        self.live = live
    }

    /// Holds an operation instead of the one before; none after a failure.
    func become(_ operation: OperationID?) {
        let earlier = id.withLock { id in
            defer { id = operation }
            return id
        }
        if let earlier, earlier != operation { live.leave(earlier) }
        if let operation { live.expect(operation) }
    }
}

/// Decides whether a write is sent at once. Nothing may be open ahead of it:
///
/// 1. no operation of its item, and none of another item that has to close first (``Dependencies``);
/// 2. no earlier write of its client that was acknowledged before it was sent;
/// 3. no queue of its table, and no long queue at all: it would not be drained in time;
/// 4. no wait or pause of its table.
struct LiveOrder: InTransaction {
    let transaction: Transaction

    enum Finding: Sendable, Hashable {
        /// It is the first, and is held. With the waits of the tables.
        case first(TableOperation, [Int64: TableWait])
        case taken
        case inLine
    }

    /// - Parameter earlier: the last write of the client that was acknowledged before it was sent.
    func find(
        _ id: OperationID, after earlier: OperationID?, _ live: LiveWrites
    ) throws -> Finding {
        guard let operation = try queue.operation(id: id) else { return .inLine }
        guard operation.state == .queued else { return .taken }
        guard operation.successorOf == nil, operation.waitsFor == nil,
            let table = try tables.table(id: operation.tableID), !table.pause.stopsPushes
        else { return .inLine }
        let waits = try transaction.tableWaits.all(.push)
        if waits[table.id] != nil { return .inLine }
        if let earlier, earlier != id, try queue.operation(id: earlier)?.state.isOpen == true {
            return .inLine
        }
        let (ahead, held) = (try dueOperations.ahead(of: operation), live.held)
        let waiting = ahead.filter { !held.contains($0.id) }
        if ahead.count >= SyncLimits.aheadOfLive
            || waiting.contains(where: { $0.table == table.id })
        {
            return .inLine
        }
        if try tables.all().contains(where: { !$0.parents.isEmpty }),
            try Dependencies(transaction: transaction).prerequisite(of: operation) != nil
        {
            return .inLine
        }
        return live.take(id) ? .first(operation, waits) : .taken
    }
}

extension WriteVerdict {
    fileprivate init(standing: ItemStanding, _ sent: SyncEngine.Sent) {
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
