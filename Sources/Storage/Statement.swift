import GRDB
import GRDBSQLite
import Synchronization

// How values get into a statement. GRDB prepares, keeps and steps them all. It ends a text at U+0000 and
// takes a blob without bytes for null, so values are bound here, and columns read in `StatementRow`.
//
// Sound, for every `unsafe` below: SQLite, opened without its own lock, allows one thread at a time in a
// connection. A `Statement` cannot be sent to another thread, so the code that has one runs in the access
// of GRDB's queue that gave it out, and those are one after another. The statement lives while `self` does.
extension Statement {
    /// Gives each place of a statement that was never run, or whose run was ended, its value. There are as
    /// many values as places.
    func bind(_ values: StatementValues) throws {
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

/// The row that a statement stands on. It holds only until the closure returns that it is given to.
///
/// Columns are read in place, by their places, 0 for the first.
package struct StatementRow {
    // Sound, for every `unsafe` below: the statement stands on a row as long as the closure runs, on the
    // thread that has the connection (`Statement.swift`). What SQLite lends is copied before the next call.
    private let statement: Statement

    init(_ statement: Statement) { self.statement = statement }

    /// A column that is never null.
    package subscript<Value: StatementValue>(column: Int) -> Value { Value(self, column) }

    /// A column that may be null.
    package subscript<Value: StatementValue>(column: Int) -> Value? {
        isNull(column) ? nil : Value(self, column)
    }

    /// Whether a column is null; columns count from 0.
    package func isNull(_ column: Int) -> Bool {
        unsafe sqlite3_column_type(statement.sqliteStatement, CInt(column)) == SQLITE_NULL
    }

    /// A column's whole number; 0 for null.
    package func integer(_ column: Int) -> Int64 {
        unsafe sqlite3_column_int64(statement.sqliteStatement, CInt(column))
    }

    /// A column's number; 0 for null.
    package func real(_ column: Int) -> Double {
        unsafe sqlite3_column_double(statement.sqliteStatement, CInt(column))
    }

    /// A column's text, copied.
    package func text(_ column: Int) -> String {
        let (sqlite, place) = unsafe (statement.sqliteStatement, CInt(column))
        // In this order: the first call may convert the column, and the length is of what it made.
        let start = unsafe sqlite3_column_text(sqlite, place)
        let count = unsafe Int(sqlite3_column_bytes(sqlite, place))
        return unsafe String(
            decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// A column's bytes, copied.
    package func bytes(_ column: Int) -> [UInt8] {
        let (sqlite, place) = unsafe (statement.sqliteStatement, CInt(column))
        let start = unsafe sqlite3_column_blob(sqlite, place)
        let count = unsafe Int(sqlite3_column_bytes(sqlite, place))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    package func value(_ column: Int) -> StoredValue {
        switch unsafe sqlite3_column_type(statement.sqliteStatement, CInt(column)) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(real(column))
        case SQLITE_TEXT: .text(text(column))
        default: .blob(bytes(column))
        }
    }
}

/// A value that stands in a place of a statement, or in a column of a row. Null is nil.
package protocol StatementValue {
    /// The value as SQLite takes it.
    var stored: StoredValue { get }

    /// Reads a column. SQLite converts what has another type; null, where none is expected, is zero or
    /// no text.
    init(_ row: StatementRow, _ column: Int)
}

/// The values of a statement's parameters, from the first one on.
package typealias StatementValues = [(any StatementValue)?]

extension String: StatementValue {
    package var stored: StoredValue { .text(self) }
    package init(_ row: StatementRow, _ column: Int) { self = row.text(column) }
}

extension Int64: StatementValue {
    package var stored: StoredValue { .integer(self) }
    package init(_ row: StatementRow, _ column: Int) { self = row.integer(column) }
}

extension Int: StatementValue {
    package var stored: StoredValue { .integer(Int64(self)) }
    package init(_ row: StatementRow, _ column: Int) { self = Int(row.integer(column)) }
}

extension Bool: StatementValue {
    package var stored: StoredValue { .integer(self ? 1 : 0) }
    package init(_ row: StatementRow, _ column: Int) { self = row.integer(column) != 0 }
}

extension Double: StatementValue {
    package var stored: StoredValue { .real(self) }
    package init(_ row: StatementRow, _ column: Int) { self = row.real(column) }
}

extension StoredValue: StatementValue {
    package var stored: StoredValue { self }
    package init(_ row: StatementRow, _ column: Int) { self = row.value(column) }
}

package enum StoredValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// Cuts a read that takes too many steps of SQLite's machine, or whose functions do work that counts as
/// so many; then one that takes too long, and one that no caller waits for any more.
///
/// One belongs to one connection and lives as long. SQLite calls it on the thread that reads.
final class StatementBudget: Sendable {
    /// The rest of the budget of the read that runs.
    private struct Read {
        var stepsLeft: Int
        /// The number of steps left at which the clock is read next.
        var nextLook: Int
        /// Set with the first look: a short read never looks.
        var endsAt: Duration?
        let milliseconds: Int
        let isAbandoned: @Sendable () -> Bool

        init(steps: Int, milliseconds: Int, isAbandoned: @escaping @Sendable () -> Bool) {
            // One tick more, since SQLite's count does not begin at zero for a statement used before.
            stepsLeft = steps + StorageLimits.stepsPerBudgetLook
            nextLook = steps
            self.milliseconds = milliseconds
            self.isAbandoned = isAbandoned
        }

        /// False when the read has to end.
        mutating func spend(_ steps: Int, _ uptime: () -> Duration) -> Bool {
            stepsLeft -= steps
            guard stepsLeft >= 0 else { return false }
            guard stepsLeft <= nextLook else { return true }
            nextLook = stepsLeft - StorageLimits.stepsPerBudgetLook
            let now = uptime()
            let end = endsAt ?? now + .milliseconds(milliseconds)
            endsAt = end
            return now < end && !isAbandoned()
        }
    }
    /// Nil while nothing is read: preparing a statement is not bounded.
    private let read = Mutex<Read?>(nil)
    private let uptime: @Sendable () -> Duration

    /// - Parameter uptime: a clock that only goes forward.
    init(uptime: @escaping @Sendable () -> Duration) { self.uptime = uptime }

    /// Makes a connection ask this budget while it reads. Called once, when the connection opens.
    func install(on db: Database) {
        // Sound: the pointer is only used while the connection lives, and the owner of
        // the connection holds this budget longer.
        unsafe sqlite3_progress_handler(
            db.sqliteConnection, CInt(StorageLimits.stepsPerBudgetLook),
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<StatementBudget>.fromOpaque(context)
                    .takeUnretainedValue().tick()
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Runs a read that may take about this many steps, and this time.
    /// - Parameter isAbandoned: whether no caller waits for it any more.
    func within<T>(
        steps: Int, milliseconds: Int = StorageLimits.readMilliseconds,
        isAbandoned: @escaping @Sendable () -> Bool = { false }, _ body: () throws -> T
    ) rethrows -> T {
        read.withLock {
            $0 = Read(steps: steps, milliseconds: milliseconds, isAbandoned: isAbandoned)
        }
        defer { read.withLock { $0 = nil } }
        return try body()
    }

    /// Counts work that SQLite's machine does not see. The clock is looked at every ten thousand steps,
    /// whatever made them.
    /// - Returns: false when the read has to end.
    func spend(steps: Int) -> Bool {
        read.withLock { $0?.spend(steps, uptime) ?? true }
    }

    /// 0 to go on, 1 to interrupt.
    private func tick() -> CInt { spend(steps: StorageLimits.stepsPerBudgetLook) ? 0 : 1 }
}
