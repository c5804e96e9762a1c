import GRDB
import Storage
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct LedgerPropertyTests {
    /// Random clients, outcomes, restarts and operators: after every step the ledger balances, every
    /// item's chain is whole, and only items with open operations are dirty.
    @Test(arguments: Array<UInt64>(1...12))
    func `every accepted write is accounted for after any sequence`(_ seed: UInt64) async throws {
        let fixture = try StoreFixture(seed: seed)
        var random = Random(state: seed)
        var steps: [String] = []
        for _ in 0..<150 {
            let step = try await Self.step(fixture, &random)
            steps.append(step)
            let faults = try await fixture.store.read { try Self.faults($0) }
            #expect(faults.isEmpty, "seed \(seed), after \(steps.suffix(12)): \(faults)")
            if !faults.isEmpty { return }
        }
        let ledger = try await fixture.store.ledger()
        #expect(ledger.accepted > 20, "seed \(seed): \(ledger)")
    }

    struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 32) | (state << 32)
        }
        mutating func pick<T>(_ values: [T]) -> T {
            values[Int.random(in: 0..<values.count, using: &self)]
        }
    }

    static func step(_ fixture: StoreFixture, _ random: inout Random) async throws -> String {
        let id = random.pick(["a", "b", "c"])
        let columns = #"{"\#(random.pick(["x", "y"]))":\#(random.pick([1, 2, 3]))}"#
        switch Int.random(in: 0..<12, using: &random) {
        case 0...1:
            let body = ItemBody(id: try ItemID(id), columns: try Columns(parsing: columns))
            return "insert \(id) \(await fixture.write(.insert(body)).name)"
        case 2...3:
            let changes = try Columns(parsing: columns)
            return "update \(id) \(await fixture.write(.update(try ItemID(id), changes)).name)"
        case 4:
            return "delete \(id) \(await fixture.write(.delete(try ItemID(id))).name)"
        case 5:
            let action: WriteAction =
                Bool.random(using: &random)
                ? .undelete(try ItemID(id))
                : .replace(try ItemID(id), try Columns(parsing: columns))
            return "undelete or replace \(id) \(await fixture.write(action).name)"
        case 6:
            let row = try fixture.remote(
                id, columns, version: "p\(random.next() % 1000)",
                deleted: random.pick([true, false, false]))
            return "pull \(id) \(try await fixture.pull(row))"
        case 7:
            guard let sent = try await fixture.send() else { return "nothing due" }
            return "send \(sent.kind) \(sent.itemID)"
        case 8...9:
            return try await settle(fixture, &random, columns)
        case 10:
            return try await act(fixture, &random, columns)
        default:
            try await fixture.store.write { transaction in
                try transaction.attempts.recover()
                try transaction.dueOperations.makeAllDue()
            }
            return "restart"
        }
    }

    static func settle(
        _ fixture: StoreFixture, _ random: inout Random, _ columns: String
    ) async throws -> String {
        let sending = try await fixture.store.lists.operations(
            OperationFilter(states: [.sending]), after: nil, limit: 9)
        guard let operation = sending.items.first else { return "nothing on its way" }
        let deleted = operation.kind == .delete || random.pick([true, false, false])
        let row = try fixture.remote(
            operation.itemID, columns, version: "s\(random.next() % 1000)", deleted: deleted)
        let live = try fixture.remote(
            operation.itemID, columns, version: "s\(random.next() % 1000)")
        let outcome = random.pick([
            PushOutcome.applied(row: operation.kind == .delete ? row : live, RowOrigin()),
            .applied(row: operation.kind == .delete ? nil : live, RowOrigin(isWhole: false)),
            .postponed(
                Postponement(
                    cause: .own, maybeApplied: Bool.random(using: &random), reason: "",
                    until: .earliest)),
            .unknown(reason: "", until: .earliest), .rebased(onto: row, reason: ""),
            .rebased(onto: nil, reason: ""), .conflict(server: row, reason: ""),
            .conflict(server: nil, reason: ""),
            .quarantined(reason: "", maybeApplied: Bool.random(using: &random)),
            .discarded(server: row, reason: ""), .discarded(server: nil, reason: ""),
        ])
        return "settle \(try await fixture.settle(operation.seq, outcome)) by \(outcome)"
    }

    static func act(
        _ fixture: StoreFixture, _ random: inout Random, _ columns: String
    ) async throws -> String {
        let open = try await fixture.store.lists.operations(
            OperationFilter(), after: nil, limit: 50)
        guard !open.items.isEmpty else { return "nothing open" }
        let operation = random.pick(open.items)
        let edit = try Columns(parsing: columns)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return "retry \(try await fixture.store.retry(operation.id))"
        case 1: return "discard \(try await fixture.store.discard(operation.id))"
        case 2:
            return
                "edit \(try await fixture.store.edit(operation.id, revision: operation.revision, columns: edit))"
        case 3:
            let history = try await fixture.store.lists.history(after: nil, limit: 20)
            return "undo \(try await fixture.store.undo(random.pick(history.items).id).outcome)"
        default:
            let resolution = random.pick([
                Resolution.mine, .server, .merged, .both, .edited(edit),
            ])
            return
                "resolve \(resolution) \(try await fixture.store.resolve(operation.id, revision: operation.revision, resolution))"
        }
    }

    static func faults(_ transaction: Transaction) throws -> [String] {
        var faults: [String] = []
        func none(_ sentence: String, _ sql: String) throws {
            if try transaction.integer(sql) != nil { faults.append(sentence) }
        }
        if try !transaction.ledger.read().balances { faults.append("the ledger does not balance") }
        try none(
            "a row's first operation is not open or not its own",
            """
            SELECT 1 FROM items LEFT JOIN operations ON operations.seq = items.pending
              AND operations.closed_at IS NULL AND operations.item_id = items.id
            WHERE items.pending IS NOT NULL AND operations.seq IS NULL
            """)
        try none(
            "an open operation is in no chain",
            """
            SELECT 1 FROM operations WHERE closed_at IS NULL AND successor_of IS NULL
              AND seq NOT IN (SELECT pending FROM items WHERE pending IS NOT NULL)
            """)
        try none(
            "a successor waits for a closed operation",
            """
            SELECT 1 FROM operations s JOIN operations p ON p.seq = s.successor_of
            WHERE s.closed_at IS NULL AND p.closed_at IS NOT NULL
            """)
        try none(
            "a clean row has a shadow",
            "SELECT 1 FROM items WHERE pending IS NULL AND shadow_columns IS NOT NULL")
        try none(
            "the counters disagree with the rows",
            """
            SELECT 1 FROM state_counts WHERE count <> (SELECT count(*) FROM operations
              WHERE operations.table_id = state_counts.table_id
              AND operations.state = state_counts.state)
            """)
        try none(
            "an update sends nothing",
            """
            SELECT 1 FROM operations WHERE closed_at IS NULL AND kind = 'update'
              AND changed_columns = '[]' AND state = 'queued'
            """)
        return faults
    }
}
