import GRDB
import Testing

@testable import Storage

/// How statements are bound, stepped, read and reset.
@Suite struct StatementTests {
    private let queue: ConnectionQueue

    init() throws {
        queue = try ConnectionQueue.inMemory()
        try queue.access { try $0.run("CREATE TABLE t(a ANY PRIMARY KEY, b ANY) STRICT") }
    }

    private func inTransaction<T>(_ body: (Connection) throws -> T) throws -> T {
        try queue.access { db in try db.transaction(.immediate) { try body(db) } }
    }

    /// The SQLite code of an error; nil if the body throws none.
    private func code(_ body: () throws -> Void) throws -> ResultCode? {
        do {
            try body()
            return nil
        } catch let error as DatabaseError {
            return error.extendedResultCode
        }
    }

    private func rows(_ db: Connection) throws -> [Int64] {
        try db.column("SELECT a FROM t ORDER BY a")
    }

    // MARK: Values

    @Test(arguments: [
        StoredValue.null, .integer(.min), .integer(.max), .real(-0.5), .text(""), .text("milk"),
        .text("a text that is longer than sixteen bytes, with é and 🥛"), .text("a\u{0}b"),
        .blob([]), .blob([0, 255, 0]),
    ])
    func `a value comes back as it was bound`(value: StoredValue) throws {
        let (back, type): (StoredValue, String) = try inTransaction { db in
            try db.run("INSERT INTO t VALUES (1, ?)", [value])
            return try #require(
                try db.first("SELECT b, typeof(b) FROM t") {
                    ($0[0] as StoredValue, $0[1] as String)
                })
        }
        #expect(back == value)
        let expected =
            switch value {
            case .null: "null"
            case .integer: "integer"
            case .real: "real"
            case .text: "text"
            case .blob: "blob"
            }
        #expect(type == expected)
    }

    @Test func `each type is read as itself, and null as nil`() throws {
        try inTransaction { db in
            let none: String? = nil
            try db.run("INSERT INTO t VALUES (?, ?)", [1, none])
            let values: StatementValues = ["é\u{0}", 7, Int64.max, true, 0.25, none]
            let isRead = try db.first("SELECT ?, ?, ?, ?, ?, ?", values) { row in
                #expect(row[0] as String == "é\u{0}" && row[0] as String? == "é\u{0}")
                #expect(row[1] as Int == 7 && row[2] as Int64 == .max)
                #expect(row[3] as Bool && row[4] as Double == 0.25)
                #expect(row[5] as String? == nil)
                return true
            }
            #expect(isRead == true)
            let null = try db.integer("SELECT b FROM t")
            #expect(null == nil)
            let texts: [String] = try db.column("SELECT b FROM t")
            #expect(texts.isEmpty)
            let missing = try db.integer("SELECT a FROM t WHERE a = 2")
            #expect(missing == nil)
        }
    }

    @Test func `nil is bound as null, whatever was bound before`() throws {
        try inTransaction { db in
            let none: Int? = nil
            let text = "SELECT ? IS NULL"
            let some = try db.integer(text, ["x"])
            let null = try db.integer(text, [none])
            #expect(some == 0 && null == 1)
        }
    }

    @Test func `too few or too many values are refused`() throws {
        try inTransaction { db in
            for values in [[1], [1, 2, 3]] as [StatementValues] {
                let code = try code { try db.run("INSERT INTO t VALUES (?, ?)", values) }
                #expect(code == .SQLITE_MISUSE)
            }
        }
    }

    /// Steps a statement with the values that it has; false where it gives no row.
    @discardableResult
    private func run(_ statement: Statement) throws -> Bool {
        try StatementRows(statement).next() != nil
    }

    @Test func `a statement releases its values after its run`() throws {
        try inTransaction { db in
            let sql = "INSERT INTO t VALUES (?, ?)"
            try db.run(sql, [1, "secret"])
            // Stepped as it is, it writes nulls; with its old values it would break the key.
            let code = try code { try run(db.database.cachedStatement(sql: sql)) }
            #expect(code == .SQLITE_CONSTRAINT_NOTNULL)
            let query = "SELECT a FROM t WHERE b = ?"
            #expect(try db.integer(query, ["secret"]) == 1)
            #expect(try !run(db.database.cachedStatement(sql: query)))
        }
    }

    // MARK: Errors

    @Test func `a constraint error has its code, message and SQL, and no values`() throws {
        let sql = "INSERT INTO t VALUES (?, ?)"
        try inTransaction { db in
            try db.run(sql, [1, "secret"])
            do {
                try db.run(sql, [1, "secret"])
                Issue.record("the key is there twice")
            } catch let error as DatabaseError {
                #expect(error.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY)
                #expect(error.message == "UNIQUE constraint failed: t.a")
                #expect(error.sql == sql)
                #expect(!"\(error)".contains("secret"))
                guard case .sqlite(19, "UNIQUE constraint failed: t.a") = StorageError(error) else {
                    Issue.record("\(error)")
                    return
                }
            }
            // The same statement works afterwards.
            try db.run(sql, [2, "other"])
            #expect(db.insertedRowID == 2 && db.changedRows == 1)
        }
        #expect(try queue.access(rows) == [1, 2])
    }

    @Test func `a statement is reusable after its reader threw`() throws {
        struct Enough: Error {}
        try inTransaction { db in
            for number in 1...3 { try db.run("INSERT INTO t VALUES (?, 0)", [number]) }
            let sql = "SELECT a FROM t WHERE a >= ? ORDER BY a"
            #expect(throws: Enough.self) {
                _ = try db.all(sql, [1]) { row in
                    if row[0] as Int == 2 { throw Enough() }
                    return row[0] as Int
                }
            }
            #expect(try db.column(sql, [2]) == [2, 3])
            // It holds no lock on the table.
            try db.run("DROP TABLE t")
        }
    }

    @Test func `a statement whose rows are being read is not started again`() throws {
        try inTransaction { db in
            for number in 1...3 { try db.run("INSERT INTO t VALUES (?, 0)", [number]) }
            let sql = "SELECT a FROM t ORDER BY a"
            let seen = try db.all(sql) { row -> Int? in
                let code = try code { _ = try db.integer(sql) }
                #expect(code == .SQLITE_MISUSE)
                return row[0]
            }
            #expect(seen == [1, 2, 3])
        }
    }

    // MARK: Transactions

    @Test func `a transaction is rolled back when its body throws`() throws {
        struct Trouble: Error {}
        #expect(throws: Trouble.self) {
            try inTransaction { db in
                try db.run("INSERT INTO t VALUES (1, 1)")
                throw Trouble()
            }
        }
        #expect(try queue.access(rows) == [])
        try inTransaction { try $0.run("INSERT INTO t VALUES (2, 2)") }
        #expect(try queue.access(rows) == [2])
    }

    @Test func `nothing is written or committed after SQLite ended the transaction`() throws {
        let committed = try code {
            try inTransaction { db in
                try db.run("INSERT INTO t VALUES (1, 1)")
                let ended = try code {
                    try db.run("INSERT OR ROLLBACK INTO t VALUES (1, 1)")
                }
                #expect(ended == .SQLITE_CONSTRAINT_PRIMARYKEY)
                let written = try code { try db.run("INSERT INTO t VALUES (2, 2)") }
                #expect(written == .SQLITE_ABORT)
            }
        }
        #expect(committed == .SQLITE_ABORT)
        #expect(try queue.access(rows) == [])
    }

    @Test func `a commit that fails is rolled back`() throws {
        try queue.access { db in
            try db.run("CREATE TABLE child(p REFERENCES t(a) DEFERRABLE INITIALLY DEFERRED)")
        }
        let committed = try code {
            try inTransaction { try $0.run("INSERT INTO child VALUES (?)", [9]) }
        }
        #expect(committed == .SQLITE_CONSTRAINT_FOREIGNKEY)
        // No transaction is left open, and the next one follows.
        try inTransaction { db in
            #expect(try db.integer("SELECT count(*) FROM child") == 0)
            try db.run("INSERT INTO t VALUES (3, 3)")
        }
        #expect(try queue.access(rows) == [3])
    }
}
