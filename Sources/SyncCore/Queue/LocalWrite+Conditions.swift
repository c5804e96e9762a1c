import TablesProtocol

extension LocalWrite {
    /// Whether the write's conditions hold for the row as clients see it.
    func holds(for row: ItemRow, in table: TableRecord) -> Bool {
        let changed = Instant(milliseconds: row.stamp)
        return conditions.verdict(versions: row.knownVersions, changed: changed) == .holds
            && conditions.tests.allSatisfy { holds($0, for: row, in: table) }
    }

    /// Whether a member of the item has the value that a JSON Patch tests it for; a column that the
    /// item does not have is null.
    private func holds(
        _ test: Columns.Column, for row: ItemRow, in table: TableRecord
    ) -> Bool {
        if test.name.lowercased() == "id" {
            return test.value.value.integer.map(String.init) ?? test.value.string == row.id.text
        }
        switch SystemProperty(named: test.name, in: generation) {
        case .version:
            return test.value.string.map { IfMatch.versions([$0]) }.map {
                row.knownVersions.contains(where: $0.accepts)
            } ?? false
        case .updatedAt: return test.value.isSame(as: .string(row.item.updatedAt.text))
        case .createdAt:
            return row.item.createdAt.map { test.value.isSame(as: .string($0.text)) }
                ?? test.value.isNull
        case .deleted: return test.value.isSame(as: .bool(row.deleted))
        case nil:
            let name = table.spellings.spelling(of: test.name)
            return (row.columns[name] ?? .null).isSame(as: test.value)
        }
    }
}

extension ItemBody.Stated {
    /// One sentence about what the row is not as stated; nil when it is.
    func contradiction(to row: ItemRow) -> String? {
        if let version, !row.knownVersions.contains(where: IfMatch.versions([version]).accepts) {
            return "The version cannot be changed."
        }
        guard let stated = updatedAt?.milliseconds, stated != row.stamp else { return nil }
        let theirs = row.pending == nil ? row.serverUpdatedAt : nil
        let isTheirs = theirs.flatMap { Instant(parsing: $0) }?.milliseconds == stated
        return isTheirs ? nil : "The time of the last change cannot be changed."
    }
}
