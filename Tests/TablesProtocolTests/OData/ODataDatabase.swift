import GRDB
import TablesProtocol

import struct Foundation.Data

/// A table of items in memory, for compiled queries.
struct ODataDatabase {
    private let queue: DatabaseQueue
    private let schema: ItemSQLSchema

    /// - Parameter rows: the JSON of the user's columns by id; the stamps are 1000, 2000, …
    init(_ rows: KeyValuePairs<String, String>, hasIntegerIDs: Bool = false) throws {
        queue = try DatabaseQueue()
        schema = ItemSQLSchema(alias: "t", hasIntegerIDs: hasIntegerIDs)
        try queue.write { db in
            for function in SQLFunction.all { db.add(function: DatabaseFunction(function)) }
            try db.execute(
                sql: """
                    CREATE TABLE items(id TEXT NOT NULL, columns TEXT NOT NULL,
                      created_at INTEGER NOT NULL, stamp INTEGER NOT NULL,
                      version TEXT NOT NULL, deleted INTEGER NOT NULL) STRICT;
                    CREATE INDEX complete ON items(json_extract(columns,'$."complete"'));
                    CREATE INDEX ordered ON items(
                      CASE WHEN json_extract(columns,'$."complete"') BETWEEN '/' AND ':'
                        THEN odata_ordered(json_extract(columns,'$."complete"'))
                        ELSE json_extract(columns,'$."complete"') END);
                    CREATE INDEX stamps ON items(stamp, id);
                    """)
            for (index, (id, columns)) in rows.enumerated() {
                try db.execute(
                    sql: "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?)",
                    arguments: [
                        id, Columns(parsing: columns).text, index, (index + 1) * 1000, "djE=",
                        index == 1,
                    ])
            }
        }
    }

    /// The ids of the rows that match a filter, in an order.
    func ids(
        _ filter: String = "true", orderBy: String = "", generation: Generation = .mobileApps
    ) throws -> [String] {
        let tree = try Expression(parsing: filter, generation: generation)
        let terms = try Ordering.parse(orderBy, generation: generation)
        return try ids(tree, orderBy: terms, nulls: NullComparison(generation))
    }

    func ids(
        _ tree: Expression, orderBy terms: [Ordering] = [], nulls: NullComparison
    ) throws -> [String] {
        let compiler = SQLCompiler(schema, nulls: nulls)
        let filter = compiler.filter(tree)
        let condition = compiler.textCondition(tree).map { filter.infix("AND", $0) } ?? filter
        let order = compiler.ordering(terms)
        return try queue.read { db in
            try String.fetchAll(
                db, sql: "SELECT id FROM items t WHERE \(condition.text) ORDER BY \(order.text)",
                arguments: StatementArguments(
                    (condition.arguments + order.arguments).map(\.database)))
        }
    }

    /// The value of a condition: true, false or nil for null.
    func truth(_ filter: String, id: String) throws -> Bool? {
        try truth(Expression(parsing: filter, generation: .mobileApps), id: id)
    }

    func truth(_ tree: Expression, id: String) throws -> Bool? {
        let condition = SQLCompiler(schema).filter(tree)
        return try queue.read { db in
            try Bool.fetchOne(
                db, sql: "SELECT \(condition.text) FROM items t WHERE id = ?",
                arguments: StatementArguments((condition.arguments + [.text(id)]).map(\.database)))
        }
    }

    /// SQLite's query plan for a filter.
    func plan(_ filter: String, generation: Generation = .mobileApps) throws -> String {
        let compiler = SQLCompiler(schema, nulls: NullComparison(generation))
        let condition = compiler.filter(try Expression(parsing: filter, generation: generation))
        return try queue.read { db in
            try Row.fetchAll(
                db, sql: "EXPLAIN QUERY PLAN SELECT id FROM items t WHERE \(condition.text)",
                arguments: StatementArguments(condition.arguments.map(\.database))
            ).map { $0["detail"] }.joined(separator: "; ")
        }
    }
}

extension DatabaseFunction {
    fileprivate convenience init(_ function: SQLFunction) {
        self.init(function.name, argumentCount: function.argumentCount, pure: true) { arguments in
            function.call(arguments.map { SQLValue($0) }).value.database
        }
    }
}

extension SQLValue {
    fileprivate init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let integer): self = .integer(integer)
        case .double(let real): self = .real(real)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .blob(Array(data))
        }
    }

    fileprivate var database: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .real(let value): value.databaseValue
        case .text(let value): value.databaseValue
        case .blob(let value): Data(value).databaseValue
        }
    }
}
