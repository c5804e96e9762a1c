import ReferenceBackend
import TablesProtocol
import TestSupport

@testable import SyncCore

extension Simulation {
    /// The weather clears; in a bounded number of rounds everything must be where it belongs.
    func heal() async throws {
        trace.note("heal")
        for proxy in proxies {
            proxy.weather.during(nil)
            proxy.weather.planCrash(in: nil)
            proxy.weather.faultRate = 0
            proxy.weather.part(false)
            try await proxy.fillDisk(false)
            try await proxy.weather.deliverLate()
        }
        var quiet = 0
        for _ in 0..<40 where quiet < 2 && faults.isEmpty {
            quiet += 1
            for proxy in proxies {
                for _ in 0..<20 { if try await !decide(proxy) { break } }
                clock.advance(by: .seconds(700))
                proxy.answers = [:]
                let due = Set(try await proxy.operations(OperationState.open).map(\.id))
                _ = await proxy.engine.sync()
                try await check(proxy)
                try await checkLiveness(proxy, due)
                if try await !proxy.operations(OperationState.open).isEmpty { quiet = 0 }
            }
        }
        if faults.isEmpty { try await checkEnd() }
    }

    /// I8: with the backend in reach a run leaves nothing that was due and is not held back. What
    /// the run itself made, an update after an undelete for example, is the next run's.
    private func checkLiveness(_ proxy: SimulatedProxy, _ due: Set<String>) async throws {
        let open = try await proxy.operations(OperationState.open)
        for operation in open
        where operation.state == .queued && operation.attempts == 0 && due.contains(operation.id) {
            let isHeld = open.contains { $0.itemID == operation.itemID && $0.seq < operation.seq }
            if !isHeld {
                fault("I8: \(operation.itemID) was due and not tried", operation.itemID)
            }
        }
    }

    /// What must hold when all is quiet.
    private func checkEnd() async throws {
        let remote = try await backend.items(in: table)
        for proxy in proxies {
            let open = try await proxy.operations(OperationState.open)
            for operation in open {
                let reason = operation.reason ?? ""
                fault("I8: stuck: \(operation.itemID) \(operation.state) \(reason)")
            }
            for text in try await proxy.store.check() { fault("I12: \(text)") }
            let rows = try await proxy.rows()
            checkConvergence(rows, remote, proxy)
            for client in proxy.clients {
                try sync(client, proxy)
                checkClient(client, rows)
            }
        }
        checkForced(remote)
        try await checkEffects(remote)
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
                if !differing.isEmpty { fault("I6: \(id) differs in \(differing)", id) }
            case (nil, _?): fault("I6: \(id) is not at p\(proxy.number)", id)
            case (_?, nil): fault("I6: \(id) is only at p\(proxy.number)", id)
            }
        }
    }

    /// I13: a client with a store of its own holds what its proxy holds.
    private func checkClient(_ client: DownstreamClient, _ rows: [String: Item]) {
        for id in Set(rows.keys).union(client.rows.keys).sorted() {
            guard let here = rows[id], let there = client.rows[id] else {
                fault("I13: the \(client.kind) client missed that \(id) came or went", id)
                continue
            }
            if !here.columns.changedNames(from: there.columns).isEmpty
                || here.version != there.version
            {
                fault("I13: the \(client.kind) client missed a change of \(id)", id)
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
                fault("I2: \(id) was deleted here and lives on", id)
            }
            guard !model.spoiled.contains(id) else { continue }
            guard let row, !row.deleted else {
                fault("I2: \(id) is lost", id)
                continue
            }
            for (column, value) in model.promised[id] ?? [:]
            where row.columns[column]?.string != value {
                let found = row.columns[column]?.text ?? "-"
                fault("I2: \(id).\(column) is \(found), not \(value)", id)
            }
        }
    }

    /// I3 and I4: no operation takes effect twice, and those of one item in their order.
    private func checkEffects(_ remote: [Item]) async throws {
        var counts: [String: Int] = [:]
        var last: [String: Int64] = [:]
        var sent: [String: Int] = [:]
        for proxy in proxies {
            for operation in try await proxy.operations(Set(OperationState.allCases)) {
                model.order[operation.id] = operation.seq
                sent[operation.id] = proxy.number
            }
        }
        for effect in try await backend.effects() {
            guard let key = effect.idempotencyKey else { continue }
            counts[key, default: 0] += 1
            if counts[key, default: 0] > 1, !model.decided.contains(key), effect.kind != .undelete {
                fault("I3: \(effect.itemID) took effect twice by one operation", effect.itemID)
            }
            guard let seq = model.order[key], let proxy = sent[key] else { continue }
            let place = "\(proxy) \(effect.itemID)"
            if let before = last[place], before > seq {
                fault("I4: \(effect.itemID) was written out of order", effect.itemID)
            }
            last[place] = max(last[place] ?? 0, seq)
        }
        let foreign = remote.map(\.id.text).filter { !model.ids.contains($0) }
        if !foreign.isEmpty { fault("I3: rows that nobody made: \(foreign)") }
    }
}
