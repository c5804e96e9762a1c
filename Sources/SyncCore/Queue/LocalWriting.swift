import TablesProtocol

/// Makes local writes.
struct LocalWriting {
    let transaction: Transaction
    private var counters: StoreCounters { transaction.counters }
    private var items: ItemTable { transaction.items }
    private var ledger: LedgerTable { transaction.ledger }
    private var queue: OperationQueue { transaction.queue }
    private var tables: TableRecords { transaction.tables }
    private var collapsing: Collapsing { Collapsing(transaction: transaction) }

    /// Makes one local write: row, operation, base and history together. Nothing is changed unless
    /// the outcome is one of the first four.
    func perform(_ write: LocalWrite, _ rules: WriteRules) throws -> WriteOutcome {
        guard rules.allows(write.table) else { return .tableNotAllowed }
        switch write.action {
        case .insert(let body): return try insert(body, write, rules)
        case .update(let id, let columns): return try change(id, .update, columns, write, rules)
        case .replace(let id, let columns): return try change(id, .replace, columns, write, rules)
        case .restore(let id, let columns): return try restore(id, .replace, columns, write, rules)
        case .patch(let id, let columns, deleted: true):
            return try changeAndDelete(id, columns, write, rules)
        case .patch(let id, let columns, deleted: false):
            return try bringBack(id, columns, write, rules)
        case .delete(let id): return try change(id, .delete, Columns(), write, rules)
        case .undelete(let id): return try change(id, .undelete, Columns(), write, rules)
        }
    }

    private func insert(
        _ body: ItemBody, _ write: LocalWrite, _ rules: WriteRules
    ) throws -> WriteOutcome {
        let table = try tables.make(write.table)
        if body.id != nil, table.idKind == .integer {
            return .invalid("A value cannot be specified for property 'id'.")
        }
        // A number is a string's text there, as databases of the real servers have it.
        let given = body.id.map { ItemID(stored: $0.text, kind: table.idKind) }
        let id = try given ?? newID(in: table, write.generation)
        let found = try items.row(table, exactly: id)
        let chain = try queue.chain(of: found)
        if let found, !found.deleted || (chain.isEmpty && found.serverDeleted) {
            return .alreadyExists(found.item)
        }
        if let found, try isTaken(by: chain, write, table) { return .alreadyExists(found.item) }
        let edit = ItemEdit(
            table: table, row: found ?? ItemRow(new: id, tableID: table.id), chain: chain,
            kind: .insert, columns: try tables.respell(body.columns, in: table), write: write,
            madeID: body.id == nil)
        return try collapsing.make(edit, rules)
    }

    /// Whether an id whose deletion waits to be sent is taken for a client, as the real servers say it
    /// is once they have deleted softly. Where that is not known, the insert brings the item back.
    private func isTaken(
        by chain: [TableOperation], _ write: LocalWrite, _ table: TableRecord
    ) throws -> Bool {
        guard write.actor.isClient, chain.last?.kind == .delete else { return false }
        return try items.isKnownToDeleteSoftly(table)
    }

    private func newID(in table: TableRecord, _ generation: Generation) throws -> ItemID {
        switch table.idKind {
        case .string: transaction.ids.itemID(for: generation)
        case .integer: try counters.nextProvisionalID(table.id)
        }
    }

    /// Undeletes what the backend holds as deleted, then changes it: backends take these as two
    /// requests. Where nothing is deleted, or only here and not yet there, it is a change.
    private func restore(
        _ id: ItemID, _ kind: OperationKind, _ columns: Columns, _ write: LocalWrite,
        _ rules: WriteRules
    ) throws -> WriteOutcome {
        guard let row = try tables.table(write.table).flatMap({ try items.row($0, id) }),
            row.deleted,
            try queue.chain(of: row).last?.kind != .delete
        else { return try change(id, kind, columns, write, rules) }
        let undeleted = try change(id, .undelete, Columns(), write, rules)
        guard case .undeleted = undeleted else { return undeleted }
        return try change(id, kind, columns, write.judged, rules)
    }

    /// Brings an item back, and changes it where there are columns.
    private func bringBack(
        _ id: ItemID, _ columns: Columns, _ write: LocalWrite, _ rules: WriteRules
    ) throws -> WriteOutcome {
        guard columns.isEmpty else { return try restore(id, .update, columns, write, rules) }
        let undeleted = try change(id, .undelete, columns, write, rules)
        guard case .undeleted(let item) = undeleted else { return undeleted }
        return .updated(item)
    }

    /// Changes an item and deletes it; what is deleted already is gone.
    private func changeAndDelete(
        _ id: ItemID, _ columns: Columns, _ write: LocalWrite, _ rules: WriteRules
    ) throws -> WriteOutcome {
        if let row = try tables.table(write.table).flatMap({ try items.row($0, id) }), row.deleted {
            return .gone(row.item)
        }
        var write = write
        if !columns.isEmpty {
            let updated = try change(id, .update, columns, write, rules)
            guard case .updated = updated else { return updated }
            write = write.judged
        }
        let deleted = try change(id, .delete, Columns(), write, rules)
        guard case .deleted(let item) = deleted else { return deleted }
        return .updated(item)
    }

    private func change(
        _ id: ItemID, _ kind: OperationKind, _ columns: Columns, _ write: LocalWrite,
        _ rules: WriteRules
    ) throws -> WriteOutcome {
        guard let table = try tables.table(write.table) else { return .unknownWhilePartial }
        guard let row = try items.row(table, id) else {
            return table.isComplete ? .missing : .unknownWhilePartial
        }
        let chain = try queue.chain(of: row)
        if let sentence = write.stated.contradiction(to: row) { return .invalid(sentence) }
        if row.deleted, kind != .undelete, chain.last?.kind != .delete { return .gone(row.item) }
        // A repeated delete is answered as the first one was, whatever version it names.
        if !(row.deleted && kind == .delete), !write.holds(for: row, in: table) {
            return .preconditionFailed(row.item)
        }
        if !row.deleted, kind == .undelete {
            try ledger.countCollapsedWrite()
            return .undeleted(row.item)
        }
        return try collapsing.make(
            ItemEdit(
                table: table, row: row, chain: chain, kind: kind,
                columns: try tables.respell(columns, in: table), write: write), rules)
    }
}
