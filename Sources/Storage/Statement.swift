import GRDB
import GRDBSQLite

// How values get into a statement. GRDB prepares, keeps and steps them all. It ends a text at U+0000 and
// takes a blob without bytes for null, so values are bound here, and columns read in `StatementRow`.
//
// Sound, for every `unsafe` below: SQLite, opened without its own lock, allows one thread at a time in a
// connection. A `Statement` cannot be sent to another thread, so the code that has one runs in the access
// of GRDB's queue that gave it out, and those are one after another. The statement lives while `self` does.
extension Statement {
    /// Gives each place its value; there are as many values as places.
    func bind(_ values: StatementValues) throws {
        // GRDB resets the statement, and binds nothing of its own when it runs.
        setUncheckedArguments(StatementArguments())
        guard unsafe Int(sqlite3_bind_parameter_count(sqliteStatement)) == values.count else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "The statement has another number of places than \(values.count).",
                sql: sql)
        }
        for (index, value) in values.enumerated() {
            let code = ResultCode(rawValue: bind(value?.stored ?? .null, at: CInt(index + 1)))
            guard code == .SQLITE_OK else { throw DatabaseError(resultCode: code, sql: sql) }
        }
    }

    /// - Returns: SQLite's code.
    private func bind(_ value: StoredValue, at place: CInt) -> CInt {
        // SQLite copies what is bound before the call returns.
        let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: return unsafe sqlite3_bind_null(sqliteStatement, place)
        case .integer(let number):
            return unsafe sqlite3_bind_int64(sqliteStatement, place, number)
        case .real(let number): return unsafe sqlite3_bind_double(sqliteStatement, place, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                unsafe sqlite3_bind_text(
                    sqliteStatement, place,
                    UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self),
                    CInt(bytes.count), copied)
            }
        case .blob(let bytes) where bytes.isEmpty:
            return unsafe sqlite3_bind_zeroblob(sqliteStatement, place, 0)
        case .blob(let bytes):
            return unsafe bytes.withUnsafeBytes { bytes in
                unsafe sqlite3_bind_blob(
                    sqliteStatement, place, bytes.baseAddress, CInt(bytes.count), copied)
            }
        }
    }

    /// Ends the run and forgets the values, so that no text stays in memory until the next one.
    func end() {
        // Its code is that of the last step, which has been thrown already.
        _ = unsafe sqlite3_reset(sqliteStatement)
        _ = unsafe sqlite3_clear_bindings(sqliteStatement)
    }

    /// Whether its rows are being read.
    var isBusy: Bool { unsafe sqlite3_stmt_busy(sqliteStatement) != 0 }

    /// The steps that SQLite's machine has taken for it since ``forgetSteps()``. It costs a look into a
    /// counter.
    var steps: Int {
        unsafe Int(sqlite3_stmt_status(sqliteStatement, SQLITE_STMTSTATUS_VM_STEP, 0))
    }

    /// Begins to count its steps at zero.
    func forgetSteps() {
        _ = unsafe sqlite3_stmt_status(sqliteStatement, SQLITE_STMTSTATUS_VM_STEP, 1)
    }
}

/// The rows of a statement that is bound, as GRDB steps it.
final class StatementRows: DatabaseCursor {
    typealias Element = StatementRow
    let _statement: Statement
    var _isDone = false

    init(_ statement: Statement) { _statement = statement }

    func _element(sqliteStatement: SQLiteStatement) -> StatementRow { StatementRow(_statement) }
}
