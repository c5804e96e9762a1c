extension Parser {
    /// `a`, `a/b/c`, `$it/a`, and what may end a path: `items/$count`, `items/any(…)`, `items/all(…)`.
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

    /// What a path of names leads to: from the variable of a lambda, else from the item.
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

    /// `(i: i/price gt 3)`, or `()` for any element at all.
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
}
