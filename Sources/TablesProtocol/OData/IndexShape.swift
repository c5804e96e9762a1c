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
