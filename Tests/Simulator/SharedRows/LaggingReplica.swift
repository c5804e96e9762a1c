import Backend
import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

/// A replica of a backend that is some seconds behind it. Reads are answered from either.
final class LaggingReplica: HTTPTransport {
    private struct Earlier {
        var copy: SQLiteRowStorage.Copy
        var until: Duration
    }
    /// How old a state may be from which a read is answered. A pull begins 10 s before its token.
    private static let lag = Duration.seconds(8)

    private let base: any HTTPTransport
    private let rows: SQLiteRowStorage
    private let replica: SQLiteRowStorage
    private let direct: InProcessTransport
    private let clock: ManualClock
    private let random: SeededRandom
    private let earlier = Mutex<[Earlier]>([])
    private let isBehind = Mutex(true)

    /// - Parameters:
    ///   - base: the backend itself.
    ///   - rows: where it has its rows.
    init(
        _ base: any HTTPTransport, of rows: SQLiteRowStorage, _ options: BackendOptions,
        clock: ManualClock, seed: UInt64
    ) throws {
        (self.base, self.rows, self.clock) = (base, rows, clock)
        random = SeededRandom(seed)
        replica = try SQLiteRowStorage()
        let backend = try TablesBackend(
            on: replica, options: options, clock: { clock.now() }, random: SeededRandom(seed))
        direct = InProcessTransport(backend, date: { clock.now() })
    }

    /// Ends the lag: every read is answered by the backend.
    func catchUp() { isBehind.withLock { $0 = false } }

    /// Keeps the present state, which the next write makes an earlier one.
    func noteState() {
        guard let copy = try? rows.copy() else { return }
        let now = clock.uptime()
        earlier.withLock { earlier in
            earlier.removeAll { $0.until + Self.lag < now }
            earlier.append(Earlier(copy: copy, until: now))
        }
    }

    func send(_ request: Request) async throws(TransportError) -> Response {
        guard request.head.method == .get, let response = try await old(request) else {
            return try await base.send(request)
        }
        return response
    }

    /// The answer from an earlier state; nil where there is none, and for a row that this state does not have: no
    /// client could tell that from a row that is gone.
    private func old(_ request: Request) async throws(TransportError) -> Response? {
        let now = clock.uptime()
        let recent = earlier.withLock { $0.filter { $0.until + Self.lag >= now } }
        guard isBehind.withLock({ $0 }), !recent.isEmpty, random.happens(0.5),
            begin(random.pick(recent).copy)
        else { return nil }
        if let id = request.readID, let table = TableName(request.table),
            (try? replica.get(id, in: table)) == nil
        {
            return nil
        }
        return try await direct.send(request)
    }

    private func begin(_ copy: SQLiteRowStorage.Copy) -> Bool {
        (try? replica.restore(copy)) != nil
    }
}
