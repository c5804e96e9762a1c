package import Storage
package import TablesProtocol

extension ConnectionQueue {
    /// A connection that only reads a store.
    static func storeReader(
        _ path: String, accesses: AccessCount = AccessCount()
    ) throws -> ConnectionQueue {
        try reader(path, functions: ScalarFunction.ofQueries, accesses: accesses)
    }

    /// A connection that writes a file which no ``Store`` has open.
    static func storeWriter(_ path: String) throws -> ConnectionQueue {
        try writer(path, functions: ScalarFunction.ofQueries)
    }
}

// What compiled queries hand to SQLite and get from it.

extension SQLValue: StatementValue {
    package var stored: StoredValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .text(text)
        case .blob(let bytes): .blob(bytes)
        }
    }

    package init(_ row: StatementRow, _ column: Int) { self.init(row.value(column)) }

    init(_ value: StoredValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let text): .text(text)
            case .blob(let bytes): .blob(bytes)
            }
    }
}

extension ScalarFunction {
    /// The functions that compiled queries and the lists of operations call, for each connection that runs
    /// them.
    static let ofQueries = ofCompiledQueries + [causeOf]

    private static let ofCompiledQueries = SQLFunction.all.map { function in
        ScalarFunction(function.name, argumentCount: function.argumentCount) { values in
            let call = function.call(values.map(SQLValue.init))
            return Call(call.value.stored, steps: call.steps)
        }
    }
}

extension Migrations {
    /// The migrations of this version. The first one creates the whole schema of version 1.
    static let present = Migrations(steps: [
        Step(version: 1, sql: String(decoding: PackageResources.Schema_sql, as: UTF8.self)),
        Step(version: 2, sql: String(decoding: PackageResources.Schema2_sql, as: UTF8.self)),
        Step(version: 3, sql: String(decoding: PackageResources.Schema3_sql, as: UTF8.self)),
        Step(version: 4, sql: String(decoding: PackageResources.Schema4_sql, as: UTF8.self)),
        Step(version: 5, sql: String(decoding: PackageResources.Schema5_sql, as: UTF8.self)),
        Step(version: 6, sql: String(decoding: PackageResources.Schema6_sql, as: UTF8.self)),
        Step(version: 7, sql: String(decoding: PackageResources.Schema7_sql, as: UTF8.self)),
    ])
}
