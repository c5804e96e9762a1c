import ArgumentParser
import Backend
import TablesProtocol

/// Whose rows move in, for tables in which each user has rows of their own.
struct MovedOwner {
    /// The user's id at this backend.
    let user: String
    /// The column that says whose row it is.
    let column: String
    /// The ids that the user had at the other backend.
    var earlier: [String] = []
    /// The tables.
    let tables: [TableName]

    /// Whether each user has rows of their own in a table.
    func owns(_ table: TableName) -> Bool { tables.contains { $0.key == table.key } }

    /// The row with its owner: one that names none, null or an earlier id of the user gets the user.
    func added(to row: MovedRow, of table: TableName) -> MovedRow {
        guard owns(table) else { return row }
        let columns = owners(of: row)
        guard columns.allSatisfy({ $0.value.isNull || isEarlier($0.value) }) else { return row }
        var row = row
        row.columns[columns.first?.name ?? column] = .string(user)
        return row
    }

    /// The owner, as JSON, of a row of such a table that is not the user's; nil for the user's rows and for
    /// other tables.
    func otherOwner(in row: MovedRow, of table: TableName) -> String? {
        guard owns(table) else { return nil }
        let columns = owners(of: row)
        if columns.isEmpty { return JSONValue.null.text }
        let other = columns.first { $0.value.string?.utf8.elementsEqual(user.utf8) != true }
        return other?.value.text
    }

    private func owners(of row: MovedRow) -> [Columns.Column] {
        let name = column.lowercased()
        return row.columns.all.filter { $0.name.lowercased() == name }
    }

    private func isEarlier(_ value: JSONText) -> Bool {
        guard let text = value.string else { return false }
        return earlier.contains { $0.utf8.elementsEqual(text.utf8) }
    }
}

/// The options that say whose rows move in.
struct MovedOwnerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Whose rows of --owned-table move in: the user's id in tokens of this site. Rows \
            without an owner get it.
            """, valueName: "user"))
    var owner: String?

    @Option(
        help: ArgumentHelp(
            """
            The user's id at the other backend, such as sid:0123…: rows that have exactly this get \
            --owner; repeat it.
            """, valueName: "user"))
    var ownerWas: [String] = []

    @Option(
        help: ArgumentHelp(
            "A table in which each user has rows of their own; repeat it.", valueName: "table"))
    var ownedTable: [String] = []

    @Option(
        help: ArgumentHelp("The column that says whose row it is.", valueName: "column"))
    var ownerColumn = "userId"

    /// Whose rows move in; nil where no user is named.
    func read() throws -> MovedOwner? {
        if (owner == nil) != ownedTable.isEmpty {
            throw ValidationError("--owner and --owned-table belong together; give both.")
        }
        guard let owner else {
            if ownerWas.isEmpty { return nil }
            throw ValidationError("--owner-was says what --owner replaces; give both.")
        }
        if owner.isEmpty {
            throw ValidationError("--owner is empty. Give the user's id in tokens of this site.")
        }
        guard BackendTable.isColumn(ownerColumn) else {
            throw ValidationError(
                "--owner-column names \"\(ownerColumn)\", and no column of a user has such a name. Give "
                    + "the one that --table has after per-user=.")
        }
        let tables = try ownedTable.map { name in
            guard let table = TableName(name) else {
                throw ValidationError("\"\(name)\" is no name of a table.")
            }
            return table
        }
        return MovedOwner(user: owner, column: ownerColumn, earlier: ownerWas, tables: tables)
    }
}
