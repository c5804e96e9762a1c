import Storage
import Synchronization
import TablesProtocol

/// The operations that are sent while their clients wait, and the clients whose writes were acknowledged before they
/// were sent.
final class LiveWrites: Sendable {
    private struct Hold {
        /// Whether a live write sends it; false while its client is about to ask for that.
        var isTaken = false
        /// Closed at its release; nil where nothing waits for that.
        var end: Permits?
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
        state.withLock { $0.held.removeValue(forKey: id) }?.end?.close()
    }

    /// Returns when no live write has the operation.
    func released(_ id: OperationID) async {
        let end = state.withLock { state -> Permits? in
            guard let hold = state.held[id], hold.isTaken else { return nil }
            let end = hold.end ?? Permits(0)
            state.held[id]?.end = end
            return end
        }
        _ = await end?.take()
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
