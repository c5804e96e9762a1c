/// One node of a `$filter` or `$orderby` expression: a common tree for OData v3 and v4.
///
/// Forms that differ between the dialects have one form here. `substringof(needle, text)` is
/// `.call(.contains, [text, needle])`; a typed literal (`guid'…'`, `cast(…,Edm.Guid)`) is a ``Literal``.
/// `and` and `or` hold a whole chain, so that a long chain is not a deep tree.
public indirect enum Expression: Sendable, Hashable {
    case literal(Literal)
    case column(Column)
    /// `not x` or `-x`.
    case unary(UnaryOperator, Expression)
    /// A comparison or an arithmetic operation.
    case binary(BinaryOperator, Expression, Expression)
    /// A chain of `and` or of `or`: two or more operands, none of which is a chain of the same operator.
    /// ``joined(_:_:)`` builds one.
    case logical(LogicalOperator, [Expression])
    /// A function with as many arguments as ``Function/argumentCounts`` allows.
    case call(Function, [Expression])
    /// `x in (…)`.
    case inList(Expression, [Literal])
}

extension Expression {
    /// Whether this is the literal `null`.
    package var isNullLiteral: Bool { self == .literal(.null) }

    /// `not` and the sign.
    public enum UnaryOperator: String, Sendable, Hashable, CaseIterable {
        case not
        case negate = "-"
    }

    /// Comparisons and arithmetic; the raw value is the word on the wire.
    public enum BinaryOperator: String, Sendable, Hashable, CaseIterable {
        case equal = "eq"
        case notEqual = "ne"
        case greaterThan = "gt"
        case greaterOrEqual = "ge"
        case lessThan = "lt"
        case lessOrEqual = "le"
        case add, sub, mul
        /// A division whose result is an integer if both numbers are.
        case div
        case mod
        /// A division with a fractional result, even of integers.
        case divBy = "divby"
    }

    public enum LogicalOperator: String, Sendable, Hashable, CaseIterable {
        case and, or
    }

    /// Joins operands with `and` or `or`, flattening chains of the same operator.
    ///
    /// - Returns: nil without operands, the operand itself if there is one.
    public static func joined(_ operation: LogicalOperator, _ operands: [Expression]) -> Expression?
    {
        var flat: [Expression] = []
        for operand in operands {
            if case .logical(operation, let inner) = operand {
                flat += inner
            } else {
                flat.append(operand)
            }
        }
        return flat.count > 1 ? .logical(operation, flat) : flat.first
    }

    /// A column as a query names it.
    public enum Column: Sendable, Hashable {
        case id
        /// A system property, independent of its name in a generation.
        case system(SystemProperty)
        /// A column of the application; more than one name is a path into a nested object.
        case user(path: [String])

        /// The column that a path of names means in a generation's queries.
        ///
        /// Names of the id and of system properties match in any case, because the databases of the real
        /// servers compare column names so.
        public init(path: [String], in generation: Generation) {
            let reserved = path.count == 1 ? Self.reserved[generation] : nil
            self = reserved?[path[0].lowercased()] ?? .user(path: path)
        }

        /// The columns that are not user's columns, by their names in lower case.
        private static let reserved: [Generation: [String: Column]] = {
            var reserved: [Generation: [String: Column]] = [:]
            for generation in Generation.allCases {
                reserved[generation] = ["id": .id]
                for property in SystemProperty.allCases {
                    guard let name = property.name(in: generation) else { continue }
                    reserved[generation]?[name.lowercased()] = .system(property)
                }
            }
            return reserved
        }()

        /// The column's name on the wire; nil if the generation does not have the property.
        public func name(in generation: Generation) -> String? {
            switch self {
            case .id: "id"
            case .system(let property): property.name(in: generation)
            case .user(let path): path.joined(separator: "/")
            }
        }
    }

    /// The functions of both dialects. The raw value is the name on the wire in lower case; only OData v3
    /// spells ``contains`` as `substringof`, with its arguments swapped.
    public enum Function: String, Sendable, Hashable, CaseIterable {
        case startsWith = "startswith"
        case endsWith = "endswith"
        case contains
        case length
        case toLower = "tolower"
        case toUpper = "toupper"
        case trim
        case indexOf = "indexof"
        case substring
        case concat
        case replace
        case year, month, day, hour, minute, second
        case round, floor, ceiling
        /// `items/$count`, the number of elements of an array.
        case count = "$count"

        /// How many arguments the function takes.
        public var argumentCounts: ClosedRange<Int> {
            switch self {
            case .startsWith, .endsWith, .contains, .indexOf, .concat: 2...2
            case .substring: 2...3
            case .replace: 3...3
            case .length, .toLower, .toUpper, .trim, .year, .month, .day, .hour, .minute, .second,
                .round, .floor, .ceiling, .count:
                1...1
            }
        }

        /// The dialects whose servers are known to have the function.
        var dialects: Set<Dialect> {
            switch self {
            case .replace: [.v3]
            case .startsWith, .endsWith, .contains, .length, .toLower, .toUpper, .trim, .indexOf,
                .substring, .concat, .year, .month, .day, .hour, .minute, .second, .round, .floor,
                .ceiling:
                [.v3, .v4]
            case .count: [.v4]
            }
        }
    }
}

extension Generation {
    /// What `div` of two numbers is on the generation's servers. Those of the first keep every number as a
    /// fraction, so `7 div 2` is 3.5 there.
    var division: Expression.BinaryOperator {
        switch self {
        case .mobileServices: .divBy
        case .mobileApps, .datasync: .div
        }
    }
}

/// The two versions of OData that backends read.
public enum Dialect: Sendable, Hashable, CaseIterable {
    /// Generations 1 and 2.
    case v3
    /// Generation 3.
    case v4

    /// The dialect of a generation's servers.
    public init(_ generation: Generation) {
        switch generation {
        case .mobileServices, .mobileApps: self = .v3
        case .datasync: self = .v4
        }
    }
}

/// The result of a comparison with null. See docs/decisions/protocol.md.
public enum NullComparison: Sendable, Hashable, CaseIterable {
    /// Neither true nor false, as in SQL: `text ne 'a'` does not match rows without `text`.
    case unknown
    /// True or false, as in C#: null equals only null, so `text ne 'a'` matches rows without `text`. Null
    /// is neither less nor greater than a value.
    case decided

    /// The rule of a generation's servers.
    public init(_ generation: Generation) {
        switch generation {
        case .mobileServices, .mobileApps: self = .unknown
        case .datasync: self = .decided
        }
    }
}

extension TableQuery {
    /// The query that gives the same rows on a server of a generation, whose rule for null may differ
    /// (``NullComparison``); nil if there is none.
    ///
    /// `ne` with a constant becomes a comparison and a test for null. Comparisons below `not`, between two
    /// columns and as values cannot be rewritten.
    public func translated(for generation: Generation) -> TableQuery? {
        let rule = NullComparison(generation)
        if let beyond { return beyond.generation == generation ? self : nil }
        guard rule != nulls else { return self }
        guard orderBy.allSatisfy({ !$0.expression.containsComparison }) else { return nil }
        var query = self
        query.nulls = rule
        guard let filter else { return query }
        guard let translated = filter.translated(from: nulls) else { return nil }
        query.filter = translated
        return query
    }
}

extension Expression {
    /// The condition that matches the same rows under the other rule; nil if there is none.
    fileprivate func translated(from rule: NullComparison) -> Expression? {
        switch self {
        case .logical(let operation, let operands):
            let translated = operands.compactMap { $0.translated(from: rule) }
            return translated.count == operands.count
                ? Self.joined(operation, translated) : nil
        case .binary(let operation, let left, let right):
            if left.containsComparison || right.containsComparison { return nil }
            if left == .literal(.null) || right == .literal(.null) { return self }
            let other = left.isLiteral ? right : right.isLiteral ? left : nil
            switch operation {
            case .notEqual:
                guard let other else { return nil }
                return rule == .decided
                    ? Self.joined(.or, [self, .binary(.equal, other, .literal(.null))])
                    : Self.joined(.and, [self, .binary(.notEqual, other, .literal(.null))])
            case .equal:
                return other == nil ? nil : self
            case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .add, .sub, .mul, .div,
                .divBy, .mod:
                return self
            }
        case .inList(let value, _):
            return value.containsComparison ? nil : self
        case .literal, .column, .unary, .call: return containsComparison ? nil : self
        }
    }

    private var isLiteral: Bool { if case .literal = self { true } else { false } }

    fileprivate var containsComparison: Bool {
        switch self {
        case .literal, .column: false
        case .inList: true
        case .binary(let operation, let left, let right):
            !operation.isArithmetic || left.containsComparison || right.containsComparison
        case .unary(_, let operand): operand.containsComparison
        case .logical(_, let operands), .call(_, let operands):
            operands.contains(where: \.containsComparison)
        }
    }
}
