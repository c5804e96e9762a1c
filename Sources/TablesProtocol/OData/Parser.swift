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

/// Parses tokens to a tree by operator precedence, from low to high: `or`, `and`, comparisons with `in` and
/// `has`, `add sub`, `mul div divby mod`, `not` and the sign.
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
                case .equal, .notEqual, .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual,
                    .has:
                    3
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
    /// The variables of the enclosing lambdas, the innermost last.
    var variables: [String] = []
    /// Whether a geographical constant is allowed as an operand.
    var allowsGeography = false

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

    mutating func expect(_ kind: Token.Kind) throws(ODataError) {
        let wanted = Token(kind: kind, position: 0).name
        guard take(kind) else {
            throw error("Expected \(wanted) but found \(current.name)", at: current.position)
        }
    }

    func error(_ reason: String, at position: Int) -> ODataError {
        ODataError(option: option, reason: reason, position: position)
    }

    /// An expression whose operators bind at least as tightly as `precedence`.
    mutating func expression(_ precedence: Int = 1) throws(ODataError) -> Node {
        var left = try operand()
        while let infix = infix(), infix.precedence >= precedence {
            let position = current.position
            switch infix {
            case .logical(let operation):
                left = try chain(operation, from: left)
            case .binary(let operation):
                advance()
                let right = try expression(infix.precedence + 1)
                left = try node(
                    .binary(operation, left.expression, right.expression), [left, right],
                    at: position)
            case .inList:
                advance()
                left = try node(.inList(left.expression, try list()), [left], at: position)
            }
        }
        return left
    }

    /// Makes a node with children.
    /// - Throws: ``ODataError`` if the tree is too deep.
    func node(
        _ expression: Expression, _ children: [Node], at position: Int
    ) throws(ODataError) -> Node {
        let depth = 1 + (children.map(\.depth).max() ?? 0)
        guard depth <= Limits.expressionDepth else {
            throw error(
                "The expression is more than \(Limits.expressionDepth) levels deep", at: position)
        }
        return Node(expression: expression, depth: depth)
    }

    /// Parses something in parentheses, a function or after a sign.
    /// - Throws: ``ODataError`` if the nesting is too deep.
    mutating func nested<Result>(
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

    /// `left and b and c`, parsed in a loop so that a chain adds no depth.
    private mutating func chain(
        _ operation: Expression.LogicalOperator, from left: Node
    ) throws(ODataError) -> Node {
        var nodes = [left]
        let position = current.position
        while case .logical(operation)? = infix() {
            advance()
            nodes.append(try expression(Infix.logical(operation).precedence + 1))
        }
        let depths = nodes.map { node in
            // A chain of the same operator is merged into this one, so its own level does not count.
            if case .logical(operation, _) = node.expression { node.depth - 1 } else { node.depth }
        }
        let joined = Expression.joined(operation, nodes.map(\.expression)) ?? left.expression
        let deepest = Node(expression: joined, depth: depths.max() ?? 0)
        return try node(joined, [deepest], at: position)
    }

    private func infix() -> Infix? {
        guard case .identifier(let word) = current.kind else { return nil }
        let name = word.lowercased()
        if name == "in" { return .inList }
        if let operation = Expression.LogicalOperator(rawValue: name) { return .logical(operation) }
        guard let operation = Expression.BinaryOperator(rawValue: name) else { return nil }
        return .binary(operation == .div ? generation.division : operation)
    }

    /// The constants of `in (…)`.
    private mutating func list() throws(ODataError) -> [Expression.Literal] {
        if case .identifier = current.kind {
            throw error(
                "'in' over a collection is not supported; 'any' is", at: current.position)
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
