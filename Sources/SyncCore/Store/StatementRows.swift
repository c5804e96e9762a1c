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
        for (index, value) in values.enumerated() { try bind(value, at: CInt(index + 1)) }
        repeat {
            let code = unsafe sqlite3_step(rows)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw error(code) }
        } while unsafe take(StatementRow(rows))
    }

    /// The one row of a table and an id, with the text of its seventh column; nil for none.
    func item(
        _ table: Int64, _ id: String, idKind: IDKind
    ) throws -> (item: Item, seventh: String?)? {
        defer { unsafe sqlite3_reset(rows) }
        try bind(.integer(table), at: 1)
        try bind(.text(id), at: 2)
        switch unsafe sqlite3_step(rows) {
        case SQLITE_DONE: return nil
        case SQLITE_ROW:
            let row = unsafe StatementRow(rows)
            return (row.item(idKind), row.text(6))
        case let code: throw error(code)
        }
    }

    /// The number in the first column of the only row.
    func number(_ values: [SQLValue]) throws -> Int {
        var number: Int?
        try forEach(values) { row in
            number = row.number
            return false
        }
        guard let number else { throw StoreError.failed("Nothing was counted.") }
        return number
    }

    /// The steps that SQLite's machine took for the last ``forEach(_:_:)``. It costs a look into a
    /// counter.
    var steps: Int { unsafe Int(sqlite3_stmt_status(rows, SQLITE_STMTSTATUS_VM_STEP, 0)) }

    private func bind(_ value: SQLValue, at index: CInt) throws {
        let code: CInt
        switch value {
        case .null: code = unsafe sqlite3_bind_null(rows, index)
        case .integer(let number): code = unsafe sqlite3_bind_int64(rows, index, number)
        case .real(let number): code = unsafe sqlite3_bind_double(rows, index, number)
        case .text(var text):
            code = text.withUTF8 { bytes in
                unsafe sqlite3_bind_text(
                    rows, index,
                    UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self),
                    CInt(bytes.count), Self.copied)
            }
        case .blob(let bytes):
            code = unsafe bytes.withUnsafeBytes { bytes in
                // Without an address it would be null, not an empty blob.
                unsafe bytes.isEmpty
                    ? sqlite3_bind_zeroblob(rows, index, 0)
                    : sqlite3_bind_blob(
                        rows, index, bytes.baseAddress, CInt(bytes.count), Self.copied)
            }
        }
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func error(_ code: CInt) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code))
    }

    /// SQLITE_TRANSIENT: SQLite copies what is bound before the call returns.
    private static var copied: sqlite3_destructor_type {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }
}

/// The row that a ``StatementRows`` stands on.
@safe
struct StatementRow: StoredItem {
    private let rows: SQLiteStatement

    // Sound as long as the row is used where ``StatementRows`` gives it out: SQLite's bytes are valid
    // until the next step.
    fileprivate init(_ rows: SQLiteStatement) { unsafe self.rows = rows }

    var createdAt: Instant? {
        let hasCreated = unsafe sqlite3_column_type(rows, 2) != SQLITE_NULL
        return hasCreated ? Instant(milliseconds: unsafe sqlite3_column_int64(rows, 2)) : nil
    }
    var updatedAt: Instant { Instant(milliseconds: unsafe sqlite3_column_int64(rows, 3)) }
    var deleted: Bool { unsafe sqlite3_column_int64(rows, 5) != 0 }

    /// The first column of a query that counts.
    fileprivate var number: Int { unsafe Int(sqlite3_column_int64(rows, 0)) }

    func appendID(to bytes: inout [UInt8]) { append(0, to: &bytes) }
    func appendColumns(to bytes: inout [UInt8]) { append(1, to: &bytes) }
    func appendVersion(to bytes: inout [UInt8]) { append(4, to: &bytes) }

    /// The row as a value of its own.
    func item(_ idKind: IDKind) -> Item {
        Item(
            id: ItemID(stored: text(0) ?? "", kind: idKind),
            columns: Columns(stored: text(1) ?? ""), createdAt: createdAt, updatedAt: updatedAt,
            version: text(4) ?? "", deleted: deleted)
    }

    /// A column's text, copied; nil for null.
    fileprivate func text(_ column: CInt) -> String? {
        guard let bytes = unsafe sqlite3_column_text(rows, column) else { return nil }
        let count = unsafe Int(sqlite3_column_bytes(rows, column))
        return unsafe String(
            decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private func append(_ column: CInt, to bytes: inout [UInt8]) {
        guard let text = unsafe sqlite3_column_text(rows, column) else { return }
        let count = unsafe Int(sqlite3_column_bytes(rows, column))
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: text, count: count))
    }
}
