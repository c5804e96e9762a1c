extension Parser {
    /// A constant, a column, a call, parentheses, or one of these after `not` or a sign.
    mutating func operand() throws(ODataError) -> Node {
        let token = current
        switch token.kind {
        case .literal(let literal):
            if case .geo(let place) = literal, !takesPlaces {
                throw error(
                    "A constant '\(place.space.rawValue)' may stand in geo.distance and geo.length "
                        + "only", at: token.position)
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

    /// What follows `-`: a number takes the sign into itself.
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
        // `Not` may be a column, but not with parentheses behind it.
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
}
