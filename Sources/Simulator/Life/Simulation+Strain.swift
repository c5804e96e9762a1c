import SyncCore
import TablesProtocol

/// What happens seldom: a person goes back, a table is forgotten, the disk is full.
extension Simulation {
    /// A person undoes something of the latest history. What becomes of the item is no longer forced.
    func undo(_ proxy: SimulatedProxy) async throws {
        let entries = try await proxy.store.history(after: nil, limit: 20).items
            .filter(\.undoable)
        guard !entries.isEmpty else { return }
        let entry = random.pick(entries)
        trace.note("p\(proxy.number) undo \(entry.kind) \(entry.itemID ?? "")")
        trace.fault("undo")
        for id in entry.itemID.map({ [$0] }) ?? model.ids { release(id, proxy) }
        _ = try await proxy.store.undo(entry.id)
    }

    /// The table is forgotten by force, or the disk is full for a while.
    func strain(_ proxy: SimulatedProxy) async throws {
        // Rows that made room for others come back from the backend, but not from one that forgot
        // them as well.
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
            release(operation.itemID, proxy)
        }
        (proxy.shown, proxy.answers) = ([:], [:])
        // A purge leaves no tombstones: clients with stores of their own purge as well.
        for client in proxy.clients { client.forget() }
    }

    /// Nothing about an item is forced any more.
    private func release(_ id: String, _ proxy: SimulatedProxy) {
        model.spoiled.insert(id)
        model.released.insert(id)
        model.deletedBy[id] = nil
        proxy.shown[id] = nil
        proxy.answers[id] = nil
        proxy.rewritten.insert(id)
    }
}
