extension SQLCompiler {
    /// SQL for a value in the JSON of a row.
    struct JSONPlace {
        /// The value as SQLite extracts it: booleans as 1 and 0, arrays and objects as their text.
        let value: String
        /// Its JSON type; null if there is no such value.
        let type: String
        /// Its JSON text.
        let text: String
    }

    /// A column of the schema, with its alias.
    func sql(_ name: String) -> SQLFragment {
        SQLFragment(schema.alias.map { "\(JSONPath.identifier($0)).\(name)" } ?? name)
    }

    /// The SQL of a user's column or a lambda's variable; nil for other expressions, and for names that
    /// SQLite cannot express.
    func jsonPlace(_ expression: Expression) -> JSONPlace? {
        switch expression {
        case .column(.user(let path)):
            let spelled = path.enumerated().map { $0 == 0 ? spelling($1) : $1 }
            return Self.jsonPlace(in: sql("columns").text, spelled)
        case .variable(let variable):
            guard let element = variables[variable.name] else { return nil }
            guard !variable.path.isEmpty else {
                return JSONPlace(
                    value: element.value, type: element.type,
                    text: "\(element.source) -> \(element.key)")
            }
            return Self.jsonPlace(
                in: "CASE WHEN \(element.type) = 'object' THEN \(element.value) END", variable.path)
        case .column, .literal, .unary, .binary, .logical, .call, .inList, .cast, .isOf,
            .quantified:
            return nil
        }
    }

    private static func jsonPlace(in json: String, _ path: [String]) -> JSONPlace? {
        JSONPath.constant(path).map { path in
            JSONPlace(
                value: "json_extract(\(json),\(path))", type: "json_type(\(json),\(path))",
                text: "\(json.hasPrefix("CASE") ? "(\(json))" : json) -> \(path)")
        }
    }

    /// The value of a user's column as SQLite extracts it: booleans as 1 and 0.
    func json(_ expression: Expression) -> SQLFragment {
        jsonPlace(expression).map { SQLFragment($0.value) } ?? .null
    }

    /// The JSON type of a user's column; null for a JSON null.
    func jsonType(_ expression: Expression) -> SQLFragment {
        jsonPlace(expression).map { SQLFragment("nullif(\($0.type),'null')") } ?? .null
    }

    /// The whole text of a user's column. `json_extract` would stop at U+0000.
    func wholeText(_ expression: Expression) -> SQLFragment {
        jsonPlace(expression).map { SQLFragment("odata_text(\($0.text))") } ?? .null
    }

    /// Whether no text of the row contains U+0000.
    var hasNoZero: String { "instr(\(sql("columns").text),'\\u0000') = 0" }

    /// The value of a user's column if it has one of these JSON types, else null.
    func json(_ expression: Expression, ofTypes types: String) -> SQLFragment {
        guard let place = jsonPlace(expression) else { return .null }
        return SQLFragment(
            "CASE WHEN \(jsonType(expression).text) IN (\(types)) THEN \(place.value) END")
    }

    /// The class of a JSON type within which values are comparable: 1 text, 2 number, 3 boolean.
    func jsonClass(_ expression: Expression) -> SQLFragment {
        SQLFragment(
            """
            CASE \(jsonType(expression).text) WHEN 'text' THEN 1 WHEN 'integer' THEN 2 \
            WHEN 'real' THEN 2 WHEN 'true' THEN 3 WHEN 'false' THEN 3 END
            """)
    }

    /// `createdAt` or `updatedAt` in milliseconds since 1970; nil for other expressions.
    func stamp(_ expression: Expression) -> SQLFragment? {
        switch expression {
        case .column(.system(.createdAt)): sql("created_at")
        case .column(.system(.updatedAt)): sql("stamp")
        case .literal, .column, .unary, .binary, .logical, .call, .inList, .cast, .isOf,
            .quantified,
            .variable:
            nil
        }
    }

    /// The SQL names of the `json_each` row of a lambda's element.
    struct Element {
        let value: String
        let type: String
        /// Its path in the source.
        let key: String
        /// The JSON that the path is relative to.
        let source: String
    }

    /// `any` and `all` over an array: 1 or 0. A value that is not an array has no elements.
    func quantified(
        _ quantifier: Expression.Quantifier, _ collection: Expression,
        _ lambda: Expression.Lambda?
    ) -> SQLFragment {
        guard let array = jsonPlace(collection) else {
            return SQLFragment(quantifier == .all ? "1" : "0")
        }
        // Own names, because those of `json_each`, such as `id`, would hide the table's columns.
        let number = variables.count + 1
        let source = "CASE WHEN \(array.type) = 'array' THEN \(array.text) END"
        let element = Element(
            value: "each\(number)_value", type: "each\(number)_type", key: "each\(number)_key",
            source: "each\(number)_source")
        let rows = """
            (SELECT value AS \(element.value), type AS \(element.type), fullkey AS \(element.key), \
            \(source) AS \(element.source) FROM json_each(\(source)))
            """
        guard let lambda else { return SQLFragment("EXISTS (SELECT 1 FROM \(rows))") }
        var inner = exact
        inner.variables[lambda.variable] = element
        let condition = inner.condition(lambda.condition)
        switch quantifier {
        case .any:
            return SQLFragment(
                "EXISTS (SELECT 1 FROM \(rows) WHERE \(condition.text))", condition.arguments)
        case .all:
            return SQLFragment(
                "NOT EXISTS (SELECT 1 FROM \(rows) WHERE (\(condition.text)) IS NOT 1)",
                condition.arguments)
        }
    }

    /// The number of elements of an array.
    func count(_ collection: Expression) -> SQLFragment {
        guard let array = jsonPlace(collection) else { return SQLFragment("0") }
        return SQLFragment(
            "CASE WHEN \(array.type) = 'array' THEN json_array_length(\(array.text)) ELSE 0 END")
    }
}
