extension Ordering {
    /// Reads the value of `$orderby`: expressions separated by commas, each with `asc` or `desc`.
    public static func parse(
        _ text: String, generation: Generation, option: String = "$orderby"
    ) throws(ODataError) -> [Ordering] {
        var parser = try Parser(text, option: option, generation: generation)
        if parser.current.kind == .end { return [] }
        var terms: [Ordering] = []
        repeat {
            guard terms.count < Limits.orderTerms else {
                throw parser.error(
                    "The order has more than \(Limits.orderTerms) terms",
                    at: parser.current.position)
            }
            let expression = try parser.expression().expression
            terms.append(Ordering(expression, descending: try direction(&parser)))
        } while parser.take(.comma)
        return terms
    }

    private static func direction(_ parser: inout Parser) throws(ODataError) -> Bool {
        let token = parser.current
        switch token.kind {
        case .comma, .end:
            return false
        case .identifier(let word) where ["asc", "desc"].contains(word.lowercased()):
            parser.advance()
            guard [.comma, .end].contains(parser.current.kind) else { fallthrough }
            return word.lowercased() == "desc"
        case .identifier, .literal, .open, .close, .colon, .slash, .minus:
            throw parser.error(
                "Expected 'asc', 'desc' or ',' but found \(parser.current.name)",
                at: parser.current.position)
        }
    }
}
