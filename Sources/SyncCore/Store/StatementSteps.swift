import GRDB
import GRDBSQLite
import TablesProtocol

// How a statement runs. GRDB prepares it, keeps it by its text and finalizes it; between its first
// step and its last it is SQLite's alone, since GRDB's boxes for arguments and rows cost as much as
// SQLite's own work:
//
// 1. A statement whose rows are being read is not begun again: that would end the reading.
// 2. Each place gets its value; there are as many of the one as of the other.
// 3. Nothing is written where no transaction is open: SQLite ends one by itself after some errors, and
//    what followed would be committed alone.
// 4. It is stepped to its end, or until whoever takes its rows has enough.
// 5. However that ends, the statement is reset and lets go of the values: it holds no snapshot, no lock
//    and no client's text, and the next run begins as the first one did.
//
// Sound, for every `unsafe` below: SQLite, opened without its own lock, wants one thread at a time in a
// connection. A `Database` and its `Statement`s cannot be sent to another thread, so whoever has one
// stands in the access of GRDB's queue that gave it out, and those are one after another; a ``Reader``
// steps what it took out of its queue under its own lock only. The statement lives while `self` does,
// its connection as long as the access.
extension Statement {
    /// Runs the statement and gives each row to `take` until it says false. A row holds only until
    /// `take` returns.
    /// - Parameter values: one for each place.
    /// - Throws: `DatabaseError` with SQLite's extended code and message; what `take` throws.
    func run(
        _ values: StatementValues, _ take: (StatementRow) throws -> Bool = { _ in true }
    ) throws {
        let statement = unsafe sqliteStatement
        guard unsafe sqlite3_stmt_busy(statement) == 0 else {
            throw failure(SQLITE_MISUSE, "The statement's rows are being read.")
        }
        guard unsafe values.count == Int(sqlite3_bind_parameter_count(statement)) else {
            throw failure(SQLITE_MISUSE, "\(values.count) values do not fit the statement.")
        }
        guard unsafe sqlite3_stmt_readonly(statement) != 0 || isInTransaction else {
            throw failure(SQLITE_ABORT, "The transaction was aborted.")
        }
        defer {
            // Its code is that of the step, which was looked at.
            _ = unsafe sqlite3_reset(statement)
            if !values.isEmpty { _ = unsafe sqlite3_clear_bindings(statement) }
        }
        for index in values.indices {
            // The places are null since the last run let go of its values.
            guard let value = values[index]?.stored else { continue }
            try bind(value, at: CInt(index + 1))
        }
        repeat {
            let code = unsafe sqlite3_step(statement)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw failure(code) }
        } while unsafe try take(StatementRow(statement))
    }

    /// Runs a statement that begins or ends a transaction or a part of one.
    func control() throws {
        let statement = unsafe sqliteStatement
        defer { _ = unsafe sqlite3_reset(statement) }
        // Steps are counted from run to run; a reader's budget shall not end with a transaction's end.
        _ = unsafe sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1)
        let code = unsafe sqlite3_step(statement)
        guard code == SQLITE_DONE else { throw failure(code) }
    }

    /// Puts a value into a place, 1 for the first.
    func bind(_ value: SQLValue, at place: CInt) throws {
        let statement = unsafe sqliteStatement
        let code: CInt
        switch value {
        case .null: code = unsafe sqlite3_bind_null(statement, place)
        case .integer(let number): code = unsafe sqlite3_bind_int64(statement, place, number)
        case .real(let number): code = unsafe sqlite3_bind_double(statement, place, number)
        case .text(var text):
            code = text.withUTF8 { bytes in
                // Without an address it would be null, not an empty text.
                unsafe bytes.isEmpty
                    ? sqlite3_bind_text(statement, place, "", 0, Self.copied)
                    : sqlite3_bind_text(
                        statement, place,
                        UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self),
                        CInt(bytes.count), Self.copied)
            }
        case .blob(let bytes):
            code = unsafe bytes.withUnsafeBytes { bytes in
                // The same holds for a blob.
                unsafe bytes.isEmpty
                    ? sqlite3_bind_zeroblob(statement, place, 0)
                    : sqlite3_bind_blob(
                        statement, place, bytes.baseAddress, CInt(bytes.count), Self.copied)
            }
        }
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// What went wrong, before a reset forgets it.
    /// - Parameter message: what to say instead of SQLite's own message.
    func failure(_ code: CInt, _ message: String? = nil) -> DatabaseError {
        // Not GRDB's `sql`, which only answers in its queue; nor the values, which are rows.
        let statement = unsafe sqliteStatement
        let text = unsafe message ?? String(cString: sqlite3_errmsg(sqlite3_db_handle(statement)))
        return unsafe DatabaseError(
            resultCode: ResultCode(rawValue: code), message: text,
            sql: String(cString: sqlite3_sql(statement)))
    }

    private var isInTransaction: Bool {
        unsafe sqlite3_get_autocommit(sqlite3_db_handle(sqliteStatement)) == 0
    }

    /// SQLITE_TRANSIENT: SQLite copies what is bound before the call returns, so that no Swift value has
    /// to stay where it is while the statement runs.
    private static var copied: sqlite3_destructor_type {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }
}
