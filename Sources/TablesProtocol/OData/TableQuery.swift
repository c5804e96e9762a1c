/// The request for a list, independent of the generation.
public struct TableQuery: Sendable, Hashable {
    /// `$filter`.
    public var filter: Expression?
    /// `$orderby`. The compiler adds the id as the last term.
    public var orderBy: [Ordering]
    /// `$top` as requested, regardless of the page size.
    public var top: Int?
    /// `$skip`.
    public var skip: Int
    /// `__after`: only items that changed later than this; ``skip`` is then ignored. Next links in the
    /// order of change contain it: an item that changes meanwhile moves to the end of that order, so with
    /// `$skip` another item would be missed.
    public var after: Instant?
    /// `__next`: the backend's own query for the next page, still encoded. Next links contain it if the list is
    /// the backend's, in its own order.
    public var next: String?
    /// `$select`; nil for all columns.
    public var select: [Expression.Column]?
    /// Whether the answer contains the total count (`$inlinecount=allpages`, `$count=true`).
    public var count: Bool
    /// `__includeDeleted=true`.
    public var includeDeleted: Bool
    /// The rule for comparisons with null.
    public var nulls: NullComparison

    /// A filter or an order that is not evaluated here; nil for a query that is.
    public private(set) var beyond: BeyondQuery?

    /// Makes a query; without arguments, all items that are not deleted.
    public init(
        filter: Expression? = nil, orderBy: [Ordering] = [], top: Int? = nil, skip: Int = 0,
        after: Instant? = nil, select: [Expression.Column]? = nil, count: Bool = false,
        includeDeleted: Bool = false, nulls: NullComparison = .unknown
    ) {
        self.filter = filter
        self.orderBy = orderBy
        self.top = top
        self.skip = skip
        self.after = after
        self.select = select
        self.count = count
        self.includeDeleted = includeDeleted
        self.nulls = nulls
    }
}

/// One term of `$orderby`.
public struct Ordering: Sendable, Hashable {
    public let expression: Expression
    public let descending: Bool

    public init(_ expression: Expression, descending: Bool = false) {
        self.expression = expression
        self.descending = descending
    }
}

// How a sync client's list is recognised, and how it continues while items change.
extension TableQuery {
    /// Whether the items are ordered by their changes, oldest first.
    public var isInOrderOfChange: Bool {
        guard let first = orderBy.first, !first.descending else { return false }
        return first.expression == .column(.system(.updatedAt))
    }

    /// The instant T, if the filter requires `updatedAt ge T`; else nil.
    public var changedSince: Instant? {
        switch filter {
        case .logical(.and, let conditions): conditions.compactMap(Self.changedSince).max()
        case let condition?: Self.changedSince(condition)
        case nil: nil
        }
    }

    /// Whether a sync client asks: the list is in the order of changes, or the filter requires `updatedAt`
    /// to be at or after a time.
    public var isSyncQuery: Bool {
        if isInOrderOfChange { return true }
        return switch filter {
        case .logical(.and, let conditions): conditions.contains(where: Self.isSince)
        case let condition?: Self.isSince(condition)
        case nil: false
        }
    }

    /// Whether the list goes on from an earlier page.
    public var isContinued: Bool { skip > 0 || after != nil || next != nil }

    /// Whether a client means the list as a pull, at its beginning. The SDKs ask for deleted items in a pull alone;
    /// Datasync's first pull asks for none, but for a count in the order of changes.
    public var isPull: Bool {
        !isContinued && (includeDeleted || isInOrderOfChange && count)
    }

    /// Whether the list may continue an earlier page: it skips rows, or has a filter with a bound.
    public var mayContinuePage: Bool {
        if skip > 0 || after != nil { return true }
        return switch filter {
        case .logical(.and, let conditions): conditions.contains(where: Self.hasBound)
        case let condition?: Self.hasBound(condition)
        case nil: false
        }
    }

    private static func hasBound(_ condition: Expression) -> Bool {
        guard case .binary(let operation, .column, _) = condition else { return false }
        return [.greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual].contains(operation)
    }

    private static func isSince(_ condition: Expression) -> Bool {
        guard case .binary(let operation, .column(.system(.updatedAt)), _) = condition else {
            return false
        }
        return operation == .greaterOrEqual || operation == .greaterThan
    }

    private static func changedSince(_ condition: Expression) -> Instant? {
        guard case .binary(.greaterOrEqual, .column(.system(.updatedAt)), let bound) = condition,
            case .literal(.instant(let literal)) = bound
        else { return nil }
        return literal.instant
    }
}

extension Expression {
    /// The condition for the rows after a row in the order `updatedAt, id`:
    /// `(updatedAt gt T) or ((updatedAt eq T) and (id gt I))`.
    ///
    /// - Parameters:
    ///   - updatedAt: the row's own text, which is sent unchanged.
    ///   - id: the row's id. Sent as a number if the ids are integers, else as a string.
    /// - Returns: nil if the text is not a date.
    public static func keyset(after updatedAt: String, id: String, kind: IDKind = .string)
        -> Expression?
    {
        guard let literal = InstantLiteral(updatedAt) else { return nil }
        let column = Expression.column(.system(.updatedAt))
        let time = Expression.literal(.instant(literal))
        let last: Literal =
            kind == .integer
            ? Int64(id).map { .number(NumberLiteral($0)) } ?? .string(id) : .string(id)
        let tie = Expression.logical(
            .and,
            [
                .binary(.equal, column, time),
                .binary(.greaterThan, .column(.id), .literal(last)),
            ])
        return .logical(.or, [.binary(.greaterThan, column, time), tie])
    }

    /// The condition for rows that changed at an instant or later, `updatedAt ge T`, with the literal's
    /// text.
    public static func changed(since literal: InstantLiteral) -> Expression {
        .binary(.greaterOrEqual, .column(.system(.updatedAt)), .literal(.instant(literal)))
    }

    /// Both conditions; this one if the other is nil.
    public func and(_ other: Expression?) -> Expression {
        guard let other else { return self }
        return Self.joined(.and, [self, other]) ?? self
    }
}

enum QueryOption: String, CaseIterable {
    case filter = "$filter"
    case orderBy = "$orderby"
    case top = "$top"
    case skip = "$skip"
    case select = "$select"
    case inlineCount = "$inlinecount"
    case count = "$count"
    case includeDeleted = "__includedeleted"
    case systemProperties = "__systemproperties"
    /// Understudy's own option, in its next links.
    case after = "__after"
    /// As ``after``: the query by which the backend goes on.
    case next = "__next"

    /// The option of a parameter's name on a server of a generation.
    ///
    /// Names with two underscores match in any case. Generations 1 and 2 accept `$…` in lower case only and
    /// have no `$count`. The OData library of generation 3 accepts any case, and names without `$`.
    init?(name: String, generation: Generation) {
        let lower = name.lowercased()
        if lower.hasPrefix("__") {
            self.init(rawValue: lower)
            return
        }
        switch generation {
        case .mobileServices, .mobileApps:
            self.init(rawValue: name)
            if self == .count { return nil }
        case .datasync:
            self.init(rawValue: lower.hasPrefix("$") ? lower : "$" + lower)
        }
    }
}

extension TableQuery {
    /// Parses the options of a list as a server of the generation would.
    ///
    /// Of several parameters with one name the first counts. Unknown names are ignored, because they are
    /// the application's own. In generation 3, unsupported options that would change the rows are refused.
    ///
    /// - Parameter keepsBeyond: whether a filter or an order that is not evaluated here becomes ``beyond``
    ///   instead of an error.
    /// - Throws: ``ODataError``, which is answered with status 400.
    public static func parse(
        _ parameters: [QueryParameter], generation: Generation, keepsBeyond: Bool = false
    ) throws(ODataError) -> TableQuery {
        var query = TableQuery(nulls: NullComparison(generation))
        var seen: [QueryOption] = []
        for parameter in parameters {
            guard let option = QueryOption(name: parameter.name, generation: generation) else {
                try refuseUnsupported(parameter.name, generation)
                continue
            }
            if seen.contains(option) { continue }
            seen.append(option)
            do throws(ODataError) { try query.take(option, parameter, generation) } catch {
                guard keepsBeyond, error.isUnsupported else { throw error }
                var beyond = query.beyond ?? BeyondQuery(generation: generation, reason: error)
                if option == .filter { beyond.filter = parameter.value }
                if option == .orderBy { beyond.orderBy = parameter.value }
                query.beyond = beyond
            }
        }
        return query
    }

    /// Options of OData v4 that would change the rows or values.
    private static let unsupported: Set = [
        "$search", "$apply", "$compute", "$skiptoken", "$deltatoken",
    ]

    private static func refuseUnsupported(
        _ name: String, _ generation: Generation
    ) throws(ODataError) {
        guard generation == .datasync, unsupported.contains(name.lowercased()) else { return }
        throw ODataError(
            option: name, reason: "The option '\(name)' is not supported", position: 0)
    }

    private mutating func take(
        _ option: QueryOption, _ parameter: QueryParameter, _ generation: Generation
    ) throws(ODataError) {
        let name = parameter.name
        let value = parameter.value
        switch option {
        case .filter:
            guard value.contains(where: { !$0.isWhitespace }) else { return }
            filter = try Expression(parsing: value, generation: generation, option: name)
        case .orderBy:
            orderBy = try Ordering.parse(value, generation: generation, option: name)
        case .select:
            select = try Self.columns(value, generation, option: name)
        case .top:
            top = try Self.top(value, generation, option: name)
        case .skip:
            skip = try Self.skip(value, generation, option: name)
        case .inlineCount:
            count = value == "allpages"
            if !count, value != "none", generation == .mobileServices {
                throw ODataError(
                    option: name, reason: "The value of '\(name)' must be 'allpages' or 'none'",
                    position: 0)
            }
        case .count:
            switch value.lowercased() {
            case "true": count = true
            case "false": count = false
            default:
                throw ODataError(
                    option: name, reason: "The value of '\(name)' must be 'true' or 'false'",
                    position: 0)
            }
        case .includeDeleted:
            includeDeleted = value.lowercased() == "true"
        case .after:
            guard let instant = Instant(parsing: value) else {
                throw ODataError(
                    option: name, reason: "The value of '\(name)' must be a date", position: 0)
            }
            after = instant
        case .next:
            guard !value.isEmpty,
                value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
            else {
                throw ODataError(
                    option: name, reason: "The value of '\(name)' must be a query", position: 0)
            }
            next = value
        case .systemProperties:
            break
        }
    }

    /// `$select`; nil for all columns, also for an empty value and `*`.
    private static func columns(
        _ value: String, _ generation: Generation, option: String
    ) throws(ODataError) -> [Expression.Column]? {
        guard value.utf8.count <= Limits.optionBytes else {
            throw ODataError(
                option: option, reason: "The value is longer than \(Limits.optionBytes) bytes",
                position: Limits.optionBytes)
        }
        var columns: [Expression.Column] = []
        var position = 0
        for part in value.split(separator: ",", omittingEmptySubsequences: false) {
            let name = String(
                part.trimmingPrefix { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            let path = name.split(separator: "/").map(String.init)
            if path.isEmpty {
                if value.allSatisfy({ $0 == " " }) { return nil }
                throw ODataError(
                    option: option, reason: "Expected the name of a column", position: position)
            }
            if path == ["*"] { return nil }
            let column = Expression.Column(path: path, in: generation)
            if !columns.contains(column) { columns.append(column) }
            position += part.utf8.count + 1
        }
        return columns
    }

    /// `$top`, however large: an answer has as many rows as a page, and a link to the rest. Servers of
    /// generation 2 ignore a value that is not a number.
    private static func top(
        _ value: String, _ generation: Generation, option: String
    ) throws(ODataError) -> Int? {
        guard let number = wholeNumber(value) else {
            if generation == .mobileApps { return nil }
            throw notANumber(option)
        }
        guard number >= 0 else { throw negative(option) }
        return number
    }

    /// `$skip`. Servers of generation 2 ignore a value that is negative or not a number.
    private static func skip(
        _ value: String, _ generation: Generation, option: String
    ) throws(ODataError) -> Int {
        let number = wholeNumber(value)
        if let number, number >= 0 { return number }
        if generation == .mobileApps { return 0 }
        throw number == nil ? notANumber(option) : negative(option)
    }

    /// An integer; one that is too large becomes the largest.
    private static func wholeNumber(_ value: String) -> Int? {
        if let number = Int(value) { return number }
        let digits =
            value.utf8.first == UInt8(ascii: "-") ? value.utf8.dropFirst() : value.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(Lexer.isDigit) else { return nil }
        return digits.count < value.utf8.count ? .min : .max
    }

    private static func notANumber(_ option: String) -> ODataError {
        ODataError(
            option: option, reason: "The value specified for '\(option)' must be a number",
            position: 0)
    }

    private static func negative(_ option: String) -> ODataError {
        ODataError(
            option: option, reason: "The value specified for '\(option)' must not be negative",
            position: 0)
    }
}

/// The filter or the order of a list that is not evaluated here: only a backend of the client's generation can
/// answer, and gets it as the client wrote it.
public struct BeyondQuery: Sendable, Hashable {
    let generation: Generation
    /// The text of `$filter`; nil if it is evaluated here.
    fileprivate(set) var filter: String?
    /// The text of `$orderby`; nil if it is evaluated here.
    fileprivate(set) var orderBy: String?
    /// What is not evaluated.
    public let reason: ODataError
}

/// Why a query cannot be parsed, or cannot be sent to the backend. Answered with status 400.
public struct ODataError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The option's name as received (`$filter`); empty for the query string as a whole.
    public let option: String
    /// One sentence for a person, without its full stop.
    public let reason: String
    /// The position of the error: an offset in UTF-8 bytes into the option's decoded value.
    public let position: Int
    /// Whether the query has a form that is not evaluated here, and that a backend may know.
    public let isUnsupported: Bool

    public init(option: String, reason: String, position: Int, isUnsupported: Bool = false) {
        self.option = option
        self.reason = reason
        self.position = position
        self.isUnsupported = isUnsupported
    }

    /// The option, the reason and the position in one line.
    public var description: String {
        option.isEmpty
            ? "\(reason) (at index \(position))" : "\(option): \(reason) (at index \(position))"
    }
}
