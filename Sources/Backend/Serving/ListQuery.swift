import TablesProtocol

/// The query of a list: ``TableQuery``, with what a server of the profile reads in another way.
struct ListQuery {
    private(set) var parsed: TableQuery
    /// The condition that selects the rows which the request may see; nil for all.
    private var scope: Expression?
    /// Whether a `$skip` came, even one of no rows.
    let skips: Bool
    /// The names in `$select`, in lower case; nil for all columns.
    let select: Set<String>?
    /// A `$top` came that is no number: the Node server then gives all rows.
    let isUnlimited: Bool

    /// Reads the query.
    /// - Throws: the refusal that the server gives for an option that it cannot read.
    init(_ call: Call, _ profile: Profile) throws(Refusal) {
        let top = try Self.number("$top", call, profile)
        let skip = try Self.number("$skip", call, profile)
        if let top, let maxTop = profile.maxTop, top > maxTop,
            profile.generation != .mobileServices
        {
            throw Self.tooMany(maxTop, profile)
        }
        let isNegative = (top ?? 0) < 0
        skips = skip != nil
        isUnlimited = isNegative && profile.isNode
        select = Self.names(in: Self.option("$select", call, profile))
        let expressions = try Self.expressions(call, profile)
        do throws(ODataError) {
            // A filter of blanks alone is no condition, which these servers refuse.
            for one in expressions
            where one.name == "$filter" && one.value.allSatisfy(\.isWhitespace) {
                _ = try Expression(parsing: one.value, generation: profile.generation)
            }
            parsed = try TableQuery.parse(expressions, generation: profile.generation)
        } catch {
            throw Self.refusal(error, profile)
        }
        if profile.isNode { parsed.filter = parsed.filter?.scripted }
        parsed.top = isNegative ? nil : top
        parsed.skip = max(skip ?? 0, 0)
        parsed.count = Self.count(call, profile)
    }

    /// The filter and the order, as the servers in JavaScript rewrite them.
    private static func expressions(
        _ call: Call, _ profile: Profile
    ) throws(Refusal) -> [QueryParameter] {
        var expressions: [QueryParameter] = []
        let add = { expressions.append(QueryParameter(name: $0, value: $1, raw: "")) }
        if let text = option("$filter", call, profile), !text.isEmpty {
            if profile.isNode { try checkBalance(text) }
            try checkWords(text, profile)
            add("$filter", text)
        }
        if let text = option("$orderby", call, profile) {
            let order = profile.isNode ? nodeOrder(text) : text
            if !order.isEmpty { add("$orderby", order) }
        }
        return expressions
    }

    /// The filter for the storage; nil selects every row.
    var filter: RowFilter? {
        parsed.filter == nil && scope == nil
            ? nil : RowFilter(scope: scope, condition: parsed.filter)
    }

    /// Leaves only one user's items.
    mutating func keepOnly(_ owner: Owner) { keepOnly(owner.column, owner.user) }

    /// Leaves only items with a text in a column.
    mutating func keepOnly(_ column: String, _ text: String) {
        keepOnly(.binary(.equal, .column(.user(path: [column])), .literal(.string(text))))
    }

    /// Leaves only one item.
    mutating func keepOnly(id: Expression.Literal) {
        keepOnly(.binary(.equal, .column(.id), .literal(id)))
    }

    /// Leaves only the rows with later ids.
    mutating func keepOnly(after id: Expression.Literal) {
        let later = Expression.binary(.greaterThan, .column(.id), .literal(id))
        parsed.filter = parsed.filter?.and(later) ?? later
    }

    /// Leaves only the rows of a scope, and lets the client's condition look at no other.
    private mutating func keepOnly(_ condition: Expression) {
        scope = scope?.and(condition) ?? condition
    }

    /// The names of the columns that the query mentions, in lower case.
    var columns: Set<String> {
        mentioned.reduce(into: select ?? []) { names, column in
            if case .user(let path) = column { names.insert(path[0].lowercased()) }
        }
    }

    /// Whether the query filters or orders by the time of the last change.
    var mentionsUpdatedAt: Bool { mentioned.contains(.system(.updatedAt)) }

    /// The columns in the order and in the client's condition.
    private var mentioned: Set<Expression.Column> {
        parsed.orderBy.reduce(into: parsed.filter?.columns ?? []) {
            $0.formUnion($1.expression.columns)
        }
    }

    /// The value of an option. The OData library of the third generation takes the name in any case, and
    /// without `$`. The exact name comes first: a next link adds `$skip` and `$top` so.
    private static func option(_ name: String, _ call: Call, _ profile: Profile) -> String? {
        if let value = call.parameter(name) { return value }
        guard profile.generation == .datasync else { return nil }
        let names = [name, String(name.dropFirst())]
        return call.parameters.first { names.contains($0.name.lowercased()) }?.value
    }

    private static func number(
        _ name: String, _ call: Call, _ profile: Profile
    ) throws(Refusal) -> Int? {
        guard let text = option(name, call, profile) else { return nil }
        if profile.generation == .mobileServices { return ScriptNumber.whole(text) }
        if profile.isNode {
            if name == "$skip" { return ScriptNumber.leading(text) }
            if text.isEmpty { return nil }
            let isRepeated = call.parameters.count { $0.name == name } > 1
            let value = isRepeated ? nil : ScriptNumber.value(text)
            return value.map { Int(min(max($0, -1), 1e9)) } ?? -1
        }
        let number = Int(text)
        if let number, number >= 0 { return number }
        throw Refusal(
            400, "The value specified for '\(name)' must be a number.",
            as: profile.errors == .empty ? .empty : .error)
    }

    private static func tooMany(_ limit: Int, _ profile: Profile) -> Refusal {
        switch profile.flavour {
        case .toolkit: Refusal(400, "", as: .empty)
        case .mobileServices, .mobileApps, .node, .express, .dotnet, .datasync:
            Refusal(400, "You cannot request more than \(limit) records")
        }
    }

    private static func count(_ call: Call, _ profile: Profile) -> Bool {
        if profile.generation == .datasync, option("$count", call, profile) == "true" {
            return true
        }
        if profile.flavour == .toolkit { return false }
        let given = call.parameters.filter { $0.name == "$inlinecount" }
        // A repeated pair is a list on Node, and no list is `allpages`.
        return given.first?.value == "allpages" && (given.count == 1 || !profile.isNode)
    }

    /// The names in `$select` of a server that takes one spelling of its name, in lower case; nil for all columns.
    static func select(_ call: Call) -> Set<String>? { names(in: call.parameter("$select")) }

    private static func names(in text: String?) -> Set<String>? {
        guard let text else { return nil }
        let names = text.split(separator: ",").map { $0.filter { $0 != " " }.lowercased() }
        return names.isEmpty || names == ["*"] ? nil : Set(names)
    }

    private static func refusal(_ error: ODataError, _ profile: Profile) -> Refusal {
        switch profile.flavour {
        case .mobileServices, .node, .express:
            scriptRefusal("\(error.reason) (at index \(error.position))", profile)
        case .toolkit: Refusal(400, JSONText.string(error.description).text, as: .json)
        case .mobileApps, .dotnet, .datasync:
            Refusal(profile.badQueryStatus, error.description)
        }
    }

    private static func checkBalance(_ text: String) throws(Refusal) {
        var depth = 0
        var isQuoted = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "'"): isQuoted.toggle()
            case UInt8(ascii: "(") where !isQuoted: depth += 1
            case UInt8(ascii: ")") where !isQuoted: depth -= 1
            default: break
            }
        }
        if depth != 0 { throw Refusal(500, "Unbalanced parentheses in \(text)") }
    }
}

// How the two servers in JavaScript read a list's options.
extension ListQuery {
    /// `$orderby` as the Node server rebuilds it: each term is a name, a space and a direction, and
    /// any direction but `desc` is `asc`.
    static func nodeOrder(_ text: String) -> String {
        text.split(separator: ",").compactMap { term -> String? in
            let words = term.trimmingSpaces.split(separator: " ", omittingEmptySubsequences: false)
            guard let name = words.first, !name.isEmpty else { return nil }
            let isDescending = words.count > 1 && words[1].uppercased() == "DESC"
            return isDescending ? "\(name) desc" : String(name)
        }.joined(separator: ",")
    }

    /// Refuses functions that these servers do not have; the parser knows those of later ones too.
    static func checkWords(_ text: String, _ profile: Profile) throws(Refusal) {
        let isRead = profile.generation == .mobileServices || profile.isNode
        guard isRead else { return }
        var blanked: [Character] = []
        var isQuoted = false
        for character in text {
            if character == "'" { isQuoted.toggle() }
            blanked.append(isQuoted || character == "'" ? "\u{1}" : character)
        }
        let unquoted = String(blanked)
        for match in unquoted.matches(of: /([A-Za-z_][A-Za-z0-9_-]*)\s*\(/) {
            let word = String(match.1)
            if words.contains(word) { continue }
            let index = unquoted.distance(from: unquoted.startIndex, to: match.range.lowerBound)
            let reason = word == "in" ? "Syntax error" : "Unknown identifier '\(word)'"
            throw scriptRefusal("\(reason) (at index \(index))", profile)
        }
    }

    /// A filter that cannot be read.
    static func scriptRefusal(_ reason: String, _ profile: Profile) -> Refusal {
        profile.generation == .mobileServices
            ? Refusal(400, "Invalid query specified. Error: \(reason)")
            : Refusal(profile.badQueryStatus, reason)
    }

    /// The functions, and the operators that may stand before a parenthesis.
    private static let words: Set = [
        "startswith", "endswith", "length", "toupper", "tolower", "trim", "substringof", "indexof",
        "replace", "substring", "concat", "day", "month", "year", "hour", "minute", "second",
        "floor", "ceiling", "round", "not", "and", "or", "eq", "ne", "gt", "ge", "lt", "le", "add",
        "sub", "mul", "div", "mod",
    ]
}

extension Expression {
    /// The condition as the Node server means it: its numbers are fractions, so `7 div 2` is 3.5. It has
    /// no lists.
    fileprivate var scripted: Expression {
        switch self {
        case .binary(.div, let left, let right): .binary(.divBy, left.scripted, right.scripted)
        case .binary(let operation, let left, let right):
            .binary(operation, left.scripted, right.scripted)
        case .unary(let operation, let operand): .unary(operation, operand.scripted)
        case .logical(let operation, let operands):
            .logical(operation, operands.map(\.scripted))
        case .call(let function, let arguments): .call(function, arguments.map(\.scripted))
        case .literal, .column, .inList: self
        }
    }
}

extension Substring {
    /// The text without spaces around it.
    fileprivate var trimmingSpaces: Substring {
        var text = drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }
}
