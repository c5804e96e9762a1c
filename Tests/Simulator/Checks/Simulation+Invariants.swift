import Backend
import SyncCore
import TablesProtocol

extension Simulation {
    /// Checks what must hold after every step.
    func check(_ proxy: SimulatedProxy) async throws {
        // Clients may write while an engine syncs by itself. The store and the answers are compared between
        // two such writes, not during one.
        if plan.isAutomatic { await executor.quiet() }
        let acknowledged = proxy.acknowledged
        let contents = try await proxy.contents()
        let (ledger, open, rows) = (contents.ledger, contents.open, contents.rows)
        if !ledger.balances { return fault(.ledger, "the ledger does not balance: \(ledger)") }
        if ledger.accepted < acknowledged {
            return fault(.kept, "an acknowledged write is not counted")
        }
        for operation in open { model.order[operation.id] = operation.seq }
        checkWrites(open, rows, proxy)
        checkAnswers(rows, proxy)
        try await checkConflicts(open, proxy)
    }

    /// I5 and I10: a client reads what it wrote, as long as the write was not sent.
    private func checkWrites(
        _ open: [OperationSummary], _ rows: [String: Item], _ proxy: SimulatedProxy
    ) {
        var changed: [String: Set<String>] = [:]
        var deleted: Set<String> = []
        for operation in open {
            changed[operation.itemID, default: []].formUnion(operation.changedColumns)
            if operation.kind == .delete {
                deleted.insert(operation.itemID)
            } else {
                deleted.remove(operation.itemID)
            }
        }
        for (id, written) in proxy.shown {
            guard let columns = changed[id] else { continue }
            if deleted.contains(id) {
                if rows[id] != nil { fault(.ownWrites, "\(id) was deleted here and is shown", id) }
                continue
            }
            guard let written, let row = rows[id] else { continue }
            for name in columns where row.columns[name] != written[name] {
                fault(.pending, "\(id).\(name) is not what the client wrote", id)
            }
        }
    }

    /// I11: the row that a client reads is the answer that it got, until sync changes the row.
    private func checkAnswers(_ rows: [String: Item], _ proxy: SimulatedProxy) {
        for (id, answer) in proxy.answers {
            guard let row = rows[id] else {
                fault(.answers, "\(id) was answered and cannot be read", id)
                continue
            }
            if row.version != answer.version || row.updatedAt != answer.updatedAt
                || row.columns.text != answer.columns.text
            {
                fault(.answers, "\(id) is read otherwise than it was answered", id)
            }
        }
    }

    /// I7: a conflict ends only by a recorded decision, or by a client's own write.
    private func checkConflicts(_ open: [OperationSummary], _ proxy: SimulatedProxy) async throws {
        let now = open.filter { $0.state == .conflict }
        let ids = Set(now.map(\.id))
        let gone = proxy.conflicts.filter { !ids.contains($0.key) }
        if !gone.isEmpty {
            let history = try await proxy.store.lists.history(after: nil, limit: 500).items
            for (id, item) in gone where !proxy.rewritten.contains(item) {
                let isOnRecord = history.contains { entry in
                    entry.operationID == id && [.resolved, .discarded].contains(entry.kind)
                }
                // On a full disk the oldest history makes room for writes, even that of today.
                let madeRoom = proxy.isDiskFull && model.decided.contains(id)
                if !isOnRecord, !madeRoom {
                    fault(.decisions, "nobody decided the conflict of \(item)", item)
                }
            }
            // A write to the item may have ended the conflict. The order of its operation is then not
            // determined.
            model.decided.formUnion(gone.keys)
        }
        for operation in now where proxy.conflicts[operation.id] == nil {
            proxy.rewritten.remove(operation.itemID)
        }
        proxy.conflicts = Dictionary(uniqueKeysWithValues: now.map { ($0.id, $0.itemID) })
        model.undetermined.formUnion(now.map(\.itemID))
    }
}

/// The invariants that every simulation run checks.
package enum Invariant: String, CaseIterable, Sendable {
    case ledger = "I1"
    case kept = "I2"
    case once = "I3"
    case order = "I4"
    case ownWrites = "I5"
    case convergence = "I6"
    case decisions = "I7"
    case liveness = "I8"
    case age = "I9"
    case pending = "I10"
    case answers = "I11"
    case file = "I12"
    case downstream = "I13"
    case parents = "I14"

    /// The invariant as one sentence.
    package var sentence: String {
        switch self {
        case .ledger: "Every accepted write is accounted for."
        case .kept: "No acknowledged write is lost."
        case .once: "No operation takes effect twice at the backend."
        case .order: "The operations of an item take effect in their order."
        case .ownWrites: "A client reads what it wrote."
        case .convergence: "In the end the store and the backend hold the same."
        case .decisions: "No conflict goes away unless somebody decided it."
        case .liveness: "With the backend in reach, what is due is tried within 30 s."
        case .age: "No open operation goes by age."
        case .pending: "What comes from the backend does not overwrite a local change."
        case .answers: "What a client was answered is what it reads, until sync changes it."
        case .file: "The store's file is sound."
        case .downstream: "A client with a store of its own misses no change."
        case .parents: "A declared parent is inserted before its children and deleted after them."
        }
    }
}

/// The expected state, recorded independently of the code under test.
struct Model {
    /// The ids that local clients or other writers have inserted.
    var ids: [String] = []
    /// For each id and each column that only one side writes: the last value that was acknowledged.
    var expectedValues: [String: [String: String]] = [:]
    /// Items whose end state is not determined: deleted, or decided by a person.
    var undetermined: Set<String> = []
    /// Items whose last local write was a delete, and the number of its proxy.
    var deletedBy: [String: Int] = [:]
    /// The sides that ever wrote an item: the number of a proxy, or -1 for other writers.
    var writers: [String: Set<Int>] = [:]
    /// The parent of each child.
    var parents: [String: String] = [:]
    /// Items whose order of operations is not determined, because a person changed their history.
    var unordered: Set<String> = []
    /// Operations that a person decided about. They may be sent again.
    var decided: Set<String> = []
    /// The `seq` of every operation that was seen.
    var order: [String: Int64] = [:]

    /// Records a write of a side.
    mutating func recordWrite(
        by side: Int, _ id: String, _ column: String? = nil, _ value: String = ""
    ) {
        writers[id, default: []].insert(side)
        if let column { expectedValues[id, default: [:]][column] = value }
    }
}

/// Checks on the effects at the backend: how often each operation took effect, and in which order.
extension Simulation {
    /// An operation and the number of its proxy.
    struct Made {
        var proxy: Int
        var kind: OperationKind
        var seq: Int64
    }

    /// Every operation of the stores, by id.
    func operations() async throws -> [String: Made] {
        var made: [String: Made] = [:]
        for proxy in proxies {
            for operation in try await proxy.operations(Set(OperationState.allCases)) {
                made[operation.id] = Made(
                    proxy: proxy.number, kind: operation.kind, seq: operation.seq)
            }
        }
        return made
    }

    /// I3 and I4: no operation takes effect twice, and the operations of one item take effect in order.
    func checkEffects(_ effects: [Effect], _ made: [String: Made], _ remote: [Item]) {
        for (id, operation) in made { model.order[id] = operation.seq }
        var kinds: [String: [EffectKind]] = [:]
        var last: [String: Int64] = [:]
        for effect in effects {
            guard let key = effect.idempotencyKey else { continue }
            kinds[key, default: []].append(effect.kind)
            // A refused insert that is deleted locally becomes a delete, because an earlier request of it
            // may still arrive.
            let isOnce = kinds[key].map { $0.count == 1 || $0 == [.insert, .delete] } ?? true
            if !isOnce, !model.decided.contains(key), effect.kind != .undelete {
                fault(.once, "\(effect.itemID) took effect twice by one operation", effect.itemID)
            }
            guard let seq = model.order[key], let proxy = made[key]?.proxy else { continue }
            let place = "\(proxy) \(effect.itemID)"
            if let before = last[place], before > seq {
                fault(.order, "\(effect.itemID) was written out of order", effect.itemID)
            }
            last[place] = max(last[place] ?? 0, seq)
        }
        let foreign = remote.map(\.id.text).filter { !model.ids.contains($0) }
        if !foreign.isEmpty { fault(.once, "rows that nobody made: \(foreign)") }
    }

    /// I14: of the operations of one proxy, a parent is inserted before its child, and a child that was
    /// deleted first is deleted before its parent.
    func checkParents(_ effects: [Effect], _ made: [String: Made]) {
        var inserts: [String: (place: Int64, by: Made)] = [:]
        var deletes: [String: (place: Int64, by: Made)] = [:]
        for effect in effects {
            guard let by = effect.idempotencyKey.flatMap({ made[$0] }) else { continue }
            switch effect.kind {
            case .insert:
                if inserts[effect.itemID] == nil { inserts[effect.itemID] = (effect.number, by) }
            case .delete: deletes[effect.itemID] = (effect.number, by)
            case .update, .replace, .undelete: break
            }
        }
        for (child, parent) in model.parents
        where model.unordered.isDisjoint(with: [child, parent]) {
            if let its = inserts[child], let needed = inserts[parent],
                its.by.proxy == needed.by.proxy, its.place < needed.place
            {
                fault(.parents, "\(child) was inserted before \(parent), which it names", child)
            }
            if let its = deletes[child], let needed = deletes[parent],
                its.by.proxy == needed.by.proxy, its.by.seq < needed.by.seq,
                needed.place < its.place
            {
                fault(.parents, "\(parent) was deleted before \(child), which names it", parent)
            }
        }
    }
}

extension Simulation {
    /// Ends every fault. After a bounded number of rounds every operation must be settled.
    func heal() async throws {
        trace.note("heal")
        for proxy in proxies {
            proxy.transport.setConcurrentAction(nil)
            proxy.transport.planCrash(in: nil)
            proxy.transport.faultRate = 0
            proxy.transport.partition(false)
            try await proxy.fillDisk(false)
            try await proxy.transport.deliverLate()
        }
        if plan.isAutomatic {
            // Longer than every `Retry-After`.
            try await pass(.seconds(150))
            for proxy in proxies { await proxy.stop() }
        }
        var quietRounds = 0
        for _ in 0..<40 where quietRounds < 2 && faults.isEmpty {
            quietRounds += 1
            for proxy in proxies {
                for _ in 0..<20 { if try await !decide(proxy) { break } }
                advance(by: .seconds(700))
                proxy.answers = [:]
                let due = Set(try await proxy.operations(OperationState.open).map(\.id))
                await catchUp(proxy)
                try await check(proxy)
                try await checkLiveness(proxy, due)
                if try await !proxy.operations(OperationState.open).isEmpty { quietRounds = 0 }
            }
        }
        if faults.isEmpty { try await checkEnd() }
    }

    /// Syncs the store with the backend. After a restore of the backend, a pull from a token would not find
    /// all rows, so every row is compared.
    private func catchUp(_ proxy: SimulatedProxy) async {
        _ = await proxy.engine.sync()
        if wasBackendRestored { _ = await proxy.engine.pull(table, reconcile: true) }
    }

    /// I8: with the backend in reach, a run leaves no operation that was due and does not wait for another
    /// one. An operation that the run itself made, such as an update after an undelete, belongs to the next
    /// run.
    private func checkLiveness(_ proxy: SimulatedProxy, _ due: Set<String>) async throws {
        let open = try await proxy.operations(OperationState.open)
        for operation in open
        where operation.state == .queued && operation.attempts == 0 && due.contains(operation.id) {
            let isHeld = open.contains { $0.itemID == operation.itemID && $0.seq < operation.seq }
            if !isHeld {
                fault(.liveness, "\(operation.itemID) was due and not tried", operation.itemID)
            }
        }
    }

    /// Checks the end state.
    private func checkEnd() async throws {
        let remote = try remote()
        for proxy in proxies {
            let open = try await proxy.operations(OperationState.open)
            for operation in open {
                let reason = operation.reason ?? ""
                fault(.liveness, "stuck: \(operation.itemID) \(operation.state) \(reason)")
            }
            for text in try await proxy.store.health.check() { fault(.file, "\(text)") }
            let rows = try await proxy.rows()
            checkConvergence(rows, remote, proxy)
            for client in proxy.clients {
                try sync(client, proxy)
                checkClient(client, rows)
            }
        }
        checkForced(remote)
        let made = try await operations()
        let effects = try effects()
        checkEffects(effects, made, remote)
        checkParents(effects, made)
    }

    /// I6: the store and the backend have the same rows.
    private func checkConvergence(
        _ rows: [String: Item], _ remote: [Item], _ proxy: SimulatedProxy
    ) {
        for id in Set(remote.map(\.id.text)).union(rows.keys).sorted() {
            let there = remote.first { $0.id.text == id && !$0.deleted }
            switch (rows[id], there) {
            case (nil, nil): break
            case (let here?, let there?):
                let differing = here.columns.changedNames(from: there.columns)
                if !differing.isEmpty { fault(.convergence, "\(id) differs in \(differing)", id) }
            case (nil, _?): fault(.convergence, "\(id) is not at p\(proxy.number)", id)
            case (_?, nil): fault(.convergence, "\(id) is only at p\(proxy.number)", id)
            }
        }
    }

    /// I13: a client with its own store has the rows of its proxy.
    private func checkClient(_ client: DownstreamClient, _ rows: [String: Item]) {
        for id in Set(rows.keys).union(client.rows.keys).sorted() {
            guard let here = rows[id], let there = client.rows[id] else {
                fault(.downstream, "the \(client.kind) client missed that \(id) came or went", id)
                continue
            }
            if !here.columns.changedNames(from: there.columns).isEmpty
                || here.version != there.version
            {
                fault(.downstream, "the \(client.kind) client missed a change of \(id)", id)
            }
        }
    }

    /// I2: each side's own column has the last value that was acknowledged to this side.
    private func checkForced(_ remote: [Item]) {
        for id in model.ids {
            let row = remote.first { $0.id.text == id }
            if let proxy = model.deletedBy[id], model.writers[id] == [proxy],
                model.decided.isEmpty, row?.deleted == false
            {
                fault(.kept, "\(id) was deleted here and lives on", id)
            }
            guard !model.undetermined.contains(id) else { continue }
            guard let row, !row.deleted else {
                fault(.kept, "\(id) is lost", id)
                continue
            }
            for (column, value) in model.expectedValues[id] ?? [:]
            where row.columns[column]?.string != value {
                let found = row.columns[column]?.text ?? "-"
                fault(.kept, "\(id).\(column) is \(found), not \(value)", id)
            }
        }
    }
}
