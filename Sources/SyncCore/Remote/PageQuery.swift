import TablesProtocol

/// A list request to the backend, as far as syncing asks for lists.
struct PageQuery: Sendable, Hashable {
    /// What is asked for, in one form for all generations.
    var query: TableQuery
    /// Pairs of the developer's own, still encoded.
    var parameters: [String] = []

    init(_ query: TableQuery, parameters: [String] = []) {
        self.query = query
        self.parameters = parameters
    }

    /// One row, whichever: whether there is a list at all.
    static let any = PageQuery(TableQuery(top: 1))

    /// The row with an id, deleted or not.
    static func row(_ id: ItemID) -> PageQuery {
        let filter = Expression.binary(.equal, .column(.id), .literal(.id(id)))
        return PageQuery(TableQuery(filter: filter, includeDeleted: true))
    }

    /// The row with an id that may be none that an item can have, deleted or not.
    static func row(named id: String) -> PageQuery {
        let filter = Expression.binary(.equal, .column(.id), .literal(.string(id)))
        return PageQuery(TableQuery(filter: filter, includeDeleted: true))
    }

    /// The query string for a generation, without its question mark.
    /// - Throws: ``ODataError`` with a sentence for what the generation cannot be asked.
    func text(for generation: Generation) throws(ODataError) -> String {
        var pairs = [try query.text(for: generation)].filter { !$0.isEmpty }
        if generation == .mobileServices { pairs.append("__systemproperties=*") }
        return (pairs + parameters).joined(separator: "&")
    }
}

extension Expression.Literal {
    /// An id, quoted unless it is an integer.
    static func id(_ id: ItemID) -> Expression.Literal {
        if id.kind == .integer, let number = id.number { return .number(NumberLiteral(number)) }
        return .string(id.text)
    }
}
