extension Expression {
    /// Parses the value of `$filter`. Accepts the forms of OData v3 and v4 in every generation.
    ///
    /// - Parameters:
    ///   - text: the option's decoded value.
    ///   - generation: decides which names are system properties, and how `binary'…'` is encoded.
    ///   - option: the option's name in errors.
    public init(
        parsing text: String, generation: Generation, option: String = "$filter"
    ) throws(ODataError) {
        var parser = try Parser(text, option: option, generation: generation)
        let node = try parser.expression()
        guard parser.current.kind == .end else {
            throw parser.error(
                "Unexpected \(parser.current.name)", at: parser.current.position)
        }
        self = node.expression
    }
}

extension Ordering {
    /// Parses the value of `$orderby`: expressions separated by commas, each optionally with `asc` or
    /// `desc`.
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

/// Parses tokens to a tree by operator precedence, from low to high: `or`, `and`, comparisons and `in`,
/// `add sub`, `mul div divby mod`, `not` and the sign.
struct Parser {
    /// A tree and its depth.
    struct Node {
        let expression: Expression
        let depth: Int
    }

    private enum Infix {
        case logical(Expression.LogicalOperator)
        case binary(Expression.BinaryOperator)
        case inList

        var precedence: Int {
            switch self {
            case .logical(.or): 1
            case .logical(.and): 2
            case .inList: 3
            case .binary(let operation):
                switch operation {
                case .equal, .notEqual, .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual: 3
                case .add, .sub: 4
                case .mul, .div, .divBy, .mod: 5
                }
            }
        }
    }

    let option: String
    let generation: Generation
    private let tokens: [Token]
    private var index = 0
    private var nesting = 0

    init(_ text: String, option: String, generation: Generation) throws(ODataError) {
        self.option = option
        self.generation = generation
        tokens = try Lexer.tokens(text, option: option, generation: generation)
    }

    /// The next token; the last one is `.end`.
    var current: Token { tokens[index] }

    mutating func advance() { index = min(index + 1, tokens.count - 1) }

    mutating func take(_ kind: Token.Kind) -> Bool {
        guard current.kind == kind, kind != .end else { return false }
        advance()
        return true
    }

    private mutating func expect(_ kind: Token.Kind) throws(ODataError) {
        let wanted = Token(kind: kind, position: 0).name
        guard take(kind) else {
            throw error("Expected \(wanted) but found \(current.name)", at: current.position)
        }
    }

    func error(_ reason: String, at position: Int) -> ODataError {
        ODataError(option: option, reason: reason, position: position)
    }

    /// The error for a form that is not evaluated here, so that only a backend can answer.
    private func unsupported(_ reason: String, at position: Int) -> ODataError {
        ODataError(option: option, reason: reason, position: position, isUnsupported: true)
    }

    /// An operand that was parsed: a tree, or a chain of `and` or `or`, which is extended in its place.
    private struct Operand {
        var operation: Expression.LogicalOperator?
        /// The operands of the chain; without an operator, the tree alone.
        var parts: [Expression]
        /// The depth of the deepest part.
        var depth: Int

        init(_ node: Node) { (parts, depth) = ([node.expression], node.depth) }

        /// The tree. A chain is one level above its deepest operand.
        var whole: Node {
            guard let operation else { return Node(expression: parts[0], depth: depth) }
            return Node(expression: .logical(operation, parts), depth: depth + 1)
        }

        /// Becomes a chain of the operator, or a longer one, with the other operand at its end.
        mutating func extend(_ operation: Expression.LogicalOperator, with other: Operand) {
            if self.operation != operation {
                self = Operand(whole)
                self.operation = operation
            }
            let end = other.operation == operation ? other : Operand(other.whole)
            parts += end.parts
            depth = max(depth, end.depth)
        }
    }

    /// What waits for its right operand, or for its parenthesis to be closed.
    private enum Waiting {
        case open
        case infix(Infix, position: Int)
    }

    /// An expression.
    ///
    /// What waits is on a stack of its own instead of the thread's, and the operands of `and` or `or` become one
    /// chain however they are grouped. So the depth of parentheses costs nothing.
    mutating func expression() throws(ODataError) -> Node {
        var operands: [Operand] = []
        var waiting: [Waiting] = []
        var open = 0
        while true {
            while current.kind == .open {
                guard open < Limits.openParentheses else {
                    throw error(
                        "More than \(Limits.openParentheses) parentheses are open",
                        at: current.position)
                }
                open += 1
                waiting.append(.open)
                advance()
            }
            operands.append(Operand(try operand()))
            while true {
                if open > 0, take(.close) {
                    try join(&operands, &waiting, downTo: 0)
                    waiting.removeLast()
                    open -= 1
                    continue
                }
                guard let infix = try infix() else {
                    if open > 0 { try expect(.close) }
                    try join(&operands, &waiting, downTo: 0)
                    return operands[0].whole
                }
                try join(&operands, &waiting, downTo: infix.precedence)
                let position = current.position
                advance()
                guard case .inList = infix else {
                    waiting.append(.infix(infix, position: position))
                    break
                }
                let left = operands.removeLast().whole
                let list = Expression.inList(left.expression, try list())
                operands.append(Operand(try node(list, [left], at: position)))
            }
        }
    }

    /// Joins the last operands, as long as an operator waits that binds at least as tightly as `precedence`.
    private func join(
        _ operands: inout [Operand], _ waiting: inout [Waiting], downTo precedence: Int
    ) throws(ODataError) {
        while case .infix(let infix, let position)? = waiting.last, infix.precedence >= precedence {
            waiting.removeLast()
            let right = operands.removeLast()
            let left = operands.count - 1
            switch infix {
            case .logical(let operation):
                operands[left].extend(operation, with: right)
                guard operands[left].depth < Limits.expressionDepth else {
                    throw tooDeep(at: position)
                }
            case .binary(let operation):
                let (first, second) = (operands[left].whole, right.whole)
                operands[left] = Operand(
                    try node(
                        .binary(operation, first.expression, second.expression), [first, second],
                        at: position))
            // Its list is parsed at once.
            case .inList: break
            }
        }
    }

    /// Makes a node with children.
    /// - Throws: ``ODataError`` if the tree is too deep.
    private func node(
        _ expression: Expression, _ children: [Node], at position: Int
    ) throws(ODataError) -> Node {
        let depth = 1 + (children.map(\.depth).max() ?? 0)
        guard depth <= Limits.expressionDepth else { throw tooDeep(at: position) }
        return Node(expression: expression, depth: depth)
    }

    private func tooDeep(at position: Int) -> ODataError {
        error("The expression is more than \(Limits.expressionDepth) levels deep", at: position)
    }

    /// Parses a function, or something after `not` or a sign.
    /// - Throws: ``ODataError`` if the nesting is too deep.
    private mutating func nested<Result>(
        at position: Int, _ body: (inout Parser) throws(ODataError) -> Result
    ) throws(ODataError) -> Result {
        guard nesting < Limits.expressionNesting else {
            throw error(
                "The expression is nested more than \(Limits.expressionNesting) times",
                at: position)
        }
        nesting += 1
        defer { nesting -= 1 }
        return try body(&self)
    }

    private func infix() throws(ODataError) -> Infix? {
        guard case .identifier(let word) = current.kind else { return nil }
        let name = word.lowercased()
        if name == "in" { return .inList }
        if name == "has" {
            throw unsupported("The operator 'has' is not supported", at: current.position)
        }
        if let operation = Expression.LogicalOperator(rawValue: name) { return .logical(operation) }
        guard let operation = Expression.BinaryOperator(rawValue: name) else { return nil }
        return .binary(operation == .div ? generation.division : operation)
    }

    private mutating func list() throws(ODataError) -> [Expression.Literal] {
        if case .identifier = current.kind {
            throw unsupported("'in' over a collection is not supported", at: current.position)
        }
        try expect(.open)
        var literals: [Expression.Literal] = []
        repeat {
            let position = current.position
            guard literals.count < Limits.listItems else {
                throw error(
                    "The list has more than \(Limits.listItems) elements", at: position)
            }
            guard case .literal(let literal) = try operand().expression else {
                throw error("A list may hold constants only", at: position)
            }
            literals.append(literal)
        } while take(.comma)
        try expect(.close)
        return literals
    }
}

extension Parser {
    /// An operand: a constant, a column, a call, parentheses, or one of these after `not` or a sign.
    private mutating func operand() throws(ODataError) -> Node {
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

    /// A path: `a`, `a/b/c`. It may end with `items/$count`.
    private mutating func path(_ first: String, at position: Int) throws(ODataError) -> Node {
        var path = [first]
        while current.kind == .slash {
            advance()
            guard case .identifier(let name) = current.kind else {
                throw error("Expected a name but found \(current.name)", at: current.position)
            }
            let place = current.position
            advance()
            if current.kind == .open {
                throw unsupported("'\(name)' over a collection is not supported", at: place)
            }
            if name == "$count" {
                let collection = try value(path, at: position)
                return try node(.call(.count, [collection.expression]), [collection], at: place)
            }
            path.append(name)
        }
        return try value(path, at: position)
    }

    /// The column of a path.
    private func value(_ path: [String], at position: Int) throws(ODataError) -> Node {
        for name in path {
            if name.hasPrefix("$") {
                throw unsupported("'\(name)' is not supported", at: position)
            }
            if name.utf8.contains(UInt8(ascii: ".")) {
                throw error("'\(name)' is not the name of a column", at: position)
            }
        }
        return Node(
            expression: .column(Expression.Column(path: path, in: generation)), depth: 1)
    }

    /// A function call. Its name may be in any case, and may contain the dotless ı that `I` becomes on a
    /// device set to Turkish.
    private mutating func call(_ word: String, at position: Int) throws(ODataError) -> Node {
        let name = String(word.lowercased().map { $0 == "\u{131}" ? "i" : $0 })
        if name == "cast" { return try cast(at: position) }
        guard
            let function = name == "substringof"
                ? .contains : Expression.Function(rawValue: name), function != .count
        else { throw unsupported("Unknown function '\(word)'", at: position) }
        var arguments = try arguments()
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

    private mutating func arguments() throws(ODataError) -> [Node] {
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

    /// `cast(constant, Edm.T)`, with or without quotes around the constant and the type.
    private mutating func cast(at position: Int) throws(ODataError) -> Node {
        try expect(.open)
        let value = try expression()
        guard case .literal(let literal) = value.expression else {
            throw unsupported("'cast' of anything but a constant is not supported", at: position)
        }
        try expect(.comma)
        let name: String
        switch current.kind {
        case .identifier(let word): name = word
        case .literal(.string(let word)): name = word
        case .literal, .open, .close, .comma, .colon, .slash, .minus, .end:
            throw error("Expected a type but found \(current.name)", at: current.position)
        }
        guard let type = EdmType(rawValue: name) else {
            throw unsupported("Unknown type '\(name)'", at: current.position)
        }
        advance()
        try expect(.close)
        guard let result = literal.cast(to: type) else {
            throw error("The constant is not a valid \(type.rawValue)", at: position)
        }
        return Node(expression: .literal(result), depth: 1)
    }
}
