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
                guard let infix = infix() else {
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
    func node(
        _ expression: Expression, _ children: [Node], at position: Int
    ) throws(ODataError) -> Node {
        let depth = 1 + (children.map(\.depth).max() ?? 0)
        guard depth <= Limits.expressionDepth else { throw tooDeep(at: position) }
        return Node(expression: expression, depth: depth)
    }

    private func tooDeep(at position: Int) -> ODataError {
        error("The expression is more than \(Limits.expressionDepth) levels deep", at: position)
    }

    /// Parses a function, a lambda, or something after `not` or a sign.
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

    private func infix() -> Infix? {
        guard case .identifier(let word) = current.kind else { return nil }
        let name = word.lowercased()
        if name == "in" { return .inList }
        if let operation = Expression.LogicalOperator(rawValue: name) { return .logical(operation) }
        guard let operation = Expression.BinaryOperator(rawValue: name) else { return nil }
        return .binary(operation == .div ? generation.division : operation)
    }

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
