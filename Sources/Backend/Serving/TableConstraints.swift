import TablesProtocol

/// What a unique index and a foreign key of the table's database refuse. The rows are read before the write and
/// not in its transaction: this is for trying things out and for tests.
struct TableConstraints {
    let storage: any RowStorage
    let options: BackendOptions
    /// The method of the write.
    let method: String

    /// Refuses columns of which another row that is not deleted has a value of its own, and those that name a
    /// row which another table does not have. A null is no value.
    /// - Parameter id: the id of the row that gets the columns; nil for one that the storage numbers.
    func check(_ table: StoredTable, _ id: String?, _ columns: Columns) throws {
        guard let options = options.table(table.name) else { return }
        for column in options.uniqueColumns {
            guard let value = columns.value(of: table.spelling(column)) else { continue }
            let isTaken = try storage.rows(in: table.name).contains { row in
                row.id != id && !row.deleted
                    && row.columns.value(of: table.spelling(column))?.isSame(as: value) == true
            }
            if isTaken { throw Refusal.notUnique(column, of: table.name) }
        }
        for (column, parent) in options.references.sorted(by: { $0.key < $1.key }) {
            guard let value = columns.value(of: table.spelling(column)) else { continue }
            let id = value.string ?? value.text
            if try storage.get(id, in: parent)?.deleted ?? true {
                throw Refusal.noParent(method, column, of: table.name, parent)
            }
        }
    }

    /// Refuses to delete rows that rows of other tables name.
    func checkReferences(to rows: [Row], in table: TableName) throws {
        let ids = Set(rows.map(\.id))
        for (name, options) in options.tables.sorted(by: { $0.key.text < $1.key.text }) {
            let columns = options.references.keys.filter { options.references[$0] == table }
                .sorted()
            for column in columns {
                guard let child = try storage.table(name) else { continue }
                let isNamed = try storage.rows(in: name).contains { row in
                    let value = row.columns.value(of: child.spelling(column))
                    return !row.deleted && value.map { ids.contains($0.string ?? $0.text) } == true
                }
                if isNamed { throw Refusal.isParent(of: name, column) }
            }
        }
    }
}

extension Columns {
    fileprivate func value(of name: String) -> JSONText? {
        self[name].flatMap { $0.isNull ? nil : $0 }
    }
}

// In the words of SQL Server.
extension Refusal {
    fileprivate static func notUnique(_ column: String, of table: TableName) -> Refusal {
        Refusal(
            409,
            "Violation of UNIQUE KEY constraint 'UQ_\(table)_\(column)'. Cannot insert duplicate key in "
                + "object '\(table)'.")
    }

    fileprivate static func noParent(
        _ method: String, _ column: String, of table: TableName, _ parent: TableName
    ) -> Refusal {
        let statement = method == "POST" ? "INSERT" : "UPDATE"
        return Refusal(
            409,
            "The \(statement) statement conflicted with the FOREIGN KEY constraint "
                + "'FK_\(table)_\(column)' to table '\(parent)'.")
    }

    fileprivate static func isParent(of table: TableName, _ column: String) -> Refusal {
        Refusal(
            409,
            "The DELETE statement conflicted with the REFERENCE constraint 'FK_\(table)_\(column)'."
        )
    }
}
