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
            guard let table = try transaction.table(name) else { return ([String](), Int64(0)) }
            return (
                try transaction.setAsideIDs(
                    of: table, before: begun, limit: SyncLimits.setAsideAsked),
                try transaction.changeCount()
            )
        }
        for id in ids where !cancel.isSet {
            let answer = await remote.list(name, .row(named: id))
            try await store.write { transaction in
                guard let table = try transaction.table(name) else { return }
                try transaction.noteAsked(id, of: table)
                guard case .rows(let page) = answer else { return }
                if page.elements.isEmpty { return try transaction.takeBack(id, of: table) }
                guard let element = page.elements.first(where: { $0.idText == id }) else { return }
                _ = try transaction.take(element, to: table, asOf: change)
            }
            guard case .rows = answer else { return }
        }
    }
}

extension Transaction {
    /// Takes an element of a page: applies a row, sets aside what is none.
    /// - Parameter hasSetAside: rows of the table are set aside, this one perhaps among them.
    func take(
        _ element: ListElement, to table: TableRecord, asOf change: Int64, hasSetAside: Bool = true
    ) throws -> AppliedRow {
        switch element {
        case .row(let row):
            if hasSetAside { try takeBack(row.id.text, of: table) }
            return try apply(row, to: table, asOf: change)
        case .odd(let odd):
            try setAside(odd, of: table)
            return .unchanged
        }
    }
}
