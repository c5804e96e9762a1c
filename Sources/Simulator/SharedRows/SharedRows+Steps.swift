import SyncCore
import TablesProtocol

extension SharedRows {
    func step(_ proxy: SharedRowsProxy) async throws {
        switch random.next(below: 100) {
        case 0..<34: try await writeHere(proxy)
        case 34..<54: writeElsewhere()
        case 54..<72: try await sync(proxy)
        case 72..<88: try await takePart(proxy)
        case 88..<95: changeMood(of: proxy)
        case 95: proxy.transport.mood.hasOddRow.toggle()
        case 96:
            // A table that was never there is another thing.
            guard try await proxy.store.tables().contains(where: \.isComplete) else { return }
            proxy.transport.mood.hasNoTable.toggle()
        case 97: try await goBehindAPortal(proxy)
        default: clock.advance(by: .seconds(Int64(random.next(below: 900))))
        }
    }

    /// Changes how often requests fail, and which wrong answers the backend gives.
    func changeMood(of proxy: SharedRowsProxy) {
        var mood = proxy.transport.mood
        mood.faultRate = random.pick([0, 0, 0.2, 0.6, 1])
        // With both wrong answers at once no client could find out whether a row exists.
        mood.ignoresFilters = random.happens(0.25)
        mood.hidesRows = !mood.ignoresFilters && random.happens(0.2)
        hasAnsweredWrongly = hasAnsweredWrongly || mood.ignoresFilters || mood.hidesRows
        proxy.transport.mood = mood
        note("p\(proxy.number) \(mood)")
    }

    /// Syncs, and looks whether a push that the backend took as it was can be seen.
    private func sync(_ proxy: SharedRowsProxy) async throws {
        note("p\(proxy.number) sync")
        let (before, begin) = (try await proxy.rows(), trace.count)
        let run = random.happens(0.5) ? await proxy.engine.push() : await proxy.engine.sync()
        for (id, item) in try await proxy.rows() {
            guard let old = before[id], ValueHistory.row(old) == ValueHistory.row(item) else {
                continue
            }
            // What was written meanwhile may have changed it and changed it back.
            let wasWritten = trace[begin...].contains { line in
                line.contains(" \(id) ") && !line.contains(" /tables/")
            }
            if old.version != item.version, !wasWritten {
                fault("\(id) has another version, and shows nothing else", id)
            }
        }
        guard run.state == .complete, proxy.transport.mood.faultRate == 0 else { return }
        let waiting = try await proxy.store.operations(
            OperationFilter(states: [.waiting, .unknown]), after: nil, limit: 100
        ).items
        // What waits for another item, or for a time that the backend named, is not meant.
        if let one = waiting.first(where: { $0.attempts > 0 }) {
            fault("a sync is complete, and \(one.itemID) waits: \(one.reason ?? "")", one.itemID)
        }
    }

    /// The first pulls of a new table are refused.
    func beginRefused() async throws {
        for proxy in proxies {
            proxy.transport.mood.refusesPages = true
            _ = await proxy.engine.pull(table)
            if try await proxy.store.tables().contains(where: \.isComplete) {
                fault("a table is complete that was never pulled")
            }
            proxy.transport.mood.refusesPages = false
        }
    }

    /// Something else answers the first list after a failure, where the backend was known before.
    private func goBehindAPortal(_ proxy: SharedRowsProxy) async throws {
        guard let known = await proxy.engine.knownGeneration else { return }
        proxy.transport.mood.faultRate = 1
        _ = await proxy.engine.sync()
        proxy.transport.mood.faultRate = 0
        await proxy.engine.forgetProof()
        proxy.transport.mood.strayLists = 1
        _ = await proxy.engine.push()
        proxy.transport.mood.strayLists = 0
        if let now = await proxy.engine.knownGeneration, now != known {
            fault("a stray list changed the generation")
        }
    }

    /// All is well again, and the person decides what is left.
    ///
    /// 1. Everything is sent; nothing waits any more but what a person has to decide.
    /// 2. Nothing was refused: the backend of these runs takes everything.
    /// 3. Both sides hold the same whole rows, where nothing is open.
    /// 4. What clients were promised was at the backend, or is open, or was given up.
    func end() async throws {
        isInterfering = true
        for proxy in proxies { proxy.transport.mood = SharedRowsTransport.Mood() }
        proxies[0].transport.mood.hasOddRow = true
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
            let sight = try await proxy.store.sight(of: table)
            if !sight.ledger.balances { fault("the ledger does not balance: \(sight.ledger)") }
            var open: Set<String> = []
            for one in sight.open {
                open.insert(one.itemID)
                switch one.state {
                case .conflict: break
                // Not every generation restores rows, and none a row that was deleted for good.
                case .quarantined
                where one.kind == .undelete
                    && history.wasThere("false", ValueHistory.deleted, of: one.itemID):
                    break
                // An id that is taken cannot be read back from a backend that ignores filters or hides rows.
                case .quarantined where one.kind == .insert && hasAnsweredWrongly: break
                case .quarantined:
                    fault("\(one.itemID) was refused: \(one.reason ?? "")", one.itemID)
                case .queued
                where sight.open.contains { $0.itemID == one.itemID && $0.seq < one.seq }:
                    break
                default: fault("\(one.itemID) is \(one.state): \(one.reason ?? "")")
                }
            }
            try await compare(proxy, sight.rows, open)
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
        for (id, columns) in promised where !open.contains(id) && !givenUp.contains(id) {
            if columns[ValueHistory.deleted] == "true" {
                let isThere = remote[id].map { !$0.deleted } ?? false
                if isThere { fault("\(id) was deleted here and is there", id) }
                continue
            }
            for (name, value) in columns where value != ValueHistory.null {
                if !history.wasThere(value, name, of: id) {
                    fault("\(id).\(name) = \(value) was accepted and is nowhere", id)
                }
            }
        }
    }
}
