import Backend
import SyncCore
import TablesProtocol

/// The backend is put back to an earlier copy of itself.
extension Simulation {
    /// Keeps a copy of the backend, or puts it back to the one that was kept.
    ///
    /// What it had applied since is gone by no fault of the proxies, and what is promised of it is
    /// what the copy says. What is still open was never said to be there: it stays promised.
    func keepOrRestore() async throws {
        await executor.quiet()
        guard let copy else { return try keepCopy() }
        try restore(copy)
        self.copy = nil
        wentBack = true
        trace.note("others: the backend is put back")
        trace.fault("backend restored")
        var open: [String: [OperationSummary]] = [:]
        for proxy in proxies {
            // Connections to the old server end with it.
            proxy.weather.dropLate()
            proxy.answers = [:]
            for operation in try await proxy.operations(OperationState.open) {
                open[operation.itemID, default: []].append(operation)
            }
        }
        let rows = try remote()
        for id in model.ids {
            let row = rows.first { $0.id.text == id }
            promise(id, as: row, open: open[id] ?? [])
        }
    }

    private func promise(_ id: String, as row: Item?, open: [OperationSummary]) {
        if !open.contains(where: { $0.kind == .delete }) { model.deletedBy[id] = nil }
        // What the others wrote is what the copy says, or what an insert brings that is still open.
        model.promised[id]?["e"] = row?.columns["e"]?.string
        guard let row, !row.deleted else {
            // It may come back after an item that names it.
            model.released.insert(id)
            if !open.contains(where: { $0.kind == .insert }) { model.spoiled.insert(id) }
            return
        }
        for column in (model.promised[id] ?? [:]).keys {
            let isOpen = open.contains { $0.kind == .insert || $0.changedColumns.contains(column) }
            if !isOpen { model.promised[id]?[column] = row.columns[column]?.string }
        }
    }

    private func keepCopy() throws {
        copy = try backend.copy()
        trace.note("others: the backend is copied")
    }

    private func restore(_ copy: TablesBackend.Copy) throws { try backend.restore(copy) }
}
