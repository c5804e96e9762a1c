extension Parser {
    /// An operand: a constant, a column, a call, parentheses, or one of these after `not` or a sign.
    mutating func operand() throws(ODataError) -> Node {
        let token = current
        switch token.kind {
        case .literal(let literal):
            if case .geo(let place) = literal, !allowsGeography {
                throw error(
                    "A constant '\(place.space.rawValue)' may stand in geo.distance only",
                    at: token.position)
            }
            advance()
            return Node(expression: .literal(literal), depth: 1)
        case .minus:
            advance()
            return try negated(at: token.position)
        case .open:
            advance()
            let inner = try nested(at: token.position) { (parser) throws(ODataError) in
                try parser.expression()
            }
            try expect(.close)
            return inner
        case .identifier(let name):
            advance()
            return try named(name, at: token.position)
        case .close, .comma, .colon, .slash, .end:
            throw error("Expression expected but found \(token.name)", at: token.position)
        }
    }

    /// The operand after `-`. A number takes the sign into its text.
    private mutating func negated(at position: Int) throws(ODataError) -> Node {
        if case .literal(.number(let number)) = current.kind {
            advance()
            let negative = NumberLiteral(text: "-" + number.text, kind: number.kind)
            return Node(expression: .literal(.number(negative)), depth: 1)
        }
        let inner = try nested(at: position) { (parser) throws(ODataError) in
            try parser.operand()
        }
        return try node(.unary(.negate, inner.expression), [inner], at: position)
    }

    private mutating func named(_ name: String, at position: Int) throws(ODataError) -> Node {
        switch name {
        case "null": return Node(expression: .literal(.null), depth: 1)
        case "true": return Node(expression: .literal(.boolean(true)), depth: 1)
        case "false": return Node(expression: .literal(.boolean(false)), depth: 1)
        case "not": return try negation(at: position)
        // `Not` may be a column, but not before a parenthesis.
        case _ where current.kind == .open && name.lowercased() == "not":
            return try negation(at: position)
        case _ where current.kind == .open:
            return try nested(at: position) { (parser) throws(ODataError) in
                try parser.call(name, at: position)
            }
        default:
            return try path(name, at: position)
        }
    }

    private mutating func negation(at position: Int) throws(ODataError) -> Node {
        let inner = try nested(at: position) { (parser) throws(ODataError) in
            try parser.operand()
        }
        return try node(.unary(.not, inner.expression), [inner], at: position)
    }

    /// A path: `a`, `a/b/c`, `$it/a`. It may end with `items/$count`, `items/any(…)` or `items/all(…)`.
    mutating func path(_ first: String, at position: Int) throws(ODataError) -> Node {
        var path = [first]
        while current.kind == .slash {
            advance()
            guard case .identifier(let name) = current.kind else {
                throw error("Expected a name but found \(current.name)", at: current.position)
            }
            let place = current.position
            advance()
            if current.kind == .open {
                guard let quantifier = Expression.Quantifier(rawValue: name.lowercased()) else {
                    throw error("'\(name)' over a collection is not supported", at: place)
                }
                let collection = try value(path, at: position)
                return try nested(at: place) { (parser) throws(ODataError) in
                    try parser.quantified(quantifier, over: collection, at: place)
                }
            }
            if name == "$count" {
                let collection = try value(path, at: position)
                return try node(.call(.count, [collection.expression]), [collection], at: place)
            }
            path.append(name)
        }
        return try value(path, at: position)
    }

    /// The value of a path: it begins at a lambda's variable, else at the item.
    private func value(_ path: [String], at position: Int) throws(ODataError) -> Node {
        var path = path
        if path[0] == "$it" {
            path.removeFirst()
            if path.isEmpty { throw error("'$it' alone is not supported", at: position) }
        } else if variables.contains(path[0]) {
            let variable = Expression.Variable(path[0], path: Array(path.dropFirst()))
            try check(variable.path, at: position)
            return Node(expression: .variable(variable), depth: 1)
        }
        try check(path, at: position)
        return Node(
            expression: .column(Expression.Column(path: path, in: generation)), depth: 1)
    }

    private func check(_ path: [String], at position: Int) throws(ODataError) {
        for name in path {
            if name.hasPrefix("$") { throw error("'\(name)' is not supported", at: position) }
            if name.utf8.contains(UInt8(ascii: ".")) {
                throw error("'\(name)' is not the name of a column", at: position)
            }
        }
    }

    /// `(i: i/price gt 3)`; `()` means any element.
    private mutating func quantified(
        _ quantifier: Expression.Quantifier, over collection: Node, at position: Int
    ) throws(ODataError) -> Node {
        try expect(.open)
        if quantifier == .any, take(.close) {
            return try node(
                .quantified(.any, over: collection.expression, nil), [collection], at: position)
        }
        guard case .identifier(let variable) = current.kind else {
            throw error("Expected a variable but found \(current.name)", at: current.position)
        }
        guard !variables.contains(variable) else {
            throw error("The variable '\(variable)' is in use already", at: current.position)
        }
        try check([variable], at: current.position)
        advance()
        try expect(.colon)
        variables.append(variable)
        defer { variables.removeLast() }
        let condition = try expression()
        try expect(.close)
        let deep = Node(
            expression: condition.expression, depth: condition.depth + Limits.lambdaDepth - 1)
        return try node(
            .quantified(
                quantifier, over: collection.expression,
                Expression.Lambda(variable, condition.expression)), [collection, deep], at: position
        )
    }

    /// OData functions that are not supported on JSON columns.
    private static let unsupported: Set = [
        "case", "geo.intersects", "geo.length", "hassubset", "hassubsequence", "matchespattern",
    ]

    /// A function call. Its name may be in any case, and may contain the dotless ı that `I` becomes on a
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
        var arguments = try arguments(of: function)
        let counts = function.argumentCounts
        guard counts.contains(arguments.count) else {
            let wanted =
                counts.count == 1
                ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
            throw error(
                "'\(word)' takes \(wanted) arguments, not \(arguments.count)", at: position)
        }
        // `substringof(needle, text)` is `contains(text, needle)`.
        if name == "substringof" { arguments.reverse() }
        return try node(.call(function, arguments.map(\.expression)), arguments, at: position)
    }

    private mutating func arguments(
        of function: Expression.Function
    ) throws(ODataError) -> [Node] {
        let outer = allowsGeography
        allowsGeography = function == .geoDistance
        defer { allowsGeography = outer }
        var arguments: [Node] = []
        try expect(.open)
        if current.kind != .close {
            repeat {
                arguments.append(try expression())
            } while take(.comma)
        }
        try expect(.close)
        return arguments
    }

    /// `cast(value, Edm.T)` and `isof(value, Edm.T)`, with or without quotes around the type. A constant is
    /// cast at once.
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
