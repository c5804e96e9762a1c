extension SQLCompiler {
    /// Where the element is that a lambda looks at: SQL names of a row of `json_each`.
    struct Element {
        let value: String
        let type: String
        /// Its path in the source.
        let key: String
        /// The JSON that the path begins in.
        let source: String
    }

    /// `any` and `all` over an array; 1 or 0. What is no array has no elements.
    func quantified(
        _ quantifier: Expression.Quantifier, _ collection: Expression,
        _ lambda: Expression.Lambda?
    ) -> SQLFragment {
        guard let array = jsonPlace(collection) else {
            return SQLFragment(quantifier == .all ? "1" : "0")
        }
        // The names are ours: those of json_each, `id` among them, would hide the table's own.
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
