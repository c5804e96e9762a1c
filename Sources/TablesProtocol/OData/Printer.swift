extension TableQuery {
    /// The query string for a backend of a generation, without `?`.
    ///
    /// `$select` has the backend's names; a system property that the backend does not have is left out.
    /// `__includeDeleted` has the spelling that all servers accept, and is written only if it is true.
    ///
    /// - Throws: ``ODataError`` if the generation cannot express the query.
    public func text(for generation: Generation) throws(ODataError) -> String {
        let dialect = Dialect(generation)
        var pairs: [(String, String)] = []
        if let beyond, beyond.generation != generation { throw beyond.reason }
        if let text = beyond?.filter {
            pairs.append(("$filter", text))
        } else if let filter {
            pairs.append(("$filter", try filter.text(dialect: dialect, names: generation)))
        }
        var terms = beyond?.orderBy.map { [$0] } ?? []
        if !orderBy.isEmpty {
            let printer = Printer(dialect: dialect, names: generation, option: "$orderby")
            for term in orderBy {
                terms.append(try printer.text(term.expression) + (term.descending ? " desc" : ""))
            }
        }
        if !terms.isEmpty { pairs.append(("$orderby", terms.joined(separator: ","))) }
        if skip > 0 { pairs.append(("$skip", String(skip))) }
        if let top { pairs.append(("$top", String(top))) }
        if let select {
            let names = select.compactMap { $0.name(in: generation) }
            pairs.append(("$select", names.joined(separator: ",")))
        }
        if count {
            pairs.append(dialect == .v3 ? ("$inlinecount", "allpages") : ("$count", "true"))
        }
        if includeDeleted { pairs.append(("__includeDeleted", "true")) }
        return pairs.map { "\($0)=\(QueryParameter.encoded($1))" }.joined(separator: "&")
    }
}

extension Expression {
    /// The expression in a dialect, with a generation's names for system properties.
    ///
    /// Instants, strings and numbers keep the text they were received with.
    ///
    /// - Throws: ``ODataError`` if the dialect cannot express it, such as `replace` in v4 or `createdAt` in
    ///   generation 3.
    public func text(dialect: Dialect, names: Generation) throws(ODataError) -> String {
        try Printer(dialect: dialect, names: names, option: "$filter").text(self)
    }
}

/// Prints a tree in one dialect, with the names of one generation.
///
/// An operand that is itself an operation is in parentheses, as the SDKs write it, because the parsers of
/// the real servers have only been tested with that.
struct Printer {
    let dialect: Dialect
    let names: Generation
    let option: String

    func text(_ expression: Expression) throws(ODataError) -> String {
        switch expression {
        case .literal(let literal):
            return try text(literal)
        case .column(let column):
            return try text(column)
        case .unary(.not, let operand):
            return "not (\(try text(operand)))"
        case .unary(.negate, let operand):
            return "-(\(try text(operand)))"
        case .binary(let operation, let left, let right):
            return "\(try operand(left)) \(try word(operation)) \(try operand(right))"
        case .logical(let operation, let operands):
            return try list(operands, separator: " \(operation.rawValue) ", operand)
        case .call(let function, let arguments):
            return try call(function, arguments)
        case .inList(let value, let literals):
            return try inList(value, literals)
        }
    }

    /// The word of an operator. No server is known to support `divby`, and each one's `div` is one division
    /// (``Generation/division``).
    private func word(_ operation: Expression.BinaryOperator) throws(ODataError) -> String {
        switch operation {
        case .div, .divBy:
            if operation == names.division { return "div" }
            throw unsupported(
                operation == .div
                    ? "operator 'div' of whole numbers; 'divby' is its division"
                    : "operator 'divby'")
        case .equal, .notEqual, .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .add, .sub,
            .mul, .mod:
            return operation.rawValue
        }
    }

    private func unsupported(_ what: String) -> ODataError {
        refusal("A backend of generation \(names.rawValue) has no \(what)")
    }

    func text(_ column: Expression.Column) throws(ODataError) -> String {
        if let name = column.name(in: names) { return name }
        throw refusal("A backend of generation \(names.rawValue) has no column for createdAt")
    }

    private func operand(_ expression: Expression) throws(ODataError) -> String {
        switch expression {
        case .binary, .logical, .inList: "(\(try text(expression)))"
        case .literal, .column, .unary, .call: try text(expression)
        }
    }

    private func call(
        _ function: Expression.Function, _ arguments: [Expression]
    ) throws(ODataError) -> String {
        var name = function.rawValue
        var arguments = arguments
        if function == .contains, dialect == .v3 {
            name = "substringof"
            arguments.reverse()
        }
        guard function.dialects.contains(dialect) else { throw unsupported("function '\(name)'") }
        if function == .count { return "\(try text(arguments[0]))/$count" }
        return "\(name)(\(try list(arguments, separator: ",", text)))"
    }

    /// OData v3 has no lists: `x in (a,b)` becomes `(x eq a) or (x eq b)`.
    private func inList(
        _ value: Expression, _ literals: [Expression.Literal]
    ) throws(ODataError) -> String {
        switch dialect {
        case .v3:
            let comparisons = literals.map { Expression.binary(.equal, value, .literal($0)) }
            guard let joined = Expression.joined(.or, comparisons) else {
                throw refusal("A list without elements cannot be sent")
            }
            return try text(joined)
        case .v4:
            let list = try list(literals.map { .literal($0) }, separator: ",", text)
            return "\(try operand(value)) in (\(list))"
        }
    }

    private func list(
        _ expressions: [Expression], separator: String,
        _ write: (Expression) throws(ODataError) -> String
    ) throws(ODataError) -> String {
        var result = ""
        for (index, expression) in expressions.enumerated() {
            if index > 0 { result += separator }
            result += try write(expression)
        }
        return result
    }

    private func refusal(_ reason: String) -> ODataError {
        ODataError(option: option, reason: reason, position: 0)
    }
}

extension Printer {
    func text(_ literal: Expression.Literal) throws(ODataError) -> String {
        switch literal {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .number(let number): number.text + (dialect == .v3 ? number.kind.rawValue : "")
        case .string(let text): Self.quoted(text)
        case .instant(let instant): text(instant)
        case .guid(let guid): dialect == .v3 ? "guid'\(guid)'" : "cast(\(guid),Edm.Guid)"
        case .binary(let bytes):
            dialect == .v3
                ? "X'\(Base16.encoded(bytes))'" : "binary'\(Self.base64URL(bytes))'"
        case .date(let date):
            dialect == .v3
                ? "datetime'\(date.text)T00:00:00.000Z'" : "cast(\(date.text),Edm.Date)"
        case .time(let time):
            switch dialect {
            case .v3: throw unsupported("time of day")
            case .v4: "cast(\(time.text),Edm.TimeOfDay)"
            }
        }
    }

    private static func quoted(_ text: String) -> String {
        "'\(text.replacing("'", with: "''"))'"
    }

    /// OData v4 requires a zone and `T` before the time; v3 accepts the text unchanged.
    private func text(_ literal: InstantLiteral) -> String {
        switch dialect {
        case .v3:
            return "\(literal.form.rawValue)'\(literal.text)'"
        case .v4:
            let isComplete =
                Instant(iso: literal.text) != nil && literal.text.utf8.contains(UInt8(ascii: "T"))
            let text = isComplete ? literal.text : InstantLiteral(literal.instant).text
            return "cast(\(text),Edm.DateTimeOffset)"
        }
    }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        Base64.encoded(bytes).replacing("+", with: "-").replacing("/", with: "_")
    }
}
