extension Parser {
    /// A constant, a column, a call, parentheses, or one of these after `not` or a sign.
    mutating func operand() throws(ODataError) -> Node {
        let token = current
        switch token.kind {
        case .literal(let literal):
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
        case .close, .comma, .slash, .end:
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
        case "not":
            let inner = try nested(at: position) { (parser) throws(ODataError) in
                try parser.operand()
            }
            return try node(.unary(.not, inner.expression), [inner], at: position)
        case _ where current.kind == .open:
            return try nested(at: position) { (parser) throws(ODataError) in
                try parser.call(name, at: position)
            }
        default:
            return try column(name, at: position)
        }
    }

    /// `a` or `a/b/c`.
    private mutating func column(_ first: String, at position: Int) throws(ODataError) -> Node {
        var path = [first]
        while current.kind == .slash {
            advance()
            guard case .identifier(let name) = current.kind else {
                throw error("Expected a name but found \(current.name)", at: current.position)
            }
            advance()
            guard current.kind != .open else {
                throw error("'\(name)' over a collection is not supported", at: position)
            }
            path.append(name)
        }
        if let name = path.first(where: { $0.utf8.contains(UInt8(ascii: ".")) }) {
            throw error("'\(name)' is not the name of a column", at: position)
        }
        let column = Expression.Column(path: path, in: generation)
        return Node(expression: .column(column), depth: 1)
    }

    /// A function; its name may be in any case, and hold the dotless ı that `I` becomes on a
    /// device set to Turkish.
    private mutating func call(_ word: String, at position: Int) throws(ODataError) -> Node {
        let name = String(word.lowercased().map { $0 == "\u{131}" ? "i" : $0 })
        if name == "cast" { return try cast(at: position) }
        guard
            let function = name == "substringof"
                ? .contains : Expression.Function(rawValue: name)
        else { throw error("Unknown function '\(word)'", at: position) }
        var arguments: [Node] = []
        try expect(.open)
        if current.kind != .close {
            repeat { arguments.append(try expression()) } while take(.comma)
        }
        try expect(.close)
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

    /// `cast(value, Edm.T)`, the type bare or in quotes; a constant takes the type at once.
    private mutating func cast(at position: Int) throws(ODataError) -> Node {
        try expect(.open)
        let value = try expression()
        try expect(.comma)
        let name: String
        switch current.kind {
        case .identifier(let word): name = word
        case .literal(.string(let word)): name = word
        case .literal, .open, .close, .comma, .slash, .minus, .end:
            throw error("Expected a type but found \(current.name)", at: current.position)
        }
        guard let type = EdmType(rawValue: name) else {
            throw error("Unknown type '\(name)'", at: current.position)
        }
        advance()
        try expect(.close)
        guard case .literal(let literal) = value.expression else {
            throw error("Only a constant can be cast", at: position)
        }
        guard let result = literal.cast(to: type) else {
            throw error("The constant is not a valid \(type.rawValue)", at: position)
        }
        return Node(expression: .literal(result), depth: 1)
    }
}
