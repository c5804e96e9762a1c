import Storage
import TablesProtocol

/// The counts of every accepted write. All but the queue only grow.
public struct Ledger: Sendable, Hashable {
    /// Writes that were answered with success, and operations that resolutions made.
    public var accepted: Int64
    public var applied: Int64
    /// Writes merged into others or without effect.
    public var collapsed: Int64
    /// Operations that a person or a policy discarded.
    public var discarded: Int64
    public var queue: QueueCounts
    /// How often an operation came into conflict.
    public var conflicts: Int64 = 0
    /// How often an operation was quarantined.
    public var refusals: Int64 = 0
    /// How often an operation was sent again.
    public var retries: Int64 = 0

    /// Each count, with the name under which the store keeps it.
    static let counters: [(name: String, count: any WritableKeyPath<Ledger, Int64> & Sendable)] = [
        ("accepted", \.accepted), ("done", \.applied), ("collapsed", \.collapsed),
        ("discarded", \.discarded), ("conflict", \.conflicts), ("quarantined", \.refusals),
        ("retried", \.retries),
    ]

    /// Whether every accepted write is accounted for.
    public var balances: Bool {
        accepted == applied + collapsed + discarded + Int64(queue.open)
    }
}

/// Open operations by state.
public struct QueueCounts: Codable, Sendable, Hashable {
    public var queued = 0
    public var waiting = 0
    public var sending = 0
    public var unknown = 0
    public var conflict = 0
    public var quarantined = 0

    static let states: [OperationState: any WritableKeyPath<QueueCounts, Int> & Sendable] = [
        .queued: \.queued, .waiting: \.waiting, .sending: \.sending, .unknown: \.unknown,
        .conflict: \.conflict, .quarantined: \.quarantined,
    ]

    public var open: Int { Self.states.values.reduce(0) { $0 + self[keyPath: $1] } }

    public init() {}
}

/// The counters of writes and operations: `ledger` and `state_counts`.
struct LedgerTable {
    let transaction: Transaction

    /// The counts of every accepted write.
    /// - Throws: ``StoreError/damaged(_:)`` for a count beyond ``StoreLimits/largestCount``, which only
    ///   another program can have written: sums of such counts would stop the process.
    func read() throws -> Ledger {
        let found = try transaction.all("SELECT name, value FROM ledger") { row in
            (row[0] as String, try Self.checked(row[1]))
        }
        let counters = Dictionary(found, uniquingKeysWith: { $1 })
        var ledger = Ledger(
            accepted: 0, applied: 0, collapsed: 0, discarded: 0, queue: try queueCounts())
        for (name, count) in Ledger.counters { ledger[keyPath: count] = counters[name] ?? 0 }
        return ledger
    }

    /// Counts a write that needed no operation of its own.
    func countCollapsedWrite() throws { try count(["accepted", "collapsed"]) }

    /// Takes back the count of a refusal that repeats one which was counted, within the same transaction.
    func uncountRefusal() throws {
        try transaction.run("UPDATE ledger SET value = value - 1 WHERE name = 'quarantined'")
    }

    /// Adds one to each of these counters.
    func count(_ names: [String]) throws {
        for name in names {
            try transaction.run("UPDATE ledger SET value = value + 1 WHERE name = ?", [name])
        }
    }

    private static func checked(_ count: Int64) throws -> Int64 {
        guard (-StoreLimits.largestCount...StoreLimits.largestCount).contains(count) else {
            throw StoreError.damaged("A counter has a value that none can have.")
        }
        return count
    }

    /// The number of operations in each open state.
    /// - Throws: as ``read()`` does.
    func queueCounts() throws -> QueueCounts {
        var counts = QueueCounts()
        let found = try transaction.all("SELECT state, sum(count) FROM state_counts GROUP BY state")
        { row in
            (state: OperationState(rawValue: row[0]), count: Int(try Self.checked(row[1])))
        }
        for case (let state?, let count) in found {
            if let place = QueueCounts.states[state] { counts[keyPath: place] = count }
        }
        return counts
    }

    /// The operations that wait for a person, by the name of their table and their state.
    /// - Throws: as ``read()`` does.
    func decisionsByTable() throws -> [String: [OperationState: Int]] {
        let found = try transaction.all(
            """
            SELECT name, state, count FROM state_counts JOIN tables ON tables.id = table_id
            WHERE state IN ('conflict', 'quarantined')
            """
        ) { row in (row[0] as String, row[1] as String, Int(try Self.checked(row[2]))) }
        var counts: [String: [OperationState: Int]] = [:]
        for (table, state, count) in found {
            if let state = OperationState(rawValue: state) {
                counts[table, default: [:]][state] = count
            }
        }
        return counts
    }
}
