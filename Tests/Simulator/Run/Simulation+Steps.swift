import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

extension Simulation {
    func step(_ proxy: SimulatedProxy) async throws {
        if plan.isRestored, random.happens(0.08) { return try await keepOrRestore() }
        switch random.next(below: 100) {
        case 0..<10: try await insertHere(proxy)
        case 10..<30: try await updateHere(proxy)
        case 30..<36: try await deleteHere(proxy)
        case 36..<40: insertElsewhere()
        case 40..<50: try updateElsewhere()
        case 50..<53: deleteElsewhere()
        case 53..<73 where plan.isAutomatic:
            try await pass(.seconds(Int64(random.next(below: 60))))
        case 53..<73: await run(proxy)
        case 73..<78: advance(by: .seconds(Int64(random.next(below: 900))))
        case 78..<82: proxy.transport.faultRate = random.pick([0, 0.1, 0.3, 0.6, 0.9])
        // Not in automatic runs: a process that syncs by itself may crash between a write and its answer,
        // and the client could not tell whether the write was acknowledged.
        case 82..<86 where plan.isAutomatic: try await pass(.seconds(20))
        case 82..<86: proxy.transport.planCrash(in: Int(random.next(below: 12)))
        case 86..<88: proxy.transport.partition(random.happens(0.5))
        case 88..<93: try await decide(proxy)
        case 93..<95: try pull(proxy)
        case 95: try await undo(proxy)
        case 96: try await disturb(proxy)
        case 97: try await age(proxy)
        default:
            // A jump of the clock is not waiting.
            for proxy in proxies { proxy.waited = .zero }
            clock.jump(by: .seconds(random.pick([-86_400, 3600, 86_400])))
            trace.fault("clock jump")
        }
    }

    /// Acts while a request of a proxy is in flight.
    func interfere(_ number: Int) async {
        let proxy = proxies[number]
        // With parallel requests, another request may crash the process during the write.
        guard !proxy.transport.isDead, plan.parallelism == 1 || !proxy.transport.plansCrash else {
            return
        }
        trace.note("p\(number) meanwhile")
        do {
            switch random.next(below: 8) {
            case 0..<3: try await updateHere(proxy)
            case 3: try await insertHere(proxy)
            case 4: try await deleteHere(proxy)
            case 5: try updateElsewhere()
            default: try pull(proxy)
            }
        } catch {
            fault(.kept, "a step failed: \(error)")
        }
    }

    /// Advances the time for all proxies.
    func advance(by time: Duration) {
        for proxy in proxies { proxy.waited = .zero }
        clock.advance(by: time)
    }

    // MARK: Local clients

    private func insertHere(_ proxy: SimulatedProxy) async throws {
        let value = nextValue()
        let given = random.happens(0.6) ? try ItemID("i\(nextValue())") : nil
        var columns = Columns(stored: #"{"m0":"0","m1":"0","m2":"0","e":"0","s":"\#(value)"}"#)
        columns[proxy.column] = .string(value)
        let parent = plan.hasParents && random.happens(0.5) ? model.ids.last : nil
        if let parent { columns["p"] = .string(parent) }
        let outcome = await submit(.insert(ItemBody(id: given, columns: columns)), proxy)
        guard case .inserted(let item, _) = outcome else { return }
        let id = item.id.text
        trace.note("p\(proxy.number) insert \(id)")
        model.ids.append(id)
        if let parent { model.parents[id] = parent }
        for column in ["m0", "m1", "m2", "e"] {
            model.recordWrite(by: proxy.number, id, column, "0")
        }
        model.recordWrite(by: proxy.number, id, proxy.column, value)
        recordAnswer(item, proxy)
    }

    private func updateHere(_ proxy: SimulatedProxy) async throws {
        guard let id = pickID() else { return }
        let value = nextValue()
        var columns = Columns()
        columns[proxy.column] = .string(value)
        if random.happens(0.3) { columns["s"] = .string(value) }
        var (condition, seen) = (IfMatch.absent, Item?.none)
        if random.happens(0.3), let row = try await proxy.row(id) {
            (condition, seen) = (.versions([row.version]), row)
        }
        let outcome = await submit(.update(try ItemID(id), columns), proxy, condition)
        if case .preconditionFailed(let item) = outcome, let seen, !mayChange(seen, into: item) {
            fault(.answers, "\(id) refuses the version that was just read", id)
        }
        guard case .updated(let item, _) = outcome else { return }
        trace.note("p\(proxy.number) update \(id)")
        if item.columns[proxy.column] != .string(value) {
            fault(.ownWrites, "\(id) does not show what was written", id)
        }
        guard isLatest(item, proxy) else { return }
        model.recordWrite(by: proxy.number, id, proxy.column, value)
        // A write after a delete that was not sent restores the item.
        model.deletedBy[id] = nil
        recordAnswer(item, proxy)
    }

    /// Whether the item may have changed since it was read: only with concurrent writers, and only if its
    /// columns differ.
    private func mayChange(_ seen: Item, into item: Item) -> Bool {
        guard plan.parallelism > 1 || plan.isAutomatic else { return false }
        return item.deleted || !item.columns.changedNames(from: seen.columns).isEmpty
    }

    private func deleteHere(_ proxy: SimulatedProxy) async throws {
        guard let id = pickID() else { return }
        let outcome = await submit(.delete(try ItemID(id)), proxy)
        guard case .deleted(let item, _) = outcome else { return }
        trace.note("p\(proxy.number) delete \(id)")
        model.undetermined.insert(id)
        model.recordWrite(by: proxy.number, id)
        proxy.rewritten.insert(id)
        guard isLatest(item, proxy) else { return }
        // An undo of the sent delete cancels it, and a restored backend may have the row again.
        let isDetermined = !wasBackendRestored || !model.unordered.contains(id)
        model.deletedBy[id] = isDetermined ? proxy.number : nil
        proxy.shown[id] = .some(nil)
        proxy.answers[id] = nil
    }

    /// Whether no later write of the item is recorded. A client that waits for two answers may get the
    /// later one first.
    private func isLatest(_ item: Item, _ proxy: SimulatedProxy) -> Bool {
        let id = item.id.text
        guard proxy.lastRecorded[id].map({ $0 <= item.updatedAt }) ?? true else { return false }
        proxy.lastRecorded[id] = item.updatedAt
        return true
    }

    private func recordAnswer(_ item: Item, _ proxy: SimulatedProxy) {
        proxy.shown[item.id.text] = item.columns
        proxy.answers[item.id.text] = proxy.isRunning || plan.isAutomatic ? nil : item
        proxy.rewritten.insert(item.id.text)
    }

    private func submit(
        _ action: WriteAction, _ proxy: SimulatedProxy, _ condition: IfMatch = .absent
    ) async -> WriteOutcome {
        clock.advance(by: .milliseconds(5))
        let outcome = await proxy.store.submit(
            LocalWrite(table: table, action: action, conditions: Conditions(ifMatch: condition)))
        switch outcome {
        case .inserted, .updated, .deleted, .undeleted: proxy.acknowledged += 1
        case .missing, .gone, .preconditionFailed, .alreadyExists,
            .unknownWhilePartial, .tableNotAllowed, .invalid:
            break
        case .storageFull where proxy.isDiskFull: break
        case .storageFull, .readOnly, .busy, .failed:
            fault(.kept, "a write was answered \(outcome)")
        }
        return outcome
    }

    func pickID() -> String? { model.ids.isEmpty ? nil : random.pick(model.ids) }

    // MARK: The engine, the person, time

    func run(_ proxy: SimulatedProxy) async {
        trace.note("p\(proxy.number) run")
        proxy.answers = [:]
        proxy.isRunning = true
        switch random.next(below: 10) {
        case 0..<3: _ = await proxy.engine.push()
        case 3: _ = await proxy.engine.pull(table, reconcile: true)
        default: _ = await proxy.engine.sync()
        }
        proxy.isRunning = false
        proxy.answers = [:]
    }

    /// A person decides about a conflict or a refused operation.
    /// - Returns: false if there is none.
    @discardableResult
    func decide(_ proxy: SimulatedProxy) async throws -> Bool {
        guard let stuck = try await proxy.operations([.conflict, .quarantined]).first else {
            return false
        }
        proxy.answers = [:]
        if stuck.state == .quarantined {
            trace.note("p\(proxy.number) retry \(stuck.itemID)")
            _ = try await proxy.store.retry(stuck.id, revision: stuck.revision)
            return true
        }
        let choice = random.pick([Resolution.mine, .server, .merged])
        trace.note("p\(proxy.number) resolve \(stuck.itemID) \(choice)")
        model.undetermined.insert(stuck.itemID)
        model.decided.insert(stuck.id)
        proxy.shown[stuck.itemID] = nil
        _ = try await proxy.store.resolve(stuck.id, revision: stuck.revision, choice)
        return true
    }

    /// A client with its own store syncs.
    func pull(_ proxy: SimulatedProxy) throws {
        let client = random.pick(proxy.clients)
        trace.note("p\(proxy.number) client \(client.kind) syncs")
        try client.sync(proxy.store, table)
    }

    /// More than a month passes, and maintenance runs. I9: no open operation is removed because of its age.
    private func age(_ proxy: SimulatedProxy) async throws {
        for client in proxy.clients { try sync(client, proxy) }
        let before = Set(try await proxy.operations(OperationState.open).map(\.id))
        advance(by: .seconds(35 * 86_400))
        trace.note("p\(proxy.number) a month passes")
        if try await plantedBug?.runsMaintenance(of: proxy) != true {
            try await proxy.store.sweep()
        }
        if proxy.transport.isDead { return }
        var kept = OperationState.open
        // An automatic engine may settle operations meanwhile.
        if plan.isAutomatic { kept.formUnion([.done, .collapsed]) }
        let after = Set(try await proxy.operations(kept).map(\.id))
        if !before.isSubset(of: after) { fault(.age, "an open operation went by age") }
    }

    func sync(_ client: DownstreamClient, _ proxy: SimulatedProxy) throws {
        try client.sync(proxy.store, table)
    }
}

/// Rare steps: an undo, a forced purge, a full disk.
extension Simulation {
    /// A person undoes an entry of the latest history. The item's end state is then not determined.
    func undo(_ proxy: SimulatedProxy) async throws {
        let entries = try await proxy.store.lists.history(after: nil, limit: 20).items
            .filter(\.undoable)
        guard !entries.isEmpty else { return }
        let entry = random.pick(entries)
        trace.note("p\(proxy.number) undo \(entry.kind) \(entry.itemID ?? "")")
        trace.fault("undo")
        for id in entry.itemID.map({ [$0] }) ?? model.ids { stopExpecting(id, proxy) }
        _ = try await proxy.store.undo(entry.id).outcome
    }

    /// Purges the table by force, or fills or frees the disk.
    func disturb(_ proxy: SimulatedProxy) async throws {
        // On a full disk, rows are removed and pulled again later. A backend that is restored may have lost
        // them.
        if !plan.isRestored, proxy.isDiskFull || random.happens(0.6) {
            try await proxy.fillDisk(!proxy.isDiskFull)
            if proxy.isDiskFull { trace.fault("disk full") }
            return trace.note("p\(proxy.number) disk \(proxy.isDiskFull ? "full" : "free")")
        }
        let open = try await proxy.operations(OperationState.open)
        guard case .purged = await proxy.engine.purge(table, force: true) else { return }
        trace.note("p\(proxy.number) purge")
        trace.fault("purge")
        for operation in open {
            model.decided.insert(operation.id)
            stopExpecting(operation.itemID, proxy)
        }
        (proxy.shown, proxy.answers) = ([:], [:])
        // A purge leaves no tombstones, so clients with their own stores purge too.
        for client in proxy.clients { client.forget() }
    }

    /// Marks the end state of an item as not determined.
    private func stopExpecting(_ id: String, _ proxy: SimulatedProxy) {
        model.undetermined.insert(id)
        model.unordered.insert(id)
        model.deletedBy[id] = nil
        proxy.shown[id] = nil
        proxy.answers[id] = nil
        proxy.rewritten.insert(id)
    }
}
