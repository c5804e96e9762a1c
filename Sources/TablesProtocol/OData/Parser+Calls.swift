extension Parser {
    /// Functions of OData that JSON columns could only be asked with another model of types.
    private static let unsupported: Set = [
        "case", "geo.intersects", "hassubset", "hassubsequence",
    ]

    /// A function; its name may be in any case, and hold the dotless ı that `I` becomes on a
    /// device set to Turkish.
    mutating func call(_ word: String, at position: Int) throws(ODataError) -> Node {
        let name = String(word.lowercased().map { $0 == "\u{131}" ? "i" : $0 })
        if name == "cast" || name == "isof" { return try typed(name, at: position) }
        if Self.unsupported.contains(name) {
            throw error("The function '\(word)' is not supported", at: position)
        }
        guard
            let function = name == "substringof"
                ? .contains : Expression.Function(rawValue: name), function != .count
        else { throw error("Unknown function '\(word)'", at: position) }
        let (parsed, places) = try arguments(of: function)
        var arguments = parsed
        let counts = function.argumentCounts
        guard counts.contains(arguments.count) else {
            let wanted =
                counts.count == 1
                ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
            throw error(
                "'\(word)' takes \(wanted) arguments, not \(arguments.count)", at: position)
        }
        if function == .matchesPattern { try check(pattern: arguments[1], at: places[1]) }
        // `substringof(needle, text)` is `contains(text, needle)`.
        if name == "substringof" { arguments.reverse() }
        return try node(.call(function, arguments.map(\.expression)), arguments, at: position)
    }

    /// The arguments in parentheses, and where each begins.
    private mutating func arguments(
        of function: Expression.Function
    ) throws(ODataError) -> ([Node], [Int]) {
        let outer = takesPlaces
        takesPlaces = function.isOfPlaces
        defer { takesPlaces = outer }
        var arguments: [Node] = []
        var places: [Int] = []
        try expect(.open)
        if current.kind != .close {
            repeat {
                places.append(current.position)
                arguments.append(try expression())
            } while take(.comma)
        }
        try expect(.close)
        return (arguments, places)
    }

    private func check(pattern: Node, at position: Int) throws(ODataError) {
        guard case .literal(.string(let text)) = pattern.expression else {
            throw error("The pattern of 'matchesPattern' must be a text constant", at: position)
        }
        do throws(Pattern.Refusal) { _ = try Pattern(text) } catch {
            throw self.error("The pattern is refused: \(error.reason)", at: position)
        }
    }

    /// `cast(value, Edm.T)` and `isof(value, Edm.T)`, the type bare or in quotes; a constant takes
    /// the type at once.
    private mutating func typed(_ word: String, at position: Int) throws(ODataError) -> Node {
        try expect(.open)
        if case .identifier(let name) = current.kind, EdmType(rawValue: name) != nil {
            throw error("'\(word)' of the whole item is not supported", at: position)
        }
        let value = try expression()
        try expect(.comma)
        let name: String
        switch current.kind {
        case .identifier(let word): name = word
        case .literal(.string(let word)): name = word
        case .literal, .open, .close, .comma, .colon, .slash, .minus, .end:
            throw error("Expected a type but found \(current.name)", at: current.position)
        }
        guard let type = EdmType(rawValue: name) else {
            throw error("Unknown type '\(name)'", at: current.position)
        }
        advance()
        try expect(.close)
        if word == "isof" {
            return try node(.isOf(value.expression, type), [value], at: position)
        }
        guard case .literal(let literal) = value.expression else {
            return try node(.cast(value.expression, type), [value], at: position)
        }
        guard let result = literal.cast(to: type) else {
            throw error("The constant is not a valid \(type.rawValue)", at: position)
        }
        return Node(expression: .literal(result), depth: 1)
    }
}
