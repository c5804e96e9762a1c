extension SQLCompiler {
    /// A column of the schema, with its alias.
    func sql(_ name: String) -> SQLFragment {
        SQLFragment(schema.alias.map { "\(JSONPath.identifier($0)).\(name)" } ?? name)
    }

    /// The constant JSON path of a user's column.
    private func path(_ expression: Expression) -> String? {
        guard case .column(.user(let path)) = expression else { return nil }
        return JSONPath.constant(path.enumerated().map { $0 == 0 ? spelling($1) : $1 })
    }

    /// The value of a user's column as SQLite extracts it: booleans as 1 and 0.
    func json(_ expression: Expression) -> SQLFragment {
        guard let path = path(expression) else { return .null }
        return SQLFragment("json_extract(\(sql("columns").text),\(path))")
    }

    /// The JSON type of a user's column; null for a JSON null.
    func jsonType(_ expression: Expression) -> SQLFragment {
        guard let path = path(expression) else { return .null }
        return SQLFragment("nullif(json_type(\(sql("columns").text),\(path)),'null')")
    }

    /// The text of a user's column that may hold U+0000, where `json_extract` would stop.
    func wholeText(_ expression: Expression) -> SQLFragment {
        guard let path = path(expression) else { return .null }
        return SQLFragment("odata_text(\(sql("columns").text) -> \(path))")
    }

    /// Whether the row has no text with U+0000 at all.
    var hasNoZero: String { "instr(\(sql("columns").text),'\\u0000') = 0" }

    /// The value of a user's column if it has one of some JSON types, else null.
    func json(_ expression: Expression, ofTypes types: String) -> SQLFragment {
        guard path(expression) != nil else { return .null }
        return SQLFragment(
            "CASE WHEN \(jsonType(expression).text) IN (\(types)) THEN \(json(expression).text) END"
        )
    }

    /// A class of JSON types that can be compared with one another: 1 text, 2 number, 3 boolean.
    func jsonClass(_ expression: Expression) -> SQLFragment {
        SQLFragment(
            """
            CASE \(jsonType(expression).text) WHEN 'text' THEN 1 WHEN 'integer' THEN 2 \
            WHEN 'real' THEN 2 WHEN 'true' THEN 3 WHEN 'false' THEN 3 END
            """)
    }

    /// Milliseconds since 1970 of a system property that is a date.
    func stamp(_ expression: Expression) -> SQLFragment? {
        switch expression {
        case .column(.system(.createdAt)): sql("created_at")
        case .column(.system(.updatedAt)): sql("stamp")
        case .literal, .column, .unary, .binary, .logical, .call, .inList: nil
        }
    }
}
