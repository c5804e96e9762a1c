import SyncCore
import TablesProtocol

extension SharedRows {
    func step(_ proxy: SharedRowsProxy) async throws {
        switch random.next(below: 100) {
        case 0..<34: try await writeHere(proxy)
        case 34..<54: writeElsewhere()
        case 54..<72: try await sync(proxy)
        case 72..<88: try await actAsPerson(proxy)
        case 88..<95: changeFaultPlan(of: proxy)
        case 95: proxy.transport.faultPlan.hasUnusableRow.toggle()
        case 96:
            // Only for a table that existed: a table that was never there is a different case.
            guard try await proxy.store.tables().contains(where: \.isComplete) else { return }
            proxy.transport.faultPlan.hasNoTable.toggle()
        case 97: try await syncBehindPortal(proxy)
        default: clock.advance(by: .seconds(Int64(random.next(below: 900))))
        }
    }

    /// Changes how often requests fail, and which wrong answers the backend gives.
    func changeFaultPlan(of proxy: SharedRowsProxy) {
        var faultPlan = proxy.transport.faultPlan
        faultPlan.faultRate = random.pick([0, 0, 0.2, 0.6, 1])
        // With both wrong answers at once, no client could find out whether a row exists.
        faultPlan.ignoresFilters = random.happens(0.25)
        faultPlan.hidesRows = !faultPlan.ignoresFilters && random.happens(0.2)
        hasAnsweredWrongly =
            hasAnsweredWrongly || faultPlan.ignoresFilters || faultPlan.hidesRows
        proxy.transport.faultPlan = faultPlan
        note("p\(proxy.number) \(faultPlan)")
    }

    /// Syncs, and checks that a push which the backend accepted unchanged is invisible to clients.
    private func sync(_ proxy: SharedRowsProxy) async throws {
        note("p\(proxy.number) sync")
        let (before, begin) = (try await proxy.rows(), trace.count)
        let run = random.happens(0.5) ? await proxy.engine.push() : await proxy.engine.sync()
        for (id, item) in try await proxy.rows() {
            guard let old = before[id], ValueHistory.row(old) == ValueHistory.row(item) else {
                continue
            }
            // A concurrent writer may have changed the row and changed it back.
            let wasWritten = trace[begin...].contains { line in
                line.contains(" \(id) ") && !line.contains(" /tables/")
            }
            if old.version != item.version, !wasWritten {
                fault("\(id) has another version, and shows nothing else", id)
            }
        }
        guard run.state == .complete, proxy.transport.faultPlan.faultRate == 0 else { return }
        let waiting = try await proxy.store.operations(
            OperationFilter(states: [.waiting, .unknown]), after: nil, limit: 100
        ).items
        // An operation without attempts may wait for another item, or for a time that the backend named.
        if let one = waiting.first(where: { $0.attempts > 0 }) {
            fault("a sync is complete, and \(one.itemID) waits: \(one.reason ?? "")", one.itemID)
        }
    }

    /// Refuses the first pulls of a new table.
    func refuseFirstPulls() async throws {
        for proxy in proxies {
            proxy.transport.faultPlan.refusesPages = true
            _ = await proxy.engine.pull(table)
            if try await proxy.store.tables().contains(where: \.isComplete) {
                fault("a table is complete that was never pulled")
            }
            proxy.transport.faultPlan.refusesPages = false
        }
    }

    /// Another server answers the first list after a failure, although the backend is known.
    private func syncBehindPortal(_ proxy: SharedRowsProxy) async throws {
        guard let known = await proxy.engine.knownGeneration else { return }
        proxy.transport.faultPlan.faultRate = 1
        _ = await proxy.engine.sync()
        proxy.transport.faultPlan.faultRate = 0
        await proxy.engine.forgetProof()
        proxy.transport.faultPlan.strayLists = 1
        _ = await proxy.engine.push()
        proxy.transport.faultPlan.strayLists = 0
        if let now = await proxy.engine.knownGeneration, now != known {
            fault("a stray list changed the generation")
        }
    }

    /// Ends every fault, lets the person decide what is left, and checks the end state.
    ///
    /// 1. Every operation is sent. Only those that need a person's decision stay open.
    /// 2. No operation is refused, because the backend of these runs accepts everything.
    /// 3. The store and the backend have the same rows, except for items with open operations.
    /// 4. Every acknowledged value was at the backend, is in an open operation, or was given up.
    func end() async throws {
        isInterfering = true
        for proxy in proxies { proxy.transport.faultPlan = SharedRowsTransport.FaultPlan() }
        proxies[0].transport.faultPlan.hasUnusableRow = true
        for round in 0..<6 {
            clock.advance(by: .seconds(3600))
            for proxy in proxies {
                let run = await proxy.engine.sync()
                note(
                    "p\(proxy.number) ends: \(run.state) \(run.reason ?? "") \(run.pull.map { $0.error ?? "" })"
                )
                if round < 3 { for _ in 0..<8 { try await decide(proxy) } }
            }
        }
        for proxy in proxies {
            _ = await proxy.engine.pull(table, reconcile: true)
            let contents = try await proxy.store.contents(of: table)
            if !contents.ledger.balances {
                fault("the ledger does not balance: \(contents.ledger)")
            }
            var open: Set<String> = []
            for one in contents.open {
                open.insert(one.itemID)
                switch one.state {
                case .conflict: break
                // Not every generation can undelete rows, and none can after a hard delete.
                case .quarantined
                where one.kind == .undelete
                    && history.existed("false", ValueHistory.deleted, of: one.itemID):
                    break
                // A taken id cannot be read back from a backend that ignores filters or hides rows.
                case .quarantined where one.kind == .insert && hasAnsweredWrongly: break
                case .quarantined:
                    fault("\(one.itemID) was refused: \(one.reason ?? "")", one.itemID)
                case .queued
                where contents.open.contains { $0.itemID == one.itemID && $0.seq < one.seq }:
                    break
                default: fault("\(one.itemID) is \(one.state): \(one.reason ?? "")")
                }
            }
            try await compare(proxy, contents.rows, open)
        }
    }

    private func compare(
        _ proxy: SharedRowsProxy, _ local: [String: Item], _ open: Set<String>
    ) async throws {
        let remote = remote()
        for id in ids where !open.contains(id) {
            let (here, there) = (ValueHistory.row(local[id]), ValueHistory.row(remote[id]))
            let bothGone =
                here[ValueHistory.deleted] == "true" && there[ValueHistory.deleted] == "true"
            if !bothGone, here != there { fault("\(id) is \(here) here and \(there) there", id) }
        }
        guard plan.conflictPolicy != .server, plan.proxies == 1 else { return }
        for (id, columns) in expected where !open.contains(id) && !givenUp.contains(id) {
            if columns[ValueHistory.deleted] == "true" {
                let isThere = remote[id].map { !$0.deleted } ?? false
                if isThere { fault("\(id) was deleted here and is there", id) }
                continue
            }
            for (name, value) in columns where value != ValueHistory.null {
                if !history.existed(value, name, of: id) {
                    fault("\(id).\(name) = \(value) was accepted and is nowhere", id)
                }
            }
        }
    }
}
