import TablesProtocol

extension PullPass {
    /// Asks the backend once more for rows that were set aside, a few at each pull.
    ///
    /// 1. One that comes well is applied and no longer set aside.
    /// 2. One that still cannot be taken keeps its place with its present text.
    /// 3. An empty list says that the backend has it no more. Any other answer says nothing.
    func askForSetAside(since begun: Instant) async throws(StoreError) {
        guard request.isWhole else { return }
        let name = request.table
        let (ids, change) = try await store.read { transaction in
            guard let table = try transaction.tables.table(name) else {
                return ([String](), Int64(0))
            }
            return (
                try transaction.setAsideRows.ids(
                    of: table, before: begun, limit: SyncLimits.setAsideAsked),
                try transaction.counters.changeCount()
            )
        }
        for id in ids where !cancel.isSet {
            let answer = await remote.list(name, .row(named: id))
            try await store.write { transaction in
                guard let table = try transaction.tables.table(name) else { return }
                try transaction.setAsideRows.noteAsked(id, of: table)
                guard case .rows(let page) = answer else { return }
                if page.elements.isEmpty {
                    return try transaction.setAsideRows.release(id, of: table)
                }
                guard let element = page.elements.first(where: { $0.idText == id }) else { return }
                _ = try PulledRows(transaction: transaction).take(element, to: table, asOf: change)
            }
            guard case .rows = answer else { return }
        }
    }
}
