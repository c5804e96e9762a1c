import GRDB
import GRDBSQLite
import TablesProtocol

/// A prepared query whose rows are read straight from SQLite: GRDB's row objects are half the cost of
/// a page, and its queue's two hops cost more than a look-up by id.
///
/// The query selects id, columns, created_at, stamp, version, deleted, or a number alone. It is reset
/// before its rows' reader returns.
///
/// `@unchecked Sendable` because SQLite, opened without its own lock, wants one thread at a time in a
/// connection, and that is what there is: a ``Reader`` steps its queries, and lets GRDB use its
/// connection, only under its own lock, and nobody else has them.
@safe
final class StatementRows: @unchecked Sendable {
    /// Owns what `rows` points to.
    private let statement: Statement
    private let rows: SQLiteStatement

    /// Takes a statement over, which is used nowhere else meanwhile.
    init(_ statement: Statement) {
        self.statement = statement
        unsafe rows = statement.sqliteStatement
    }

    /// Binds the values and gives each row to `take`, until there are no more or it says false. The
    /// row holds only until `take` returns.
    func forEach(_ values: [SQLValue], _ take: (StatementRow) -> Bool) throws {
        defer { unsafe sqlite3_reset(rows) }
        // The steps of a run that was cut off are nobody's.
        _ = unsafe sqlite3_stmt_status(rows, SQLITE_STMTSTATUS_VM_STEP, 1)
        for (index, value) in values.enumerated() { try statement.bind(value, at: CInt(index + 1)) }
        repeat {
            let code = unsafe sqlite3_step(rows)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw statement.failure(code) }
        } while unsafe take(StatementRow(rows))
    }

    /// The one row of a table and an id, with the text of its seventh column; nil for none.
    func item(
        _ table: Int64, _ id: String, idKind: IDKind
    ) throws -> (item: Item, seventh: String?)? {
        defer { unsafe sqlite3_reset(rows) }
        try statement.bind(.integer(table), at: 1)
        try statement.bind(.text(id), at: 2)
        switch unsafe sqlite3_step(rows) {
        case SQLITE_DONE: return nil
        case SQLITE_ROW:
            let row = unsafe StatementRow(rows)
            return (row.item(idKind), row[6])
        case let code: throw statement.failure(code)
        }
    }

    /// The number in the first column of the only row.
    func number(_ values: [SQLValue]) throws -> Int {
        var number: Int?
        try forEach(values) { row in
            number = row[0]
            return false
        }
        guard let number else { throw StoreError.failed("Nothing was counted.") }
        return number
    }

    /// The steps that SQLite's machine took for the last ``forEach(_:_:)``. It costs a look into a
    /// counter.
    var steps: Int { unsafe Int(sqlite3_stmt_status(rows, SQLITE_STMTSTATUS_VM_STEP, 0)) }
}
