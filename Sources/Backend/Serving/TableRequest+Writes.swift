import HTTPMessage
import HTTPTypes
import TablesProtocol

extension TableRequest {
    /// `POST /tables/{table}`.
    func insert(_ name: TableName) throws -> Outcome {
        guard let options = found(name)?.options ?? self.options.dynamicTable else {
            throw noTable(name)
        }
        let sent = try sent(options)
        if let id = sent.id { try check(id: id, options) }
        let table = try table(name, creating: true)
        let owner = try owner(in: table)
        let kept = try kept(
            scripted(owner?.added(to: sent.columns) ?? sent.columns, over: nil, name), table)
        let columns = withDefaults(kept.columns, table)
        if try sent.id.flatMap({ try storage.get($0, in: name) }) == nil {
            try checkConstraints(kept.table, sent.id, columns)
        }
        var row = NewRow(id: newID(sent, table), columns: columns, version: newVersion())
        row.reusesNumbers = self.options.table(name)?.reusesIDs ?? false
        if profile.isNode, let version = sent.version {
            row.version = Base64.encoded(version.utf8)
        }
        if profile.generation == .datasync { row.deleted = sent.deleted ?? false }
        let insertion = try storage.insert(
            row, into: name, creating: table.options, write(adding: kept.new))
        return switch insertion {
        case .inserted(let row):
            .inserted(row, sent: scripted(sent.all, over: nil, name), kept.table)
        case .exists(let row) where owner?.owns(row) == false:
            .refused(Refusal(409, "An item with this id exists."))
        case .exists(let row): .exists(row, sent: call.request.body)
        case .overtaken: .overtaken
        }
    }

    /// `PATCH /tables/{table}/{id}`.
    func update(_ name: TableName, _ id: String) throws -> Outcome {
        let table = try table(name)
        let sent = try sent(table.options)
        if let refusal = idMismatch(sent, id) { throw refusal }
        if profile.generation == .mobileServices, sent.all.names.allSatisfy({ $0 == "id" }),
            try firstCondition(table.options) == nil
        {
            return .unchanged(id: id)
        }
        guard let row = try find(table, id) else { return .missing(id: id) }
        if let refusal = changesSystemProperties(sent, row) { throw refusal }
        let undeletes = profile.undelete == .patch && sent.deleted == false && row.deleted
        if !undeletes, let outcome = refuseDeleted(row) { return outcome }
        if let outcome = mismatch(row, sent, table) { return outcome }
        if let patch = sent.patch {
            if patch.operations.contains(where: { $0.action == .test }) { try checkAsking(name) }
            try check(patch, row)
        }
        let owner = try owner(in: table)
        let kept = try kept(
            scripted(owner?.removed(from: sent.columns) ?? sent.columns, over: row, name), table)
        if let outcome = try withoutColumns(row, sent, kept, undeletes) { return outcome }
        let columns = try merged(row, kept)
        var deleted = row.deleted
        if let mark = sent.deleted, profile.generation != .mobileServices { deleted = mark }
        try checkDeletion(from: row.deleted, to: deleted, name)
        if deleted, !row.deleted { try checkReferences(to: [row], in: name) }
        if !deleted { try checkConstraints(kept.table, row.id, columns) }
        let change = RowChange(old: row, columns: columns, deleted: deleted, version: newVersion())
        let kind = undeletes ? EffectKind.undelete : .update
        guard let changed = try self.change(change, as: kind, kept) else { return .overtaken }
        return .changed(changed, sent: scripted(sent.all, over: row, name), kept.table)
    }

    /// `PATCH /tables/{table}`: the Node server takes the id from the body.
    func updateByBody(_ name: TableName) throws -> Outcome {
        let table = try table(name)
        let sent = try sent(table.options)
        guard let id = sent.id else {
            if sent.columns.isEmpty {
                throw Refusal(500, "SQLITE_ERROR: near \"WHERE\": syntax error")
            }
            return .missing(id: "")
        }
        return try update(name, id)
    }

    /// `PUT /tables/{table}/{id}`: what the body leaves out is gone. Columns that the client cannot see stay.
    func replace(_ name: TableName, _ id: String) throws -> Outcome {
        let table = try table(name)
        let sent = try sent(table.options)
        if let refusal = idMismatch(sent, id) { throw refusal }
        guard let row = try find(table, id) else { return .missing(id: id) }
        if let outcome = refuseDeleted(row) { return outcome }
        if let outcome = mismatch(row, sent, table) { return outcome }
        let owner = try owner(in: table)
        let kept = try kept(
            scripted(owner?.added(to: sent.columns) ?? sent.columns, over: row, name), table)
        try checkDeletion(from: row.deleted, to: sent.deleted ?? false, name)
        var columns = withDefaults(kept.columns, table)
        columns.merge(
            Columns(row.columns.all.filter { profile.hides($0.name, table.options.idKind) }))
        let change = RowChange(
            old: row, columns: columns, deleted: sent.deleted ?? false, version: newVersion())
        if change.deleted, !row.deleted { try checkReferences(to: [row], in: name) }
        if !change.deleted { try checkConstraints(kept.table, row.id, columns) }
        let kind = row.deleted && !change.deleted ? EffectKind.undelete : .replace
        guard let changed = try self.change(change, as: kind, kept) else { return .overtaken }
        return .changed(changed, sent: scripted(sent.all, over: row, name), kept.table)
    }

    /// `POST /tables/{table}/{id}`.
    func undelete(_ name: TableName, _ id: String) throws -> Outcome {
        let table = try table(name)
        if profile.generation == .mobileServices {
            if !table.options.softDelete || table.isPlain(profile.generation) {
                throw Refusal(400, "The undelete operation is not supported on this table.")
            }
            if !call.request.body.isEmpty {
                throw Refusal(400, "An undelete request must not have content.")
            }
            _ = try firstCondition(table.options)
        }
        guard let row = try find(table, id) else { return .missing(id: id) }
        if let outcome = mismatch(row, nil, table) { return outcome }
        try checkConstraints(table, row.id, row.columns)
        let change = RowChange(
            old: row, columns: row.columns, deleted: false, version: newVersion())
        let rows = try storage.change([change], in: name, as: .undelete, write())
        return rows.map { Outcome.undeleted($0[0]) } ?? .overtaken
    }

    /// The columns of a write after the table's scripts.
    private func scripted(_ sent: Columns, over row: Row?, _ name: TableName) -> Columns {
        let scripts = options.table(name)?.scripts ?? []
        var columns = sent
        if scripts.contains(.trim) {
            columns = Columns(
                sent.all.map { column in
                    guard let text = column.value.string else { return column }
                    let trimmed = text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
                    return Columns.Column(column.name, .string(String(trimmed)))
                })
        }
        if scripts.contains(.owner) {
            columns["owner"] = row?.columns["owner"] ?? .string("the script")
        }
        if scripts.contains(.counter) {
            let before = row?.columns["changes"]?.value.integer ?? 0
            columns["changes"] = .integer(before + 1)
        }
        return columns
    }

    /// A write that deletes an item or brings it back needs what its own method would need.
    private func checkDeletion(
        from old: Bool, to new: Bool, _ name: TableName
    ) throws(Refusal) {
        if new, !old { try check(.delete, name) }
        if old, !new { try check(.undelete, name) }
    }

    private func change(
        _ change: RowChange, as kind: EffectKind, _ kept: Kept
    ) throws -> Row? {
        try storage.change([change], in: kept.table.name, as: kind, write(adding: kept.new))?.first
    }

    /// The id of a new row; nil where the storage numbers them.
    private func newID(_ sent: Sent, _ table: StoredTable) -> String? {
        switch table.options.idKind {
        case .integer: nil
        case .string:
            sent.id ?? random.id(profile.flavour == .dotnet ? .datasync : profile.generation)
        }
    }

    /// A version at random; nil where the storage makes its own.
    func newVersion() -> String? {
        switch options.versions {
        case .counter: nil
        case .random: Base64.encoded(random.bytes(16))
        }
    }

    /// The values that all rows of the request's write share.
    func write(adding columns: [TableOptions.Column] = []) -> Write {
        Write(
            at: now, stamps: options.stamps, newColumns: columns, method: call.method.rawValue,
            idempotencyKey: call.field("Idempotency-Key"), owner: owningUser, isKept: isKept)
    }

    /// The user whose rows alone the request's write changes; nil where the table's rows are for all.
    private var owningUser: String? {
        guard let name = call.tableName,
            let table = known
                ?? options.table(name).map({ StoredTable(name: name, options: $0) })
        else { return nil }
        return (try? owner(in: table))?.user
    }
}

extension TableRequest {
    /// `DELETE /tables/{table}/{id}`.
    func delete(_ name: TableName, _ id: String) throws -> Outcome {
        let table = try table(name)
        if profile.generation == .mobileServices { _ = try firstCondition(table.options) }
        guard let row = try find(table, id) else { return .missing(id: id) }
        if row.deleted, let outcome = deletedTwice(row) { return outcome }
        if let outcome = mismatch(row, nil, table) { return outcome }
        return try delete([row], table).map { Outcome.deleted($0[0]) } ?? .overtaken
    }

    /// `DELETE /tables/{table}?$filter=…`: only the Node server deletes so.
    func deleteByFilter(_ name: TableName) throws -> Outcome {
        let table = try table(name)
        try checkAsking(name)
        var query = try ListQuery(call, profile)
        guard query.filter != nil else { throw Refusal(500, "SQLITE_ERROR: incomplete input") }
        let owner = try owner(in: table)
        if let owner { query.keepOnly(owner) }
        let list = rowQuery(name, query, limit: .max, includesDeleted: false)
        let rows = try storage.list(list).rows.filter {
            owner?.owns($0) ?? true && mismatch($0, nil, table) == nil
        }
        if rows.isEmpty { return .missing(id: "") }
        guard let deleted = try delete(rows, table) else { return .overtaken }
        return deleted.count == 1 ? .deleted(deleted[0]) : .deletedAll(deleted)
    }

    /// Deletes rows as the table does: softly, or for good.
    /// - Returns: nil when another writer was faster; then none is deleted.
    private func delete(_ rows: [Row], _ table: StoredTable) throws -> [Row]? {
        try checkReferences(to: rows, in: table.name)
        guard table.options.softDelete, !table.isPlain(profile.generation) else {
            return try storage.remove(rows, from: table.name, write()) ? rows : nil
        }
        let changes = rows.map {
            RowChange(old: $0, columns: $0.columns, deleted: true, version: newVersion())
        }
        return try storage.change(changes, in: table.name, as: .delete, write())
    }
}
