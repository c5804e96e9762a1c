import SyncCore
import TablesProtocol

// The actions of the person: decide, edit, retry, discard, undo.
extension SharedRows {
    /// Takes one action of the person.
    func actAsPerson(_ proxy: SharedRowsProxy) async throws {
        if plan.actsInBulk, other.happens(0.1) { return try await actInBulk(proxy) }
        switch random.next(below: 4) {
        case 0..<2: try await decide(proxy)
        case 2: try await act(proxy)
        default: try await undo(proxy)
        }
    }

    func decide(_ proxy: SharedRowsProxy) async throws {
        let open = try await proxy.store.lists.conflicts(after: nil, limit: 50).items
        guard var detail = open.isEmpty ? nil : random.pick(open) else { return }
        if random.happens(plan.decidesLater) {
            // Reads the conflict, and decides about this version of it later.
            return earlierConflicts.append((proxy.number, detail))
        }
        let old = earlierConflicts.last { $0.proxy == proxy.number && $0.detail.id == detail.id }
        if random.happens(0.4), let old { detail = old.detail }
        let side = proxy.number
        let id = try await proxy.name(of: detail.itemID, in: detail.table)
        if detail.server == nil, history.existed("false", ValueHistory.deleted, of: id),
            !history.existed("true", ValueHistory.deleted, of: id)
        {
            fault("\(id) counts as gone and never was", id)
        }
        let shown = shown(by: detail)
        var intended = intended(by: detail, id)
        let choice: Resolution
        switch random.next(below: 5) {
        case 0: choice = .mine
        case 1: choice = .server
        case 2: choice = .merged
        // Both would be two rows with one name.
        case 3 where !plan.hasIntegerIDs(table(of: id)): choice = .both
        case 3: choice = .mine
        default:
            let name = random.pick(columns(of: id))
            let value = value()
            choice = .edited(Columns(stored: "{\"\(name)\":\(value)}"))
            intended[name] = value
            intended[ValueHistory.deleted] = "false"
        }
        // Recorded before the outcome is known, because the engine may send the decision at once.
        let before = history
        history.recordShown(shown, of: id, to: side, columns: columns(of: id))
        intend(intended, id, by: side)
        let outcome = try await proxy.store.resolve(detail.id, revision: detail.revision, choice)
        guard case .done = outcome else { return history = before }
        note("p\(side) resolve \(id) \(choice) with \(shown) in sight for \(intended)")
        giveUp(id)
        try await adoptNewItems(proxy)
    }

    /// The backend's row as a conflict shows it.
    private func shown(by conflict: ConflictDetail) -> ValueHistory.Row {
        var shown = conflict.server.map { row($0) } ?? [:]
        shown[ValueHistory.deleted] =
            conflict.serverDeleted || conflict.server == nil ? "true" : "false"
        return shown
    }

    /// What a person intends who keeps mine.
    private func intended(by conflict: ConflictDetail, _ id: String) -> ValueHistory.Row {
        let mine = conflict.mine.map { row($0) } ?? [:]
        let base = conflict.base.map { row($0) } ?? [:]
        var intended: ValueHistory.Row = [
            ValueHistory.deleted: conflict.mineDeleted ? "true" : "false"
        ]
        for name in columns(of: id)
        where mine[name] != base[name] || conflict.server == nil || conflict.serverDeleted {
            intended[name] = mine[name] ?? ValueHistory.null
        }
        return intended
    }

    /// Discards, retries or decides all operations of some states at once.
    private func actInBulk(_ proxy: SharedRowsProxy) async throws {
        let action = other.pick([
            BulkAction.discard, .retry, .resolve(.server), .resolve(.mine), .resolve(.merged),
        ])
        let states = other.pick([OperationState.open, [.quarantined], [.conflict]])
        let filter = OperationFilter(states: states)
        for one in try await proxy.store.lists.operations(filter, after: nil, limit: 200).items {
            giveUp(try await proxy.name(of: one.itemID, in: one.table))
        }
        if case .resolve = action {
            for detail in try await proxy.store.lists.conflicts(after: nil, limit: 200).items {
                let id = try await proxy.name(of: detail.itemID, in: detail.table)
                history.recordShown(
                    shown(by: detail), of: id, to: proxy.number, columns: columns(of: id))
                intend(intended(by: detail, id), id, by: proxy.number)
                giveUp(id)
            }
        }
        let outcome = try await proxy.store.bulk(action, filter, dryRun: false)
        note("p\(proxy.number) bulk \(action) \(states.map(\.rawValue).sorted()): \(outcome)")
    }

    func act(_ proxy: SharedRowsProxy) async throws {
        let open = try await proxy.store.lists.operations(
            OperationFilter(states: OperationState.open), after: nil, limit: 100
        ).items
        guard !open.isEmpty else { return }
        let one = random.pick(open)
        let id = try await proxy.name(of: one.itemID, in: one.table)
        switch random.next(below: 3) {
        case 0:
            _ = try await proxy.store.retry(one.id, revision: one.revision)
        case 1:
            guard case .done = try await edit(one, id, proxy) else { return }
        default:
            note("p\(proxy.number) discard \(id) \(one.kind) \(one.state)")
            let values = one.kind == .delete && !inserting.contains(id) ? buried[id] : nil
            let outcome = try await proxy.store.discard(one.id, revision: one.revision)
            giveUp(id)
            if case .done = outcome { unburied[id] = values }
            return
        }
        giveUp(id)
    }

    /// Sets a column of an operation's item.
    func edit(
        _ one: OperationSummary, _ id: String, _ proxy: SharedRowsProxy
    ) async throws -> ActionOutcome {
        let rows = try await proxy.rows()
        var intended: ValueHistory.Row = [random.pick(columns(of: id)): value()]
        let text = intended.map { "\"\($0.key)\":\($0.value)" }.joined()
        let outcome = try await proxy.store.edit(
            one.id, revision: one.revision, columns: Columns(stored: "{\(text)}"))
        guard case .done = outcome else { return outcome }
        note("p\(proxy.number) edit \(id) \(intended)")
        history.recordShown(
            ValueHistory.row(rows[id]), of: id, to: proxy.number, columns: columns(of: id))
        intended[ValueHistory.deleted] = "false"
        intend(intended, id, by: proxy.number)
        return outcome
    }

    /// A person or a policy has decided on an item: nothing more is expected of what its clients wrote.
    func giveUp(_ name: String) {
        givenUp.insert(name)
        expected[name] = nil
        buried[name] = nil
        unburied[name] = nil
        changes[name, default: 0] += 1
    }

    func undo(_ proxy: SharedRowsProxy) async throws {
        let entries = try await proxy.store.lists.history(after: nil, limit: 20).items.filter(
            \.undoable)
        guard !entries.isEmpty else { return }
        let entry = random.pick(entries)
        guard let itemID = entry.itemID, let table = entry.table else { return }
        let id = try await proxy.name(of: itemID, in: table)
        let now = ValueHistory.row(try await proxy.rows()[id])
        let before = history
        history.recordShown(now, of: id, to: proxy.number, columns: columns(of: id))
        for intended in intents(of: entry, now, id) {
            intend(intended, id, by: proxy.number)
        }
        guard case .done = try await proxy.store.undo(entry.id).outcome else {
            return history = before
        }
        note("p\(proxy.number) undo \(entry.kind) \(id) with \(now) in sight")
        giveUp(id)
        try await adoptNewItems(proxy)
    }

    /// The rows that an undo may intend. For a write: the columns that it changed and that still have its
    /// values. For a decision: every column before or after it.
    private func intents(
        of entry: HistoryEntry, _ now: ValueHistory.Row, _ id: String
    ) -> [ValueHistory.Row] {
        let (before, after) = (whole(entry.before, of: id), whole(entry.after, of: id))
        guard entry.kind == .write else {
            return [before, after].flatMap { side in
                ["true", "false"].map { flag in side.merging([ValueHistory.deleted: flag]) { $1 } }
            }
        }
        let names = columns(of: id) + [ValueHistory.deleted]
        let isAsLeft = names.allSatisfy { now[$0] ?? ValueHistory.null == after[$0] }
        if before[ValueHistory.deleted] != after[ValueHistory.deleted] {
            return isAsLeft || now[ValueHistory.deleted] == "true" ? [before] : []
        }
        let kept = names.filter { name in
            name == ValueHistory.deleted
                || before[name] != after[name] && now[name] ?? ValueHistory.null == after[name]
        }
        return [before.filter { kept.contains($0.key) }]
    }

    private func whole(_ row: Columns?, of id: String) -> ValueHistory.Row {
        var whole: ValueHistory.Row = [ValueHistory.deleted: row == nil ? "true" : "false"]
        let values = row.map { self.row($0) } ?? [:]
        for name in columns(of: id) { whole[name] = values[name] ?? ValueHistory.null }
        return whole
    }

    /// Adds the items that a decision has inserted.
    private func adoptNewItems(_ proxy: SharedRowsProxy) async throws {
        for table in tables where !plan.hasIntegerIDs(table) {
            let rows = try await proxy.store.rows(of: [table])[table] ?? []
            for item in rows.map(\.item) where !item.deleted {
                let name = plan.name(of: item, in: table)
                if names.contains(name) { continue }
                names.append(name)
                tablesOfCopies[name] = table
                intend(ValueHistory.row(item), name, by: proxy.number)
            }
        }
    }

    private func row(_ columns: Columns) -> ValueHistory.Row {
        var row = ValueHistory.columns(columns)
        for name in ["id", "version", "createdAt", "updatedAt", "deleted"] { row[name] = nil }
        return row
    }
}
