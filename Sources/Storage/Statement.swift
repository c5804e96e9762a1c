import GRDB
import GRDBSQLite

// What GRDB does not do for a statement. It prepares, keeps, binds, steps and resets them all.
//
// Sound, for every `unsafe` below: SQLite, opened without its own lock, wants one thread at a time in a
// connection. A `Statement` cannot be sent to another thread, so the code that has one runs in the access
// of GRDB's queue that gave it out, and those are one after another. The statement lives while `self` does.
extension Statement {
    /// Gives each place its value; there are as many values as places.
    ///
    /// GRDB ends a text at U+0000 and takes a blob without bytes for null, so both are bound here.
    func bind(_ values: StatementValues) throws {
        // As existentials: GRDB takes an array of one type by a key path, and makes that anew each time.
        let stored = values.map { $0?.stored ?? .null }
        let arguments = stored.map { $0.databaseValue as (any DatabaseValueConvertible)? }
        try setArguments(StatementArguments(arguments))
        for (index, value) in stored.enumerated() {
            switch value {
            case .text(let text) where text.utf8.contains(0): try bind(text, at: CInt(index + 1))
            case .blob(let bytes) where bytes.isEmpty:
                try check(unsafe sqlite3_bind_zeroblob(sqliteStatement, CInt(index + 1), 0))
            case .null, .integer, .real, .text, .blob: break
            }
        }
    }

    private func bind(_ text: String, at place: CInt) throws {
        var text = text
        try check(
            text.withUTF8 { bytes in
                // SQLite copies what is bound before the call returns.
                unsafe sqlite3_bind_text(
                    sqliteStatement, place,
                    UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self),
                    CInt(bytes.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            })
    }

    private func check(_ code: CInt) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// Forgets the values, so that no text stays in memory until the next run. Only for a statement whose
    /// last run did not fail.
    func unbind() { setUncheckedArguments(StatementArguments()) }

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
