import Backend
import SyncCore
import TablesProtocol

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
            for text in try await proxy.store.check() { fault(.file, "\(text)") }
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
