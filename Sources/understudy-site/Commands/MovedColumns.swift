import ArgumentParser
import Backend
import Platform
import Program
import TablesProtocol

/// Counts the moved rows that clients will not see, or whose columns they will not all see, by the settings
/// of the backend.
struct MovedColumns {
    /// Rows with columns that clients do not see.
    private struct Hidden {
        var rows = 0
        var names: Set<String> = []
    }

    /// The flavour of the backend.
    private let flavour: BackendFlavour
    /// The columns with the owners of rows, by the keys of their tables.
    private let ownerColumns: [String: String]
    private var hidden: [String: Hidden] = [:]
    /// The numbers of rows without an owner, by table, where each user has rows of their own.
    private var ownerless: [String: (rows: Int, column: String)] = [:]

    /// Reads the settings.
    init(_ sources: Sources) throws(StartProblem) {
        do {
            flavour = try sources.valueOrDefault(Settings.flavour)
            var columns: [String: String] = [:]
            for table in try sources.list(Settings.backendTable) {
                columns[table.name.key] = table.ownerColumn
            }
            // With tokens that are not verified, all users of the Express flavour have all rows.
            let hasAccess = try sources.value(Settings.accessFile) != nil
            for table in try sources.list(Settings.signIn) where hasAccess || flavour != .express {
                columns[table.key] = columns[table.key] ?? "userId"
            }
            ownerColumns = columns
        } catch {
            throw StartProblem(reading: error)
        }
    }

    /// Counts a row that moved in, unless the backend keeps another state of the row.
    /// - Parameter idKind: what the ids of its table are.
    mutating func add(
        _ row: MovedRow, of table: TableName, _ idKind: IDKind, _ outcome: MoveOutcome
    ) {
        switch outcome {
        case .added, .replaced, .same: break
        case .older, .changedHere, .deletedHere, .undecided: return
        }
        let names = row.hiddenColumns(in: flavour, idKind)
        if !names.isEmpty {
            hidden[table.text, default: Hidden()].rows += 1
            hidden[table.text, default: Hidden()].names.formUnion(names)
        }
        guard !row.deleted, let column = ownerColumns[table.key] else { return }
        let owners = row.columns.all.filter { $0.name.lowercased() == column.lowercased() }
        if owners.allSatisfy(\.value.isNull) {
            ownerless[table.text, default: (0, column)].rows += 1
        }
    }

    /// Whether there was a row that no user sees.
    var hasRowsWithoutOwner: Bool { !ownerless.isEmpty }

    /// The columns that clients do not see, by table.
    var hiddenJSON: JSONValue {
        .array(
            hidden.sorted { $0.key < $1.key }.map { table, found in
                .members(
                    ("table", .string(table)), ("rows", .number(found.rows)),
                    ("columns", .array(found.names.sorted().map { .string($0) })))
            })
    }

    /// The rows that no user sees, by table.
    var withoutOwnerJSON: JSONValue {
        .array(
            ownerless.sorted { $0.key < $1.key }.map { table, found in
                .members(
                    ("table", .string(table)), ("rows", .number(found.rows)),
                    ("column", .string(found.column)))
            })
    }

    /// The lines for a person.
    /// - Parameter advice: how rows without an owner get one, as the beginning of a sentence.
    func lines(advice: String) -> [String] {
        let columns = hidden.sorted { $0.key < $1.key }.map { table, found in
            "\(table): \(Self.rowsHave(found.rows)) columns that clients of the flavour \(flavour.rawValue) do not "
                + "see, since the server's own have these names: "
                + "\(found.names.sorted().joined(separator: ", ")). They stay in the database."
        }
        let owners = ownerless.sorted { $0.key < $1.key }.map { table, found in
            "\(table): \(Self.rowsHave(found.rows)) no owner in \(found.column), so no user sees "
                + "\(found.rows == 1 ? "it" : "them"). \(advice), and name the user with --owner and "
                + "--owned-table."
        }
        return columns + owners
    }

    /// Such as `1 row has`.
    private static func rowsHave(_ count: Int) -> String {
        count == 1 ? "1 row has" : "\(count) rows have"
    }
}

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
