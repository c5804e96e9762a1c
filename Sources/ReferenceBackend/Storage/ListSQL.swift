import struct Foundation.Data
import GRDB
import TablesProtocol

/// A list as SQL.
struct ListSQL {
    private var condition = SQLFragment("table_key = ?")
    private var order: SQLFragment
    private let skip: Int

    init(_ table: TableRecord, _ query: ListQuery, _ profile: Profile, includesDeleted: Bool) {
        condition.arguments = [.integer(table.key)]
        if !includesDeleted { condition.text += " AND deleted = 0" }
        skip = query.skip
        order = SQLFragment(profile.isNode ? "position" : "id")
        if let filter = query.filter {
            let fragment = Self.condition(filter)
            condition.text += " AND \(fragment.text)"
            condition.arguments += fragment.arguments
        }
        if !query.orderBy.isEmpty {
            let terms = query.orderBy.map {
                Self.condition($0.expression).text + ($0.descending ? " DESC" : "")
            }
            order = SQLFragment((terms + ["id"]).joined(separator: ","))
        }
    }

    private static func condition(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .literal(.instant(let literal)):
            SQLFragment("?", [.integer(literal.instant.milliseconds)])
        case .literal(.string(let text)): SQLFragment("?", [.text(text)])
        case .literal(.boolean(let value)): SQLFragment("?", [.integer(value ? 1 : 0)])
        case .literal(.number(let number)): SQLFragment(number.text)
        case .literal: SQLFragment("NULL")
        case .column(.id): SQLFragment("id")
        case .column(.system(.createdAt)): SQLFragment("created_at")
        case .column(.system(.updatedAt)): SQLFragment("stamp")
        case .column(.system(.version)): SQLFragment("version")
        case .column(.system(.deleted)): SQLFragment("deleted")
        case .column(.user(let path)):
            SQLFragment("json_extract(columns, ?)", [.text("$.\(path[0])")])
        case .binary(let word, let left, let right):
            joined([condition(left), condition(right)], sign(word))
        case .logical(let word, let operands):
            joined(operands.map(condition), word.rawValue.uppercased())
        case .unary(_, let operand): joined([SQLFragment("NOT"), condition(operand)], "")
        case .call, .inList, .cast: SQLFragment("0")
        }
    }

    private static func joined(_ parts: [SQLFragment], _ word: String) -> SQLFragment {
        SQLFragment(
            "(" + parts.map(\.text).joined(separator: " \(word) ") + ")",
            parts.flatMap(\.arguments))
    }

    private static func sign(_ word: Expression.BinaryOperator) -> String {
        switch word {
        case .equal: "="
        case .notEqual: "<>"
        case .greaterThan: ">"
        case .greaterOrEqual: ">="
        case .lessThan: "<"
        case .lessOrEqual: "<="
        case .add: "+"
        case .sub: "-"
        case .mul: "*"
        case .div: "/"
        case .mod: "%"
        }
    }

    /// The rows after the skipped ones.
    func rows(_ database: Database, limit: Int) throws -> [Row] {
        let sql = """
            SELECT * FROM items WHERE \(condition.text) ORDER BY \(order.text) LIMIT ? OFFSET ?
            """
        let arguments =
            condition.arguments + order.arguments
            + [.integer(Int64(limit)), .integer(Int64(skip))]
        return try GRDB.Row.fetchAll(
            database, sql: sql, arguments: StatementArguments(arguments.map(\.bound))
        ).map(Items.row)
    }

    /// How many rows match regardless of skip and limit.
    func count(_ database: Database) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT count(*) FROM items WHERE \(condition.text)",
            arguments: StatementArguments(condition.arguments.map(\.bound))) ?? 0
    }
}

extension SQLValue {
    /// The value as GRDB binds it.
    var bound: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .real(let value): value.databaseValue
        case .text(let value): value.databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }
}
