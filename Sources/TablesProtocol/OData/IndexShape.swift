/// The index that would answer a list in its own order: the columns that are held to one value each,
/// then the order that is asked for. The id is always its last key and not named here.
public struct IndexShape: Sendable, Hashable {
    /// User's columns held to one value, by name.
    public let equalities: [Expression.Column]
    /// The order, without the id; columns of the user and times of the system.
    public let order: [Ordering]

    /// A shape; nil for one that names no column, or more than an index may have.
    init?(equalities: [Expression.Column], order: [Ordering]) {
        let count = equalities.count + order.count
        guard count > 0, count <= Limits.indexColumns else { return nil }
        self.equalities = equalities
        self.order = order
    }

    /// Whether an index of this shape gives the rows of another one in order: the order is the same,
    /// and what it holds to one value is held there.
    public func serves(_ other: IndexShape) -> Bool {
        order == other.order && equalities.allSatisfy(other.equalities.contains)
    }
}

extension IndexShape {
    /// The columns as a person writes them: `complete`, `price desc`, `updatedAt`.
    public var words: [String] {
        equalities.map(Self.name) + order.map { Self.name($0) + ($0.descending ? " desc" : "") }
    }

    /// The columns as they are kept: `=complete`, `-price`, `+@updatedAt`, a path with `/`.
    public var terms: [String] {
        equalities.map { "=" + Self.mark($0) + Self.name($0) }
            + order.map { term in
                (term.descending ? "-" : "+")
                    + (Self.column(term).map { Self.mark($0) + Self.name($0) } ?? "")
            }
    }

    /// Reads what ``terms`` gave; nil for anything else.
    public init?(terms: [String]) {
        var equalities: [Expression.Column] = []
        var order: [Ordering] = []
        for term in terms {
            guard let sign = term.first, let column = Self.column(term.dropFirst()) else {
                return nil
            }
            switch sign {
            case "=": equalities.append(column)
            case "+": order.append(Ordering(.column(column)))
            case "-": order.append(Ordering(.column(column), descending: true))
            default: return nil
            }
        }
        self.init(equalities: equalities, order: order)
    }

    private static func column(_ text: Substring) -> Expression.Column? {
        switch text {
        case "": return nil
        case "@createdAt": return .system(.createdAt)
        case "@updatedAt": return .system(.updatedAt)
        // No column that a query can name begins so.
        case _ where text.hasPrefix("@"): return nil
        default: return .user(path: text.split(separator: "/").map(String.init))
        }
    }

    private static func column(_ term: Ordering) -> Expression.Column? {
        guard case .column(let column) = term.expression else { return nil }
        return column
    }

    private static func name(_ term: Ordering) -> String { column(term).map(name) ?? "" }

    private static func name(_ column: Expression.Column) -> String {
        column.name(in: .mobileApps) ?? ""
    }

    private static func mark(_ column: Expression.Column) -> String {
        switch column {
        case .system: "@"
        case .id, .user: ""
        }
    }
}

extension TableQuery {
    /// The index that would give this list in its order, so that it ends at its last row.
    ///
    /// 1. Of the conditions that all must hold, those that hold a user's column to a text, a number, a
    ///    truth or null are keys. What else is asked of user's columns is asked of each row found.
    /// 2. Then come the terms of the order: columns of the user and times of the system. A range of
    ///    the first one is read where it lies. Without an order the rows come by their ids.
    /// 3. None: for a list by one id or by a time that is not the first of the order, since standing
    ///    indexes serve these better; for an order by something computed, by a column that is held to
    ///    one value, by falling ids; for what the standing indexes give already.
    ///
    /// - Parameter spelling: turns the name of a user's column into the one that the rows have.
    public func indexShape(spelling: (String) -> String) -> IndexShape? {
        guard let order = indexOrder(spelling) else { return nil }
        let first = order.first?.expression
        if after != nil, first != .column(.system(.updatedAt)) { return nil }
        var equalities: [Expression.Column] = []
        for condition in filter.map(Self.conditions) ?? [] {
            if let column = condition.heldColumn {
                guard let key = column.key(spelling) else { return nil }
                if !equalities.contains(key) { equalities.append(key) }
            } else if !condition.asksOnlyUsers {
                guard let time = condition.boundedTime, first == .column(time) else { return nil }
            }
        }
        if order.contains(where: { term in equalities.contains { term.expression == .column($0) } })
        {
            return nil
        }
        if equalities.isEmpty, order.count < 2, first?.isUsersColumn != true { return nil }
        equalities.sort { ($0.name(in: .mobileApps) ?? "") < ($1.name(in: .mobileApps) ?? "") }
        return IndexShape(equalities: equalities, order: order)
    }

    private static func conditions(_ filter: Expression) -> [Expression] {
        if case .logical(.and, let conditions) = filter { return conditions }
        return [filter]
    }

    /// The terms of the order before the id; nil where an index cannot give it.
    private func indexOrder(_ spelling: (String) -> String) -> [Ordering]? {
        var order: [Ordering] = []
        for term in orderBy {
            switch term.expression {
            case .literal: continue
            case .column(.id): return term.descending ? nil : order
            case .column(let column):
                guard let key = column.key(spelling) else { return nil }
                let known = order.contains { $0.expression == .column(key) }
                if known { return nil }
                order.append(Ordering(.column(key), descending: term.descending))
            case .unary, .binary, .logical, .call, .inList, .cast, .isOf, .quantified, .variable:
                return nil
            }
        }
        return order
    }
}

extension Expression.Column {
    /// The column as an index names it; nil where none can.
    fileprivate func key(_ spelling: (String) -> String) -> Expression.Column? {
        switch self {
        case .id, .system(.version), .system(.deleted): return nil
        case .system(.createdAt), .system(.updatedAt): return self
        case .user(let path):
            let spelled = path.enumerated().map { $0 == 0 ? spelling($1) : $1 }
            return JSONPath.constant(spelled) == nil ? nil : .user(path: spelled)
        }
    }
}

extension Expression {
    fileprivate var isUsersColumn: Bool {
        if case .column(.user) = self { return true }
        return false
    }

    /// The user's column that the condition holds to one value which `json_extract` gives as it is.
    fileprivate var heldColumn: Column? {
        switch self {
        case .column(.user(let path)): return .user(path: path)
        case .binary(.equal, .column(.user(let path)), .literal(let literal)),
            .binary(.equal, .literal(let literal), .column(.user(let path))):
            switch literal {
            case .null, .boolean, .number, .binary: return .user(path: path)
            case .string(let text): return text.utf8.contains(0) ? nil : .user(path: path)
            case .instant, .guid, .date, .time, .duration, .geo: return nil
            }
        case .literal, .column, .unary, .binary, .logical, .call, .inList, .cast, .isOf,
            .quantified,
            .variable:
            return nil
        }
    }

    /// The time of the system that the condition bounds on one side.
    fileprivate var boundedTime: Column? {
        guard case .binary(let operation, let left, let right) = self else { return nil }
        switch operation {
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual: break
        case .equal, .notEqual, .add, .sub, .mul, .div, .divBy, .mod, .has: return nil
        }
        switch (left, right) {
        case (.column(.system(let property)), .literal), (.literal, .column(.system(let property))):
            return property == .createdAt || property == .updatedAt ? .system(property) : nil
        default: return nil
        }
    }

    /// Whether neither the id nor a time of the system is looked at.
    fileprivate var asksOnlyUsers: Bool {
        switch self {
        case .literal, .column(.user), .column(.system(.version)), .column(.system(.deleted)): true
        case .column: false
        case .unary(_, let operand): operand.asksOnlyUsers
        case .binary(_, let left, let right): left.asksOnlyUsers && right.asksOnlyUsers
        case .logical(_, let operands): operands.allSatisfy(\.asksOnlyUsers)
        case .call(_, let arguments): arguments.allSatisfy(\.asksOnlyUsers)
        case .inList(let value, _), .cast(let value, _), .isOf(let value, _): value.asksOnlyUsers
        case .quantified(_, let collection, let lambda):
            collection.asksOnlyUsers && lambda?.condition.asksOnlyUsers ?? true
        case .variable: true
        }
    }
}
