import Backend
import SyncCore
import TablesProtocol

extension Simulation {
    /// Every fault ends; in a bounded number of rounds everything must be where it belongs.
    func heal() async throws {
        trace.note("heal")
        for proxy in proxies {
            proxy.transport.during(nil)
            proxy.transport.planCrash(in: nil)
            proxy.transport.faultRate = 0
            proxy.transport.partition(false)
            try await proxy.fillDisk(false)
            try await proxy.transport.deliverLate()
        }
        if plan.isAutomatic {
            // Long enough for every wait that an answer asked for.
            try await pass(.seconds(150))
            for proxy in proxies { await proxy.stop() }
        }
        var quiet = 0
        for _ in 0..<40 where quiet < 2 && faults.isEmpty {
            quiet += 1
            for proxy in proxies {
                for _ in 0..<20 { if try await !decide(proxy) { break } }
                advance(by: .seconds(700))
                proxy.answers = [:]
                let due = Set(try await proxy.operations(OperationState.open).map(\.id))
                await catchUp(proxy)
                try await check(proxy)
                try await checkLiveness(proxy, due)
                if try await !proxy.operations(OperationState.open).isEmpty { quiet = 0 }
            }
        }
        if faults.isEmpty { try await checkEnd() }
    }

    /// A run after which the store holds what the backend holds. One that went back has rows that a
    /// pull from a token on never asks for: a person has every row compared.
    private func catchUp(_ proxy: SimulatedProxy) async {
        _ = await proxy.engine.sync()
        if wentBack { _ = await proxy.engine.pull(table, reconcile: true) }
    }

    /// I8: with the backend in reach a run leaves nothing that was due and is not held back. What
    /// the run itself made, an update after an undelete for example, is the next run's.
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

    /// What must hold when all is quiet.
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

    /// I6: what is here is what is there.
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

    /// I13: a client with a store of its own holds what its proxy holds.
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

    /// I2: each side's own column has the last value that this side was promised.
    private func checkForced(_ remote: [Item]) {
        for id in model.ids {
            let row = remote.first { $0.id.text == id }
            if let proxy = model.deletedBy[id], model.writers[id] == [proxy],
                model.decided.isEmpty, row?.deleted == false
            {
                fault(.kept, "\(id) was deleted here and lives on", id)
            }
            guard !model.spoiled.contains(id) else { continue }
            guard let row, !row.deleted else {
                fault(.kept, "\(id) is lost", id)
                continue
            }
            for (column, value) in model.promised[id] ?? [:]
            where row.columns[column]?.string != value {
                let found = row.columns[column]?.text ?? "-"
                fault(.kept, "\(id).\(column) is \(found), not \(value)", id)
            }
        }
    }
}
