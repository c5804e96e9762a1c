import ReferenceBackend
import TablesProtocol

@testable import SyncCore

extension Simulation {
    /// What must hold after every step.
    func check() async throws {
        let ledger = try await store.ledger()
        if !ledger.balances { fault("I1: the ledger does not balance: \(ledger)") }
        if ledger.accepted < model.acknowledged {
            fault("I2: an acknowledged write is not counted")
        }
        let open = try await operations(OperationState.open)
        try await checkWrites(open)
        checkConflicts(open)
    }

    /// I2, I5, I10, I11: what a client was promised is what it reads, as long as it is not sent.
    private func checkWrites(_ open: [OperationSummary]) async throws {
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
        for (id, promised) in model.shown {
            guard let columns = changed[id] else { continue }
            let row = try await row(id)
            if deleted.contains(id) {
                if row != nil { fault("I5: \(id) was deleted here and is shown", id) }
                continue
            }
            guard let promised, let row else { continue }
            for name in columns where row.columns[name] != promised[name] {
                fault("I10: \(id).\(name) is not what the client wrote", id)
            }
        }
    }

    /// I7: a conflict leaves only by a decision.
    private func checkConflicts(_ open: [OperationSummary]) {
        let now = Set(open.filter { $0.state == .conflict }.map(\.id))
        for id in model.conflicts.subtracting(now) {
            // An edit of the item may end or change it; its item is then no longer forced.
            model.decided.insert(id)
        }
        model.conflicts = now
        for operation in open where operation.state == .conflict {
            model.spoiled.insert(operation.itemID)
        }
    }

    /// What must hold when all is quiet.
    func checkEnd() async throws {
        let open = try await operations(OperationState.open)
        if !open.isEmpty {
            fault("I8: stuck: \(open.map { "\($0.itemID) \($0.state) \($0.reason ?? "")" })")
        }
        for text in try await store.check() { fault("I12: \(text)") }
        let remote = try await backend.items(in: table)
        try await checkConvergence(remote)
        checkForced(remote)
        try await checkEffects()
    }

    /// I6: what is here is what is there.
    private func checkConvergence(_ remote: [Item]) async throws {
        let ids = Set(remote.map(\.id.text)).union(model.ids)
        for id in ids.sorted() {
            let there = remote.first { $0.id.text == id && !$0.deleted }
            let here = try await row(id)
            switch (here, there) {
            case (nil, nil): break
            case (let here?, let there?):
                let differing = here.columns.changedNames(from: there.columns)
                if !differing.isEmpty { fault("I6: \(id) differs in \(differing)", id) }
            case (nil, _?): fault("I6: \(id) is only at the backend", id)
            case (_?, nil): fault("I6: \(id) is only here", id)
            }
        }
    }

    /// I2: each side's own column has the last value that this side was promised.
    private func checkForced(_ remote: [Item]) {
        for id in model.ids {
            let row = remote.first { $0.id.text == id }
            if model.deletedHere.contains(id), !model.touchedElsewhere.contains(id),
                model.decided.isEmpty, row?.deleted == false
            {
                fault("I2: \(id) was deleted here and lives on", id)
            }
            guard !model.spoiled.contains(id) else { continue }
            guard let row, !row.deleted else {
                fault("I2: \(id) is lost", id)
                continue
            }
            if row.columns["m"]?.string != model.mine[id] {
                fault(
                    "I2: \(id).m is \(row.columns["m"]?.text ?? "-"), not \(model.mine[id] ?? "-")",
                    id)
            }
            if row.columns["e"]?.string != model.theirs[id] {
                fault(
                    "I2: \(id).e is \(row.columns["e"]?.text ?? "-"), not \(model.theirs[id] ?? "-")",
                    id)
            }
        }
    }

    /// I3 and I4: no operation takes effect twice, and those of one item in their order.
    private func checkEffects() async throws {
        var seqs: [String: Int64] = [:]
        for operation in try await operations(Set(OperationState.allCases)) {
            seqs[operation.id] = operation.seq
        }
        var counts: [String: Int] = [:]
        var last: [String: Int64] = [:]
        for effect in try await backend.effects() {
            guard let key = effect.idempotencyKey else { continue }
            counts[key, default: 0] += 1
            if counts[key, default: 0] > 1, !model.decided.contains(key), effect.kind != .undelete {
                fault("I3: \(effect.itemID) took effect twice by one operation")
            }
            guard let seq = seqs[key] else { continue }
            if let before = last[effect.itemID], before > seq {
                fault("I4: \(effect.itemID) was written out of order")
            }
            last[effect.itemID] = max(last[effect.itemID] ?? 0, seq)
        }
        let foreign = try await backend.items(in: table).filter { !model.ids.contains($0.id.text) }
        if !foreign.isEmpty { fault("I3: rows that nobody made: \(foreign.map(\.id.text))") }
    }
}
