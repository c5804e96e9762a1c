import GRDB
import TablesProtocol
import Testing

@testable import SyncCore

/// How statements are bound, stepped, read and reset.
@Suite struct StatementTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a ANY PRIMARY KEY, b ANY) STRICT") }
    }

    private func inTransaction<T>(_ body: (Transaction) throws -> T) throws -> T {
        try queue.writeWithoutTransaction { db in
            try db.transaction(.immediate) { try body(Transaction(lookingInto: db)) }
        }
    }

    /// SQLite's code for what the body throws; nil when it throws nothing.
    private func code(_ body: () throws -> Void) throws -> ResultCode? {
        do {
            try body()
            return nil
        } catch let error as DatabaseError {
            return error.extendedResultCode
        }
    }

    private func rows(_ db: Database) throws -> [Int64] {
        try Transaction(lookingInto: db).column("SELECT a FROM t ORDER BY a")
    }

    // MARK: Values

    @Test(arguments: [
        SQLValue.null, .integer(.min), .integer(.max), .real(-0.5), .text(""), .text("milk"),
        .text("a text that is longer than sixteen bytes, with é and 🥛"), .text("a\u{0}b"),
        .blob([]), .blob([0, 255, 0]),
    ])
    func `a value comes back as it was bound`(value: SQLValue) throws {
        let (back, type): (SQLValue, String) = try inTransaction { transaction in
            try transaction.run("INSERT INTO t VALUES (1, ?)", [value])
            return try #require(
                try transaction.first("SELECT b, typeof(b) FROM t") {
                    ($0[0] as SQLValue, $0[1] as String)
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
        try inTransaction { transaction in
            let none: String? = nil
            try transaction.run("INSERT INTO t VALUES (?, ?)", [1, none])
            let values: StatementValues = ["é\u{0}", 7, Int64.max, true, 0.25, none]
            let isRead = try transaction.first("SELECT ?, ?, ?, ?, ?, ?", values) { row in
                #expect(row[0] as String == "é\u{0}" && row[0] as String? == "é\u{0}")
                #expect(row[1] as Int == 7 && row[2] as Int64 == .max)
                #expect(row[3] as Bool && row[4] as Double == 0.25)
                #expect(row[5] as String? == nil)
                return true
            }
            #expect(isRead == true)
            let null = try transaction.integer("SELECT b FROM t")
            #expect(null == nil)
            let texts: [String] = try transaction.column("SELECT b FROM t")
            #expect(texts.isEmpty)
            let missing = try transaction.integer("SELECT a FROM t WHERE a = 2")
            #expect(missing == nil)
        }
    }

    @Test func `a place that gets nil is null, whatever was bound before`() throws {
        try inTransaction { transaction in
            let none: Int? = nil
            let text = "SELECT ? IS NULL"
            let some = try transaction.integer(text, ["x"])
            let null = try transaction.integer(text, [none])
            #expect(some == 0 && null == 1)
        }
    }

    @Test func `too few or too many values are refused`() throws {
        try inTransaction { transaction in
            for values in [[1], [1, 2, 3]] as [StatementValues] {
                let code = try code { try transaction.run("INSERT INTO t VALUES (?, ?)", values) }
                #expect(code == .SQLITE_MISUSE)
            }
        }
    }

    // MARK: Errors

    @Test func `a broken constraint says its code, message and SQL, and no values`() throws {
        let sql = "INSERT INTO t VALUES (?, ?)"
        try inTransaction { transaction in
            try transaction.run(sql, [1, "secret"])
            do {
                try transaction.run(sql, [1, "secret"])
                Issue.record("the key is there twice")
            } catch let error as DatabaseError {
                #expect(error.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY)
                #expect(error.message == "UNIQUE constraint failed: t.a")
                #expect(error.sql == sql)
                #expect(!"\(error)".contains("secret"))
                #expect(
                    StoreError(error)
                        == .failed("SQLite error 19: UNIQUE constraint failed: t.a"))
            }
            // The same statement goes on as if nothing had been.
            try transaction.run(sql, [2, "other"])
            #expect(transaction.db.insertedRowID == 2 && transaction.db.changedRows == 1)
        }
        #expect(try queue.read(rows) == [1, 2])
    }

    @Test func `a statement is used again after its reader threw in the middle`() throws {
        struct Enough: Error {}
        try inTransaction { transaction in
            for number in 1...3 { try transaction.run("INSERT INTO t VALUES (?, 0)", [number]) }
            let sql = "SELECT a FROM t WHERE a >= ? ORDER BY a"
            #expect(throws: Enough.self) {
                _ = try transaction.all(sql, [1]) { row in
                    if row[0] as Int == 2 { throw Enough() }
                    return row[0] as Int
                }
            }
            #expect(try transaction.column(sql, [2]) == [2, 3])
            // It holds no lock on the table either.
            try transaction.run("DROP TABLE t")
        }
    }

    @Test func `a statement whose rows are being read is not begun again`() throws {
        try inTransaction { transaction in
            for number in 1...3 { try transaction.run("INSERT INTO t VALUES (?, 0)", [number]) }
            let sql = "SELECT a FROM t ORDER BY a"
            let seen = try transaction.all(sql) { row -> Int? in
                let code = try code { _ = try transaction.integer(sql) }
                #expect(code == .SQLITE_MISUSE)
                return row[0]
            }
            #expect(seen == [1, 2, 3])
        }
    }

    // MARK: Transactions

    @Test func `what was written is rolled back when the body throws`() throws {
        struct Trouble: Error {}
        #expect(throws: Trouble.self) {
            try inTransaction { transaction in
                try transaction.run("INSERT INTO t VALUES (1, 1)")
                throw Trouble()
            }
        }
        #expect(try queue.read(rows) == [])
        try inTransaction { try $0.run("INSERT INTO t VALUES (2, 2)") }
        #expect(try queue.read(rows) == [2])
    }

    @Test func `nothing is written or committed after SQLite ended the transaction`() throws {
        let committed = try code {
            try inTransaction { transaction in
                try transaction.run("INSERT INTO t VALUES (1, 1)")
                let ended = try code {
                    try transaction.run("INSERT OR ROLLBACK INTO t VALUES (1, 1)")
                }
                #expect(ended == .SQLITE_CONSTRAINT_PRIMARYKEY)
                let written = try code { try transaction.run("INSERT INTO t VALUES (2, 2)") }
                #expect(written == .SQLITE_ABORT)
            }
        }
        #expect(committed == .SQLITE_ABORT)
        #expect(try queue.read(rows) == [])
    }

    @Test func `a commit that fails is rolled back`() throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE child(p REFERENCES t(a) DEFERRABLE INITIALLY DEFERRED)
                    """)
        }
        let committed = try code {
            try inTransaction { try $0.run("INSERT INTO child VALUES (?)", [9]) }
        }
        #expect(committed == .SQLITE_CONSTRAINT_FOREIGNKEY)
        // GRDB knows of no transaction that is left open, and its own follows ours.
        try queue.write { db in
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM child") == 0)
            try db.execute(sql: "INSERT INTO t VALUES (3, 3)")
        }
        #expect(try queue.read(rows) == [3])
    }
}
