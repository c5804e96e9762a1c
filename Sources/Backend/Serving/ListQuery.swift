import TablesProtocol

/// The query of a list as a server of the profile reads it.
struct ListQuery {
    private(set) var filter: RowFilter?
    private(set) var orderBy: [Ordering] = []
    private(set) var top: Int?
    private(set) var skip = 0
    /// Whether a `$skip` came, even one of no rows.
    private(set) var skips = false
    private(set) var select: [String]?
    private(set) var count = false
    /// A `$top` came that is no number: the Node server then gives all rows.
    private(set) var isUnlimited = false

    /// Reads the query.
    /// - Throws: the refusal that the server gives for an option that it cannot read.
    init(_ call: Call, _ profile: Profile) throws(Refusal) {
        top = try Self.number("$top", call, profile)
        let skip = try Self.number("$skip", call, profile)
        (skips, self.skip) = (skip != nil, max(skip ?? 0, 0))
        if let top, let maxTop = profile.maxTop, top > maxTop,
            profile.generation != .mobileServices
        {
            throw Self.tooMany(maxTop, profile)
        }
        if (top ?? 0) < 0 { (top, isUnlimited) = (nil, profile.isNode) }
        count = Self.count(call, profile)
        select = Self.names(in: Self.option("$select", call, profile))
        do {
            if let text = Self.option("$filter", call, profile), !text.isEmpty {
                if profile.isNode { try Self.checkBalance(text) }
                try Self.checkWords(text, profile)
                let condition = try Expression(parsing: text, generation: profile.generation)
                filter = RowFilter(condition: profile.isNode ? condition.scripted : condition)
            }
            if let text = Self.option("$orderby", call, profile), !text.isEmpty {
                let order = profile.isNode ? Self.nodeOrder(text) : text
                orderBy =
                    order.isEmpty ? [] : try Ordering.parse(order, generation: profile.generation)
            }
        } catch let error as ODataError {
            throw Self.refusal(error, profile)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal(400, "\(error)")
        }
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
        var kept = filter ?? RowFilter()
        kept.condition = kept.condition?.and(later) ?? later
        filter = kept
    }

    /// Leaves only the rows of a scope, and lets the client's condition look at no other.
    private mutating func keepOnly(_ scope: Expression) {
        var kept = filter ?? RowFilter()
        kept.scope = kept.scope.flatMap { Expression.joined(.and, [$0, scope]) } ?? scope
        filter = kept
    }

    /// The names of the columns that the query mentions.
    var columns: Set<String> {
        var names: Set<String> = Set((select ?? []).map { $0.lowercased() })
        for expression in expressions {
            expression.eachColumn { column in
                if case .user(let path) = column { names.insert(path[0].lowercased()) }
            }
        }
        return names
    }

    /// The client's expressions over a row: those of the order and the filter's condition.
    private var expressions: [Expression] {
        orderBy.map(\.expression) + [filter?.condition].compactMap { $0 }
    }

    /// Whether the query filters or orders by the time of the last change.
    var mentionsUpdatedAt: Bool {
        var mentions = false
        for expression in expressions {
            expression.eachColumn { mentions = mentions || $0 == .system(.updatedAt) }
        }
        return mentions
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

    /// The names in `$select` of a server that takes one spelling of its name; nil for all columns.
    static func select(_ call: Call) -> [String]? { names(in: call.parameter("$select")) }

    /// The names in the value of `$select`; nil for all columns.
    private static func names(in text: String?) -> [String]? {
        guard let text else { return nil }
        let names = text.split(separator: ",").map { $0.filter { $0 != " " } }
        return names.isEmpty || names == ["*"] ? nil : names
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

extension Expression {
    /// Calls `visit` with each column in the expression.
    func eachColumn(_ visit: (Column) -> Void) {
        switch self {
        case .literal: break
        case .column(let column): visit(column)
        case .unary(_, let operand), .inList(let operand, _): operand.eachColumn(visit)
        case .binary(_, let left, let right):
            left.eachColumn(visit)
            right.eachColumn(visit)
        case .logical(_, let operands), .call(_, let operands):
            for operand in operands { operand.eachColumn(visit) }
        }
    }
}
