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
            let history = try await proxy.store.history(after: nil, limit: 500).items
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
