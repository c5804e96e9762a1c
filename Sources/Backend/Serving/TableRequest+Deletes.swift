import HTTPTypes
import TablesProtocol

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
