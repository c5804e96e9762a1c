import Synchronization
import TablesProtocol

/// The tables that the backend fails for, as one push sees them.
///
/// Nothing of such a table is sent while its wait lasts. After it, one operation at a time is tried until
/// the backend has taken one: of thousands that wait, each wait costs one request.
final class TableGates: Sendable {
    private enum Gate {
        /// Its wait is over; `isInFlight`: an operation is being tried.
        case trying(isInFlight: Bool)
        /// It waits; until when is not known before the failure is committed.
        case closed(until: Instant?)
    }
    /// By the tables' numbers; the other tables are open.
    private let gates: Mutex<[Int64: Gate]>

    init(_ waits: [Int64: TableWait], now: Instant) {
        gates = Mutex(
            waits.mapValues {
                $0.until > now ? .closed(until: $0.until) : .trying(isInFlight: false)
            })
    }

    /// Whether an operation of the table may be started now. One that is tried counts as started.
    func admit(_ table: Int64) -> Bool {
        gates.withLock { gates in
            switch gates[table] {
            case nil: return true
            case .closed, .trying(isInFlight: true): return false
            case .trying(isInFlight: false):
                gates[table] = .trying(isInFlight: true)
                return true
            }
        }
    }

    /// Whether the table has failed, so that nothing more of it is sent.
    func isClosed(_ table: Int64) -> Bool {
        gates.withLock { if case .closed = $0[table] { true } else { false } }
    }

    /// Whether the table failed before and no success is known since.
    func hasFailed(_ table: Int64) -> Bool { gates.withLock { $0[table] != nil } }

    /// Closes a table after a failure.
    func close(_ table: Int64, until: Instant? = nil) {
        gates.withLock { $0[table] = .closed(until: until) }
    }

    /// Opens a table, because the backend has answered a write to it.
    func open(_ table: Int64) { gates.withLock { $0[table] = nil } }

    /// Records that an operation has ended, so that the next one of its table may be tried.
    func end(_ table: Int64) {
        gates.withLock { gates in
            if case .trying = gates[table] { gates[table] = .trying(isInFlight: false) }
        }
    }

    /// The tables of which an operation is being tried.
    var tried: Set<Int64> {
        gates.withLock { gates in
            let tried = gates.filter { _, gate in
                if case .trying(isInFlight: true) = gate { true } else { false }
            }
            return Set(tried.keys)
        }
    }

    /// Begins to try the tables whose waits are over.
    /// - Returns: whether there is one.
    func retry(now: Instant) -> Bool {
        gates.withLock { gates in
            let over = gates.filter { _, gate in
                if case .closed(let until?) = gate { until <= now } else { false }
            }
            for table in over.keys { gates[table] = .trying(isInFlight: false) }
            return !over.isEmpty
        }
    }
}
