import HTTPMessage
import HTTPTypes
public import TablesProtocol

/// A request to the backend's tables without the address: what an attempt records.
struct RemoteRequest: Sendable, Hashable {
    var method: HTTPRequest.Method
    /// The path and query after the backend's prefix.
    var target: String
    var body: JSONText?
    /// Header fields of this request alone: If-Match, Idempotency-Key.
    var fields: HTTPFields = [:]
}

extension RemoteRequest {
    /// A list request. A single row is requested as a list too: a 404 for an id would not say whether the
    /// table exists.
    /// - Throws: ``ODataError`` if the generation cannot express the query.
    static func list(
        _ table: TableName, _ query: PageQuery, generation: Generation
    ) throws(ODataError) -> RemoteRequest {
        let text = try query.text(for: generation)
        let target = "/tables/\(table.text)" + (text.isEmpty ? "" : "?\(text)")
        return RemoteRequest(method: .get, target: target)
    }

    /// The request that sends an operation to a backend of a generation.
    static func operation(
        _ operation: TableOperation, isUnconditional: Bool, generation: Generation
    ) -> RemoteRequest {
        let shape = shape(operation, generation)
        var pairs = shape.pairs + operation.parameters.map(\.raw)
        if generation == .mobileServices { pairs.append("__systemproperties=*") }
        var target = "/tables/\(operation.table.text)"
        if shape.hasID { target += "/\(PercentCoding.encode(operation.itemID.text))" }
        if !pairs.isEmpty { target += "?" + pairs.joined(separator: "&") }
        var request = RemoteRequest(method: shape.method, target: target, body: shape.body)
        request.fields.set("Idempotency-Key", operation.id)
        operation.trace?.add(to: &request.fields)
        // A PUT of the whole row would overwrite other writers' columns, and an undelete that arrives late would
        // undo another deletion, so they have If-Match even if the table's policy lets the local change win.
        if shape.hasID, !isUnconditional || shape.method == .put || operation.kind == .undelete,
            let version = operation.baseVersion
        {
            request.fields[.ifMatch] = ETag.quote(version)
        }
        return request
    }

    /// The undelete as a PATCH. Datasync 5 and 6 answer 410 to a PUT of a deleted row; the Community
    /// Toolkit accepts only the PUT.
    static func patchedUndelete(_ request: RemoteRequest) -> RemoteRequest {
        var patch = request
        patch.method = .patch
        patch.body = try? JSONText(validating: #"{"deleted":false}"#)
        return patch
    }

    private struct Shape {
        var method: HTTPRequest.Method
        var hasID = true
        var body: JSONText?
        var pairs: [String] = []
    }

    private static func shape(_ operation: TableOperation, _ generation: Generation) -> Shape {
        switch operation.kind {
        case .insert:
            return Shape(
                method: .post, hasID: false,
                body: object(withoutRefusedNulls(columnsWithID(operation), base: nil, generation)))
        case .delete: return Shape(method: .delete)
        case .undelete:
            guard generation == .datasync else { return Shape(method: .post) }
            return Shape(
                method: .put, body: whole(operation), pairs: ["__includedeleted=true"])
        case .update, .replace:
            // The third generation replaces whole rows; the others merge columns.
            guard generation == .datasync else {
                return Shape(
                    method: .patch,
                    body: object(
                        withoutRefusedNulls(changes(operation), base: operation.baseRow, generation)
                    ))
            }
            return Shape(method: .put, body: whole(operation))
        }
    }

    /// The changed columns; for a replace also null for the columns that it leaves out.
    private static func changes(_ operation: TableOperation) -> Columns {
        let payload = operation.payload ?? Columns()
        guard operation.kind == .replace, let base = operation.baseRow else { return payload }
        return payload.picking(payload.writtenNames(from: base))
    }

    /// The columns without the nulls that the first generation refuses: it cannot determine the type of a
    /// column that is new to its table. An absent column reads as null there.
    private static func withoutRefusedNulls(
        _ columns: Columns, base: Columns?, _ generation: Generation
    ) -> Columns {
        guard generation == .mobileServices else { return columns }
        let before = ColumnValues(base ?? Columns())
        return Columns(columns.all.filter { $0.value != .null || before[$0.name] != nil })
    }

    private static func whole(_ operation: TableOperation) -> JSONText? {
        object(columnsWithID(operation))
    }

    /// The whole row with its id. An insert with an integer id has none, because the backend assigns it.
    private static func columnsWithID(_ operation: TableOperation) -> Columns {
        var columns = Columns()
        if !operation.isAssigned { columns["id"] = operation.itemID.json }
        if operation.kind != .insert, operation.kind != .replace, let base = operation.baseRow {
            columns.merge(base)
        }
        columns.merge(operation.payload ?? Columns())
        guard operation.kind == .replace, let base = operation.baseRow else { return columns }
        // Null changes nothing in a column that the row does not have.
        let before = ColumnValues(base)
        return Columns(columns.all.filter { !$0.value.isNull || before[$0.name] != nil })
    }

    private static func object(_ columns: Columns) -> JSONText? {
        try? JSONText(validating: columns.text)
    }
}

extension ItemID {
    var json: JSONText {
        if kind == .integer, let number { return .integer(number) }
        return .string(text)
    }
}

extension HTTPFields {
    mutating func set(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name) else { return }
        self[name] = value
    }
}

/// A list request of the sync engine to the backend.
struct PageQuery: Sendable, Hashable {
    /// The query, independent of the generation.
    var query: TableQuery
    /// The developer's own query pairs, still encoded.
    var parameters: [String] = []
    /// The query of the backend's link to this page, still encoded, which is sent in place of the query.
    var link: String?

    init(_ query: TableQuery, parameters: [String] = [], link: String? = nil) {
        self.query = query
        self.parameters = parameters
        self.link = link
    }

    /// Any one row, to find out whether there is a list.
    static let any = PageQuery(TableQuery(top: 1))

    /// The row with an id, deleted or not.
    static func row(_ id: ItemID) -> PageQuery {
        let filter = Expression.binary(.equal, .column(.id), .literal(.id(id)))
        return PageQuery(TableQuery(filter: filter, includeDeleted: true))
    }

    /// The row with an id that may be invalid for an item, deleted or not.
    static func row(named id: String) -> PageQuery {
        let filter = Expression.binary(.equal, .column(.id), .literal(.string(id)))
        return PageQuery(TableQuery(filter: filter, includeDeleted: true))
    }

    /// The query string for a generation, without its question mark.
    /// - Throws: ``ODataError`` if the generation cannot express the query.
    func text(for generation: Generation) throws(ODataError) -> String {
        var pairs = [try text(of: query, for: generation)].filter { !$0.isEmpty }
        let isFirst = generation == .mobileServices
        var own = (isFirst ? ["__systemproperties=*"] : []) + parameters
        if let link {
            // A link may leave out what it does not know.
            if query.includeDeleted { own.append("__includeDeleted=true") }
            let known = Self.names(in: link)
            own.removeAll { !known.isDisjoint(with: Self.names(in: $0)) }
        }
        pairs += own
        return pairs.joined(separator: "&")
    }

    private func text(
        of query: TableQuery, for generation: Generation
    ) throws(ODataError) -> String {
        if let link { return link }
        return try query.text(for: generation)
    }

    /// The decoded names of the pairs of a query, in lower case.
    private static func names(in text: String) -> Set<String> {
        let pairs = (try? QueryParameter.split(text[...])) ?? []
        return Set(pairs.map { $0.name.lowercased() })
    }
}

extension Expression.Literal {
    /// An id, quoted unless it is an integer.
    static func id(_ id: ItemID) -> Expression.Literal {
        if id.kind == .integer, let number = id.number { return .number(NumberLiteral(number)) }
        return .string(id.text)
    }
}

/// The backend's address: scheme, host with port, and the path before `/tables`.
public struct BackendAddress: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// Host, with the port where one was given: `example.org`, `127.0.0.1:8081`, `[::1]:8081`.
    public let authority: String
    /// The path before `/tables`, without a slash at its end; empty for none.
    public let prefix: String

    /// Reads `http://host[:port][/path]` or the same with `https`; nil for anything else, such as an
    /// address with credentials, a query or a fragment.
    public init?(_ text: String) {
        let lowered = text.lowercased()
        guard let scheme = ["http", "https"].first(where: { lowered.hasPrefix("\($0)://") })
        else { return nil }
        let rest = text.dropFirst(scheme.count + 3)
        let authority = rest.prefix { $0 != "/" }
        var path = rest[authority.endIndex...]
        while path.last == "/" { path.removeLast() }
        let isPlain: (Substring) -> Bool = { part in
            part.unicodeScalars.allSatisfy { $0 > " " && $0 != "?" && $0 != "#" && $0 != "@" }
        }
        guard !authority.isEmpty, isPlain(authority), isPlain(path) else { return nil }
        self.scheme = scheme
        self.authority = authority.lowercased()
        prefix = String(path)
    }

    /// The address as text: `https://example.org/app`.
    public var description: String { "\(scheme)://\(authority)\(prefix)" }
}

/// How to reach the backend, and its protocol.
public struct BackendConfiguration: Sendable, Hashable {
    /// The generation of the backend's servers.
    public enum GenerationChoice: Sendable, Hashable {
        /// Detected by a request when the backend is proven.
        case auto
        /// Set by the operator.
        case fixed(Generation)

        /// The generation to try first. Third generation servers also accept the second, but not
        /// completely; second generation servers refuse the third.
        var first: Generation {
            switch self {
            case .auto: .datasync
            case .fixed(let generation): generation
            }
        }
    }

    public var address: BackendAddress
    public var generation: GenerationChoice
    /// The application key that first generation servers ask for in `X-ZUMO-APPLICATION`.
    public var applicationKey: String?

    public init(
        address: BackendAddress, generation: GenerationChoice = .auto,
        applicationKey: String? = nil
    ) {
        self.address = address
        self.generation = generation
        self.applicationKey = applicationKey
    }
}
