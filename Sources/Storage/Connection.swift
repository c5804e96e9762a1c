import Foundation
import GRDB

/// A connection to a SQLite file as its queue lends it: what statements and transactions run on.
///
/// GRDB prepares the statements, keeps them by their text, and runs them. A statement stays prepared
/// unless `keep` is false: for a text that differs from call to call.
package struct Connection: StatementRunner {
    let database: Database
    package var db: Connection { self }
    /// The queries of callers that stay prepared; nil where there are none.
    private let kept: KeptQueries?
    /// The budget of reads; nil where reads have none.
    private let budget: StatementBudget?

    init(_ database: Database, kept: KeptQueries? = nil, budget: StatementBudget? = nil) {
        self.database = database
        self.kept = kept
        self.budget = budget
    }

    /// Runs a read that may take about so many steps of SQLite's machine for all its statements together, and
    /// this time. On a connection that was opened without a clock nothing bounds it.
    /// - Parameter isAbandoned: whether no caller waits for the answer any more.
    /// - Throws: an error that ``StorageError/interrupted`` explains when the budget is spent.
    package func within<T>(
        steps: Int, milliseconds: Int = StorageLimits.readMilliseconds,
        isAbandoned: @escaping @Sendable () -> Bool = { false }, _ body: () throws -> T
    ) rethrows -> T {
        guard let budget else { return try body() }
        return try budget.within(
            steps: steps, milliseconds: milliseconds, isAbandoned: isAbandoned, body)
    }

    /// Runs several statements without values.
    package func run(script: String) throws { try database.execute(sql: script) }

    /// Runs a caller's query and gives each row to `take` until it says false. As many different ones as
    /// ``StorageLimits/keptQueries`` stay prepared.
    /// - Returns: the steps that SQLite's machine took.
    @discardableResult
    package func query(
        _ sql: String, _ values: StatementValues, _ take: (StatementRow) throws -> Bool
    ) throws -> Int {
        let statement = try bound(sql, values, kept?.admit(sql) ?? false)
        statement.forgetSteps()
        try each(statement, take)
        return statement.steps
    }

    package var insertedRowID: Int64 { database.lastInsertedRowID }

    /// How many rows the last statement changed, without those that triggers changed.
    package var changedRows: Int { database.changesCount }

    fileprivate func bound(
        _ sql: String, _ values: StatementValues, _ keep: Bool
    ) throws -> Statement {
        // Kept statements are found by their text, and Swift's strings are equal where only the form of an
        // accent differs. Names of columns are part of the text, and compared byte for byte.
        let isFoundByBytes = sql.utf8.allSatisfy { $0 < 0x80 }
        let statement =
            try keep && isFoundByBytes
            ? database.cachedStatement(sql: sql) : database.makeStatement(sql: sql)
        // To begin it again would end that reading.
        guard !statement.isBusy else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "The statement's rows are being read.",
                sql: sql)
        }
        try statement.bind(values)
        return statement
    }

    fileprivate func each(
        _ statement: Statement, _ take: (StatementRow) throws -> Bool
    ) throws {
        defer { statement.end() }
        let rows = StatementRows(statement)
        while let row = try rows.next(), try take(row) {}
    }
}

/// What runs statements: a connection that is lent, and what is made over it.
package protocol StatementRunner {
    var db: Connection { get }
}

extension StatementRunner {
    /// Runs one statement to its end.
    /// - Parameter values: one for each place.
    /// - Throws: an error that ``StorageError/init(_:)`` explains.
    package func run(_ sql: String, _ values: StatementValues = [], keep: Bool = true) throws {
        try db.each(try db.bound(sql, values, keep)) { _ in true }
    }

    /// The value that `read` makes of the first row of an answer; nil where there is no row.
    package func first<T>(
        _ sql: String, _ values: StatementValues = [], _ read: (StatementRow) throws -> T?
    ) throws -> T? {
        var found: T?
        try db.each(try db.bound(sql, values, true)) { row in
            found = try read(row)
            return false
        }
        return found
    }

    /// The values that `read` makes of the rows of an answer, without the rows for which `read` returns
    /// nil.
    package func all<T>(
        _ sql: String, _ values: StatementValues = [], keep: Bool = true,
        _ read: (StatementRow) throws -> T?
    ) throws -> [T] {
        var found: [T] = []
        try db.each(try db.bound(sql, values, keep)) { row in
            if let value = try read(row) { found.append(value) }
            return true
        }
        return found
    }

    /// The first column of every row of an answer, where it is not null.
    package func column<Value: StatementValue>(
        _ sql: String, _ values: StatementValues = [], keep: Bool = true
    ) throws -> [Value] {
        try all(sql, values, keep: keep) { $0[0] }
    }

    /// The first value of an answer; nil when there is none or it is null.
    package func integer(_ sql: String, _ values: StatementValues = []) throws -> Int64? {
        try first(sql, values) { $0[0] }
    }
}

// Transactions. GRDB commits when the body returns and rolls back when it throws; nothing runs any more in
// a transaction that SQLite has ended by itself, as it may after an error that the body took for its own.
extension Connection {
    /// When a transaction takes its lock.
    package enum Beginning {
        /// With its first read.
        case deferred
        /// Now, to write.
        case immediate
    }

    /// Runs the body in a transaction of its own.
    /// - Throws: the first error.
    package func transaction<T>(_ beginning: Beginning, _ body: () throws -> T) throws -> T {
        var value: T?
        try database.inTransaction(beginning == .deferred ? .deferred : .immediate) {
            value = try body()
            return .commit
        }
        guard let value else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
        return value
    }

    /// Runs the body in a part of the open transaction. What it wrote is rolled back where it says false
    /// or throws. Its statements stay prepared, which GRDB's own savepoints do not.
    /// - Throws: the first error.
    package func savepoint(_ body: () throws -> Bool) throws {
        try run("SAVEPOINT part")
        do {
            if try body() { return try run("RELEASE part") }
        } catch {
            try? rollBackPart()
            throw error
        }
        try rollBackPart()
    }

    private func rollBackPart() throws {
        // With a transaction that SQLite has ended by itself its parts are gone too.
        guard database.isInsideTransaction else { return }
        try run("ROLLBACK TO part")
        try run("RELEASE part")
    }
}

/// A deterministic function that statements may call.
package struct ScalarFunction: Sendable {
    let name: String
    let argumentCount: Int
    let body: @Sendable ([StoredValue]) -> Call

    /// The value of a call, and its cost in steps.
    package struct Call: Sendable {
        let value: StoredValue
        let steps: Int

        /// - Parameter steps: the work, in steps of SQLite's machine, which does not see it.
        package init(_ value: StoredValue, steps: Int = 0) {
            self.value = value
            self.steps = steps
        }
    }

    /// - Parameter body: gets `argumentCount` values.
    package init(
        _ name: String, argumentCount: Int, body: @escaping @Sendable ([StoredValue]) -> Call
    ) {
        self.name = name
        self.argumentCount = argumentCount
        self.body = body
    }

    /// The function as GRDB registers it.
    /// - Parameter budget: what its work counts in; a call that goes over it ends the statement as the
    ///   budget itself does. Nil for work that nothing bounds.
    func registered(spending budget: StatementBudget?) -> DatabaseFunction {
        DatabaseFunction(name, argumentCount: argumentCount, pure: true) { values in
            let call = body(values.map(StoredValue.init))
            guard budget?.spend(steps: call.steps) ?? true else {
                throw DatabaseError(resultCode: .SQLITE_INTERRUPT)
            }
            return call.value.databaseValue
        }
    }
}

extension StoredValue {
    init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .blob(Array(data))
        }
    }

    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }
}
