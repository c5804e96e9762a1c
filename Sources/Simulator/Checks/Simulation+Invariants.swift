import SyncCore
import TablesProtocol

extension Simulation {
    /// What must hold after every step.
    func check(_ proxy: SimulatedProxy) async throws {
        // Clients may write while an engine syncs by itself: what a look shows and what they were
        // told is compared between two such writes, not in the middle of one.
        if plan.isAutomatic { await executor.quiet() }
        let acknowledged = proxy.acknowledged
        let sight = try await proxy.look()
        let (ledger, open, rows) = (sight.ledger, sight.open, sight.rows)
        if !ledger.balances { return fault(.ledger, "the ledger does not balance: \(ledger)") }
        if ledger.accepted < acknowledged {
            return fault(.kept, "an acknowledged write is not counted")
        }
        for operation in open { model.order[operation.id] = operation.seq }
        checkWrites(open, rows, proxy)
        checkAnswers(rows, proxy)
        try await checkConflicts(open, proxy)
    }

    /// I5, I10: what a client was promised is what it reads, as long as it is not sent.
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
        for (id, promised) in proxy.shown {
            guard let columns = changed[id] else { continue }
            if deleted.contains(id) {
                if rows[id] != nil { fault(.ownWrites, "\(id) was deleted here and is shown", id) }
                continue
            }
            guard let promised, let row = rows[id] else { continue }
            for name in columns where row.columns[name] != promised[name] {
                fault(.pending, "\(id).\(name) is not what the client wrote", id)
            }
        }
    }

    /// I11: the answer that a client got is the row that it reads, until sync changes it.
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

    /// I7: a conflict leaves only by a decision that is on record, or by a client's own write.
    private func checkConflicts(_ open: [OperationSummary], _ proxy: SimulatedProxy) async throws {
        let now = open.filter { $0.state == .conflict }
        let ids = Set(now.map(\.id))
        let gone = proxy.conflicts.filter { !ids.contains($0.key) }
        if !gone.isEmpty {
            let history = try await proxy.store.history(after: nil, limit: 500).items
            for (id, item) in gone where !proxy.rewritten.contains(item) {
                let isOnRecord = history.contains { entry in
                    entry.operationID == id && [.resolved, .discarded].contains(entry.kind)
                }
                // On a full disk the oldest records make room for writes, even those of today.
                let madeRoom = proxy.isDiskFull && model.decided.contains(id)
                if !isOnRecord, !madeRoom {
                    fault(.decisions, "nobody decided the conflict of \(item)", item)
                }
            }
            // An edit of the item may have ended it; its operation is then no longer forced.
            model.decided.formUnion(gone.keys)
        }
        for operation in now where proxy.conflicts[operation.id] == nil {
            proxy.rewritten.remove(operation.itemID)
        }
        proxy.conflicts = Dictionary(uniqueKeysWithValues: now.map { ($0.id, $0.itemID) })
        model.spoiled.formUnion(now.map(\.itemID))
    }
}
